// What workers say of their work, and the history of a message that an import restores: `imported` of a put, whose
// members are also those of a message in a line of an export.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/work_history.h"

namespace duewheel {

bool is_worker_name(std::string_view text);
// Whether JSON is a number from 0 to 1, or no number.
bool is_progress(std::string_view json);

// The members of a history, of an object that has other members too. Codes: those of JsonRequest, and
// out_of_range.
Status read_work_history(const JsonRequest& json, WorkHistory& into);
// `imported` of a put, if it is given; all its members must be known.
Status read_imported(const JsonRequest& put, WorkHistory& into);

// Writes the members into the open object, without those that are absent.
void write_work_history(JsonWriter& json, const WorkHistory& history);

}  // namespace duewheel
