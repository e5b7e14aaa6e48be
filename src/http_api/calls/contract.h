// The contract of the HTTP API: the OpenAPI 3.1 document that is served at /openapi.json.
//
// It is written by hand, in openapi.json in this directory, except for what could become outdated: status and title of
// a problem code come from base/error_codes.h, limits are those in force, members of settings come from their tables,
// and parts that are common to many calls are written once. That file contains
//
//   "x-problems": [...]      of an operation: codes, and groups of codes (x-problem-groups), that it can return besides
//                            those of the group `any`; they become its responses by status
//   {"x-limit": "NAME"}      replaced by the value of a limit
//   {"x-codes": true}        replaced by the list of all codes
//   {"x-patch-of": "NAME"}   replaced by a merge patch of that schema: nothing is required, and all may be null
//   {"x-shown-of": "NAME"}   replaced by what responses show of that schema: without writeOnly members, and of a member
//   that
//                            a request gives as text or as a number the form shown; `required` beside it is added
//   "x-fields": "NAME"       of a schema: its members are those of this table of fields (field_schema.h); what is
//   beside
//                            it is added to them, such as which members exclude each other
//   "x-without-namespace"    the operation has no equivalent below /v1/namespaces/{namespace}, unlike others below /v1
//
// HEAD for every GET, the field traceparent and Retry-After are added too. "x-line-schema" stays: OpenAPI 3.1 cannot
// describe the lines of NDJSON.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace duewheel {

// The value in force of a limit, by the name of its setting.
using LimitValue = std::function<std::int64_t(std::string_view name)>;

// The whole document, as JSON. An error in openapi.json is our bug and ends the process. O(its size).
std::string contract_text(const LimitValue& limit) noexcept;

}  // namespace duewheel
