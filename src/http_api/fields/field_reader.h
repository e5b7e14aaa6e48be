// Reads the fields of a resource from a JSON request, as its table says (resource/field.h). In a merge patch, a member
// that is null gets its default, and members that are absent stay as they are.
#pragma once

#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "resource/field.h"

namespace duewheel {

// Into `resource`, which contains what a patch keeps. Members that are unknown are refused. `within`: the path of the
// object in errors, with a point at its end. `except`: a group that the caller reads. Fields by hand are left to the
// caller too. Codes: those of JsonRequest, `missing_member`, `out_of_range`.
Status read_fields(const JsonRequest& json, const FieldTable& table, void* resource, std::string_view within = {},
                   std::string_view except = {});
// The same for an object whose members the caller has checked.
Status read_known_fields(const JsonRequest& json, const FieldTable& table, void* resource, std::string_view within = {},
                         std::string_view except = {});

}  // namespace duewheel
