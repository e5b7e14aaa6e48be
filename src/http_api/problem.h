// Every error code of the API, with its HTTP status and title, and the problem document (RFC 9457) that contains it.
// Codes are part of the contract: scripts compare them. docs/http_api.md explains each; a test keeps the two
// consistent.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/json_writer.h"
#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

struct ProblemKind {
    std::string_view code;
    int status = 500;
    std::string_view title;
};

// All of them, in the order of their codes.
std::span<const ProblemKind> problem_kinds();
// Null for a code that is not listed: a bug, returned as `internal`.
const ProblemKind* find_problem_kind(std::string_view code);

// Whether errors of this status have a Retry-After field.
constexpr bool has_retry_after(int status) {
    return status == 429 || status == 503 || status == 507;
}

// The members of a problem document: "type", "title", "status", "code", "detail", "field".
void write_problem(JsonWriter& json, const Error& error);
// As application/problem+json. `more` adds members to those of write_problem().
HttpResponse problem(const Error& error, const std::function<void(JsonWriter&)>& more = {});

}  // namespace duewheel
