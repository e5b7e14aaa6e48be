#include "ingress/put_request.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "ingress/field_syntax.h"
#include "ingress/json_request.h"
#include "ingress/message_headers.h"
#include "ingress/repeat_request.h"
#include "ingress/request_members.h"
#include "ingress/retry_request.h"
#include "ingress/transaction_request.h"
#include "message/request_hash.h"

namespace duewheel {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kBodyMembers[] = {"body", "body_base64", "json"};
constexpr std::string_view kPutMembers[] = {
    "json",    "body",       "body_base64",   "delay",   "delay_ms",     "due",         "due_ms",   "flex",
    "flex_ms", "expires_in", "expires_in_ms", "expires", "expires_ms",   "order_key",   "priority", "repeat",
    "retry",   "held",       "headers",       "key",     "content_type", "transaction", "kafka"};

// The values of the header fields of a put.
struct PutFields {
    std::optional<std::string_view> content_type, delay, due, key;
};

bool begins_ignoring_case(std::string_view text, std::string_view beginning) {
    return equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

Error unknown_field(std::string_view name) {
    const std::string shown(name.substr(0, 64));
    return {"unknown_member",
            "`" + shown +
                "` is unknown; a raw body takes Duewheel-Delay or Duewheel-Due: send a JSON object to give other "
                "members",
            shown};
}

Result<PutFields> read_fields(const HttpRequest& request) {
    PutFields fields;
    for (const HttpField& field : request.fields) {
        std::optional<std::string_view>* place = nullptr;
        if (equal_ignoring_case(field.name, "Content-Type")) {
            place = &fields.content_type;
        } else if (equal_ignoring_case(field.name, "Idempotency-Key")) {
            place = &fields.key;
        } else if (begins_ignoring_case(field.name, "Duewheel-")) {
            const std::string_view name = field.name.substr(9);
            if (equal_ignoring_case(name, "Delay")) place = &fields.delay;
            if (equal_ignoring_case(name, "Due")) place = &fields.due;
            if (place == nullptr) return unknown_field(field.name);
        } else if (begins_ignoring_case(field.name, "X-Duewheel-")) {
            return unknown_field(field.name);
        }
        if (place == nullptr) continue;
        if (*place) {
            return Error{"duplicate_member", "the field " + std::string(field.name) + " is given twice: give it once",
                         std::string(field.name)};
        }
        *place = field.value;
    }
    return fields;
}

bool says_json(std::string_view content_type) {
    return equal_ignoring_case(essence(content_type), kJsonType);
}

Status check_body(std::string_view body, const HttpApiOptions& options) {
    if (body.size() <= options.body_bytes_max) return {};
    return Error{"body_too_large",
                 "a message body has up to " + std::to_string(options.body_bytes_max) +
                     " bytes: store the content elsewhere and put its address into the message",
                 "body"};
}

// Whether there is a body in any form, or a patch removes it.
bool changes_body(const JsonRequest& request) {
    return std::any_of(std::begin(kBodyMembers), std::end(kBodyMembers),
                       [&](std::string_view member) { return request.has(member) || request.removes(member); });
}

Status read_body(const JsonRequest& request, const HttpApiOptions& options, PutCommand& put) {
    std::string_view given;
    for (const std::string_view member : kBodyMembers) {
        if (!request.has(member)) continue;
        if (!given.empty()) {
            return Error{"conflicting_members",
                         "give `" + std::string(given) + "` or `" + std::string(member) + "`, not both",
                         std::string(member)};
        }
        given = member;
    }
    if (const std::optional<std::string_view> json = request.json_text("json")) {
        if (put.content_type.empty()) put.content_type = kJsonType;
        if (!says_json(put.content_type)) {
            return Error{
                "conflicting_members",
                "`json` has the type application/json: omit `content_type`, or give the content as `body`, a string",
                "content_type"};
        }
        put.body = *json;
    }
    if (Status read = take(request.text("body"), put.body); !read) {
        Error error = std::move(read).error();
        error.message += "; use `json` for other JSON and `body_base64` for other bytes";
        return error;
    }
    const Result<std::optional<std::string_view>> encoded = request.text("body_base64");
    if (!encoded) return encoded.error();
    if (*encoded) {
        std::optional<std::string> bytes = parse_base64(**encoded);
        if (!bytes) {
            return Error{"bad_base64", "`body_base64` must be standard base64 with padding and without line breaks",
                         "body_base64"};
        }
        put.body = *std::move(bytes);
    }
    return check_body(put.body, options);
}

// In a header field the key may be in quotes, as in the drafts for Idempotency-Key: they are not part of the key.
std::string_view without_quotes(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

Status read_priority(const JsonRequest& request, std::int32_t& into) {
    const Result<std::optional<std::int64_t>> priority = request.integer("priority");
    if (!priority) return priority.error();
    using Limits = std::numeric_limits<std::int32_t>;
    reset_if_removed(request, "priority", into);
    const std::int64_t value = priority->value_or(into);
    if (value < Limits::min() || value > Limits::max()) {
        return Error{"out_of_range",
                     "`priority` must be an integer from -2147483648 to 2147483647; messages with smaller values are "
                     "delivered first",
                     "priority"};
    }
    into = static_cast<std::int32_t>(value);
    return {};
}

Status read_order_key(const JsonRequest& request, std::string& into) {
    const Result<std::optional<std::string_view>> read = request.text("order_key");
    if (!read) return read.error();
    reset_if_removed(request, "order_key", into);
    if (!*read) return {};
    const std::string_view order_key = **read;
    const bool has_control = std::any_of(order_key.begin(), order_key.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (order_key.empty() || order_key.size() > kOrderKeyBytesMax || has_control || !is_utf8(order_key)) {
        return Error{"bad_order_key",
                     "`order_key` must be a string of 1 to " + std::to_string(kOrderKeyBytesMax) +
                         " bytes in UTF-8 without control characters; messages with the same one are delivered one "
                         "after the other",
                     "order_key"};
    }
    into = order_key;
    return {};
}

Status read_expiry(const JsonRequest& request, std::optional<When>& into) {
    if (request.has_time("expires_in") && request.has_time("expires")) {
        return Error{"conflicting_members", "give `expires_in` or `expires`, not both", "expires"};
    }
    if (!request.has_time("expires_in") && !request.has_time("expires")) return {};
    When& expires = into.emplace();
    if (Status read = take(request.duration_ms("expires_in"), expires.delay_ms); !read) return read;
    return take(request.instant_ms("expires"), expires.at_ms);
}

Status read_content_type(const JsonRequest& request, std::string& into) {
    reset_if_removed(request, "content_type", into);
    if (Status read = take(request.text("content_type"), into); !read) return read;
    if (into.empty() || is_media_type(into)) return {};
    return Error{"bad_content_type",
                 "`content_type` must be a media type such as \"text/plain\", of up to " +
                     std::to_string(kMediaTypeBytesMax) + " ASCII characters",
                 "content_type"};
}

Result<Command> read_json_request(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                                  PutCommand put) {
    if (fields.delay || fields.due) {
        return Error{"conflicting_members",
                     "Duewheel-Delay and Duewheel-Due require a raw body: in JSON give the member `delay` or `due`",
                     fields.delay ? "Duewheel-Delay" : "Duewheel-Due"};
    }
    if (fields.key) {
        if (Status read = read_key(without_quotes(*fields.key), "Idempotency-Key", options, put.key); !read) {
            return std::move(read).error();
        }
    }
    Result<PutCommand> read = read_json_put(request.body, options, std::move(put));
    if (!read) return std::move(read).error();
    return Command(*std::move(read));
}

Status read_raw_when(const PutFields& fields, When& into) {
    if (fields.delay && fields.due) {
        return Error{"conflicting_members", "give Duewheel-Delay or Duewheel-Due, not both", "Duewheel-Due"};
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
    return json && (json->has("body") || json->has("json") || json->has("body_base64"));
}

// With any other media type the body of the request is the body of the message. Its due time and its key are header
// fields.
Result<Command> read_raw_put(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                             PutCommand put) {
    if (is_probably_json_put(essence(*fields.content_type), request.body)) {
        return Error{"unsupported_media_type",
                     "send a Content-Type: application/json for an object with the members of the message, or another "
                     "type, such as application/octet-stream, for a raw body",
                     "Content-Type"};
    }
    if (!is_media_type(*fields.content_type)) {
        return Error{"unsupported_media_type",
                     "the Content-Type must be a media type such as text/plain, of up to " +
                         std::to_string(kMediaTypeBytesMax) + " ASCII characters",
                     "Content-Type"};
    }
    put.content_type = *fields.content_type;
    Status read = read_raw_when(fields, put.when);
    if (read && fields.key) read = read_key(without_quotes(*fields.key), "Idempotency-Key", options, put.key);
    if (read && !put.key.empty()) {
        put.request_hash = hash_request(request.body);
        for (const auto& field : {fields.content_type, fields.delay, fields.due}) {
            put.request_hash = hash_request(field.value_or(""), put.request_hash);
        }
    }
    if (read) read = check_body(request.body, options);
    if (!read) return std::move(read).error();
    put.body = request.body;
    return Command(std::move(put));
}

}  // namespace

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

Status read_key(std::string_view text, std::string_view name, const HttpApiOptions& options, std::string& into) {
    const bool fits = !text.empty() && text.size() <= options.key_bytes_max && is_utf8(text) &&
                      std::none_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (!fits) {
        return Error{"bad_key",
                     "an idempotency key must have 1 to " + std::to_string(options.key_bytes_max) +
                         " bytes of UTF-8 without control characters, such as a random UUID",
                     std::string(name)};
    }
    into = text;
    return {};
}

Status read_key_member(const JsonRequest& json, const HttpApiOptions& options, std::string& into) {
    const Result<std::optional<std::string_view>> key = json.text("key");
    if (!key) return key.error();
    if (!*key) return {};
    if (!into.empty() && into != **key) {
        return Error{"conflicting_members", "`key` and the field Idempotency-Key differ: give one of them", "key"};
    }
    return read_key(**key, "key", options, into);
}

Status read_content_members(const JsonRequest& json, const HttpApiOptions& options, PutCommand& put) {
    Status read = read_order_key(json, put.order_key);
    if (read) read = read_priority(json, put.priority);
    if (read) read = read_retry(json, put.retry);
    if (changes_body(json)) {
        put.body.clear();
        put.content_type.clear();
    }
    if (read) read = read_content_type(json, put.content_type);
    if (read) read = read_message_headers(json, options, put.headers);
    if (read) read = read_body(json, options, put);
    if (read) read = fit_null_value(json, put.body, put.headers);
    return read;
}

Result<PutCommand> read_json_put(std::string_view text, const HttpApiOptions& options, PutCommand put,
                                 std::size_t line) {
    const Result<JsonRequest> json = JsonRequest::parse(text, line);
    if (!json) return json.error();
    Status read = json->only(kPutMembers);
    if (read) read = read_when(*json, options, put.when);
    if (read) read = read_flex(*json, put.flex_ms);
    if (read) read = read_expiry(*json, put.expires);
    if (read) read = take(read_repeat(*json), put.repeat);
    if (read) {
        Result<std::optional<TransactionRule>> transaction = read_transaction(*json, options);
        if (!transaction) return std::move(transaction).error();
        put.transaction = *std::move(transaction);
    }
    if (read) read = take(json->boolean("held"), put.is_held);
    if (read && put.is_held && put.transaction) {
        read = Error{"conflicting_members",
                     "a message in a transaction is delivered to no consumer until it is committed: omit `held` and "
                     "hold it then, or omit `transaction`",
                     "held"};
    }
    if (read) read = read_key_member(*json, options, put.key);
    if (read) read = read_content_members(*json, options, put);
    const bool has_body = std::any_of(std::begin(kBodyMembers), std::end(kBodyMembers),
                                      [&](std::string_view member) { return json->has(member); });
    if (read && !has_body) {
        read = Error{"missing_member",
                     "the content is missing: give `body`, a string, `json`, any JSON, or `body_base64`, other bytes; "
                     "an empty message has `\"body\": \"\"`",
                     "body"};
    }
    if (!read) return std::move(read).error();
    if (!put.key.empty()) put.request_hash = hash_request(text);
    return put;
}

Result<Command> read_put(const HttpRequest& request, bool is_raw, std::string name_space, std::string queue,
                         const HttpApiOptions& options) {
    const Result<PutFields> fields = read_fields(request);
    if (!fields) return fields.error();
    PutCommand put;
    put.name_space = std::move(name_space);
    put.queue = std::move(queue);
    put.traceparent = traceparent_of(request);
    return is_raw ? read_raw_put(request, *fields, options, std::move(put))
                  : read_json_request(request, *fields, options, std::move(put));
}

}  // namespace duewheel
