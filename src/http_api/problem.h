// The problem document (RFC 9457) that answers a refused request. Codes, statuses and titles are rows of
// base/error_codes.h, and answers/error_page.h says what to do about them.
#pragma once

#include <functional>

#include "base/json_writer.h"
#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

// Whether errors of this status have a Retry-After field.
constexpr bool has_retry_after(int status) {
    return status == 429 || status == 503 || status == 507;
}

// The members of a problem document; those of `internal` if the code is not one for clients: "type", "title", "status",
// "code", "detail", "field".
void write_problem(JsonWriter& json, const Error& error);
// As application/problem+json. `more` adds members to those of write_problem().
HttpResponse problem(const Error& error, const std::function<void(JsonWriter&)>& more = {});

}  // namespace duewheel
