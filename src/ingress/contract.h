// The contract of the HTTP API: the OpenAPI 3.1 document that is served at /openapi.json.
//
// It is written by hand, in openapi.json beside this file, but for what would drift: which status and title a problem
// code has comes from problem.cc, numbers of limits are those in force, and what is the same for many calls is written
// once. In that file
//
//   "x-problems": [...]      of an operation: codes, and groups of codes (x-problem-groups), that it may answer beside
//                            those of the group `any`; they become its responses by status
//   {"x-limit": "NAME"}      stands for the value of a limit
//   {"x-codes": true}        stands for the list of all codes
//   {"x-patch-of": "NAME"}   stands for a merge patch of what the schema says: nothing is required, all may be null
//   "x-without-namespace"    the operation has no twin below /v1/namespaces/{namespace}, as others below /v1 have
//
// A HEAD beside every GET, the field traceparent and Retry-After are added too. "x-line-schema" stays: OpenAPI 3.1 has
// no word for what a line of NDJSON is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace duewheel {

// The value in force of a limit, by the name of its setting.
using LimitValue = std::function<std::int64_t(std::string_view name)>;

// The whole document, as JSON. A mistake in openapi.json is a bug of ours and ends the process. O(its size).
std::string contract_text(const LimitValue& limit) noexcept;

}  // namespace duewheel
