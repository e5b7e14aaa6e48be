#include "http_api/requests/raw_put.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/requests/idempotency_key.h"
#include "http_api/requests/put_hash.h"
#include "message/records/request_hash.h"

namespace duewheel {
namespace {

Status read_raw_when(const PutFields& fields, When& into) {
    if (fields.delay && fields.due) {
        return Error{"conflicting_members"_code, "give Duewheel-Delay or Duewheel-Due, not both", "Duewheel-Due"};
    }
    if (fields.delay) {
        const Result<std::int64_t> delay = read_duration(*fields.delay, "Duewheel-Delay");
        if (!delay) return delay.error();
        into.delay_ms = *delay;
    } else if (fields.due) {
        const Result<std::int64_t> due = read_instant(*fields.due, "Duewheel-Due");
        if (!due) return due.error();
        into.at_ms = *due;
    }
    return {};
}

// The default types of `curl -d`, forms and fetch in JavaScript, and types of JSON that clients use in place of
// application/json: as a raw put the message would be due now, with its delay in its body.
bool is_probably_json_put(std::string_view type, std::string_view body) {
    for (const std::string_view mistaken : {"application/x-www-form-urlencoded", "multipart/form-data", "text/json",
                                            "application/x-ndjson", "application/merge-patch+json"}) {
        if (equal_ignoring_case(type, mistaken)) return true;
    }
    if (!equal_ignoring_case(type, "text/plain")) return false;
    const Result<JsonRequest> json = JsonRequest::parse(body);
    return json && has_body(*json);
}

}  // namespace

Result<Command> read_raw_put(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                             PutCommand put) {
    if (is_probably_json_put(essence(*fields.content_type), request.body)) {
        return Error{"unsupported_media_type"_code,
                     "send a Content-Type: application/json for an object with the members of the message, or another "
                     "type, such as application/octet-stream, for a raw body",
                     "Content-Type"};
    }
    if (!is_media_type(*fields.content_type)) {
        return Error{"unsupported_media_type"_code,
                     "the Content-Type must be a media type such as text/plain, of up to " +
                         std::to_string(kMediaTypeBytesMax) + " ASCII characters",
                     "Content-Type"};
    }
    put.content_type = *fields.content_type;
    Status read = read_raw_when(fields, put.when);
    if (read && fields.key) read = read_key(*fields.key, "Idempotency-Key", options, put.key);
    if (read) read = check_body_size(request.body, options);
    if (!read) return std::move(read).error();
    put.body = request.body;
    if (!put.key.empty()) {
        put.request_hash = hash_put(put, put.when);
        put.text_hash = hash_request(put.body);
        for (const auto& field : {fields.content_type, fields.delay, fields.due}) {
            put.text_hash = hash_request(field.value_or(""), put.text_hash);
        }
    }
    return Command(std::move(put));
}

std::string_view raw_field_of(std::string_view member) {
    constexpr std::pair<std::string_view, std::string_view> kFields[] = {{"delay", "Duewheel-Delay"},
                                                                         {"due", "Duewheel-Due"},
                                                                         {"key", "Idempotency-Key"},
                                                                         {"content_type", "Content-Type"}};
    for (const auto& [name, field] : kFields) {
        if (name == member) return field;
    }
    return member;
}

}  // namespace duewheel
