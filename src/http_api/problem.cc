#include "http_api/problem.h"

#include "base/error_codes.h"
#include "http_api/answers/error_page.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr int kRetryAfterSeconds = 1;

// A code that no client should receive is a bug.
const ErrorCodeRow& row_for_clients(ErrorCode code) {
    return *row_of(is_for_clients(code) ? code : "internal"_code);
}

}  // namespace

void write_problem(JsonWriter& json, const Error& error) {
    const ErrorCodeRow& row = row_for_clients(error.code);
    json.text("type", error_page_path(row.name)).text("title", row.title).number("status", row.status);
    // Both may quote what a client sent, and header fields may contain bytes that are not UTF-8.
    json.text("code", row.name).text("detail", as_utf8(error.message));
    if (!error.field.empty()) json.text("field", as_utf8(error.field));
}

HttpResponse problem(const Error& error, const std::function<void(JsonWriter&)>& more) {
    const ErrorCodeRow& row = row_for_clients(error.code);
    HttpResponse response;
    response.status = row.status;
    response.content_type = "application/problem+json";
    JsonWriter json(response.body);
    json.open();
    write_problem(json, error);
    if (more) more(json);
    json.close();
    // RFC 6750, 3.
    if (row.status == 401) {
        const bool is_invalid = error.code != "token_required"_code;
        response.headers.push_back({"WWW-Authenticate", is_invalid ? "Bearer error=\"invalid_token\"" : "Bearer"});
    }
    // RFC 9110, 12.5.3: the accepted codings.
    if (error.code == "unsupported_content_coding"_code) response.headers.push_back({"Accept-Encoding", "identity"});
    if (has_retry_after(row.status)) {
        response.headers.push_back({"Retry-After", std::to_string(kRetryAfterSeconds)});
    }
    return response;
}

}  // namespace duewheel
