#include "ingress/put_request.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "ingress/base64.h"
#include "ingress/field_syntax.h"
#include "ingress/json_request.h"
#include "ingress/json_writer.h"
#include "ingress/request_members.h"
#include "ingress/retry_request.h"

namespace duewheel {
namespace {

// What a put's header fields say.
struct PutFields {
    std::optional<std::string_view> content_type, delay, due, priority, retry, traceparent;
    bool two_traceparents = false;
};

bool begins_ignoring_case(std::string_view text, std::string_view beginning) {
    return equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

Error unknown_field(std::string_view name) {
    if (equal_ignoring_case(name, "Idempotency-Key")) {
        return {"unknown_member",
                "Idempotency-Key is not understood here yet: put without it, and know that a put sent twice is two "
                "messages",
                "Idempotency-Key"};
    }
    const std::string shown(name.substr(0, 64));
    return {"unknown_member",
            shown + " is not known here; Duewheel-Delay, Duewheel-Due, Duewheel-Priority and Duewheel-Retry are",
            shown};
}

Result<PutFields> read_fields(const HttpRequest& request) {
    PutFields fields;
    for (const HttpField& field : request.fields) {
        std::optional<std::string_view>* place = nullptr;
        if (equal_ignoring_case(field.name, "Content-Type")) {
            place = &fields.content_type;
        } else if (equal_ignoring_case(field.name, "traceparent")) {
            fields.two_traceparents |= fields.traceparent.has_value();
            fields.traceparent = field.value;
            continue;
        } else if (equal_ignoring_case(field.name, "Idempotency-Key")) {
            return unknown_field(field.name);
        } else if (begins_ignoring_case(field.name, "Duewheel-")) {
            const std::string_view name = field.name.substr(9);
            if (equal_ignoring_case(name, "Delay")) place = &fields.delay;
            if (equal_ignoring_case(name, "Due")) place = &fields.due;
            if (equal_ignoring_case(name, "Priority")) place = &fields.priority;
            if (equal_ignoring_case(name, "Retry")) place = &fields.retry;
            if (place == nullptr) return unknown_field(field.name);
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

bool says_json(std::optional<std::string_view> content_type) {
    return !content_type || equal_ignoring_case(essence(*content_type), "application/json");
}

Error too_many_headers(const HttpApiOptions& options) {
    return {"headers_too_large",
            "a message has at most " + std::to_string(options.headers_max) + " headers with " +
                std::to_string(options.headers_bytes_max) + " bytes in all, names and values",
            "headers"};
}

Status check_header(std::string_view name, std::string_view value) {
    if (!is_token(name)) {
        return Error{"bad_message_header",
                     "a header's name is made of letters, digits and ! # $ % & ' * + - . ^ _ ` | ~, so that it can be "
                     "passed on over HTTP",
                     "headers"};
    }
    const bool has_control = std::any_of(value.begin(), value.end(), [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
    });
    if (!has_control) return {};
    return Error{"bad_message_header",
                 "a header's value has no control characters, so that it can be passed on over HTTP",
                 "headers." + std::string(name.substr(0, 64))};
}

// Kept, and handed out again, as one JSON object of texts.
Status read_message_headers(const JsonRequest& request, const HttpApiOptions& options, std::string& into) {
    const Result<JsonRequest::Texts> headers = request.texts("headers");
    if (!headers) return headers.error();
    if (headers->empty()) return {};
    if (headers->size() > options.headers_max) return too_many_headers(options);
    JsonWriter json(into);
    json.open();
    std::size_t bytes = 0;
    for (auto header = headers->begin(); header != headers->end(); ++header) {
        if (Status fine = check_header(header->first, header->second); !fine) return fine;
        const bool again = std::any_of(headers->begin(), header, [&](const auto& earlier) {
            return equal_ignoring_case(earlier.first, header->first);
        });
        if (again) {
            return Error{"duplicate_member",
                         "a header is given twice: give each once; capital letters make no difference",
                         "headers." + std::string(header->first.substr(0, 64))};
        }
        json.text(header->first, header->second);
        bytes += header->first.size() + header->second.size();
    }
    json.close();
    if (bytes > options.headers_bytes_max) return too_many_headers(options);
    return {};
}

Status check_body(std::string_view body, const HttpApiOptions& options) {
    if (body.size() <= options.body_bytes_max) return {};
    return Error{"body_too_large",
                 "a message's body has at most " + std::to_string(options.body_bytes_max) +
                     " bytes: put the content elsewhere and its address into the message",
                 "body"};
}

Status read_body(const JsonRequest& request, const HttpApiOptions& options, PutCommand& put) {
    if (request.has("body") && request.has("body_base64")) {
        return Error{"conflicting_members", "give `body` or `body_base64`, not both", "body_base64"};
    }
    if (Status read = take(request.text("body"), put.body); !read) {
        Error error = std::move(read).error();
        error.message += "; send other JSON as a text, and other bytes as `body_base64`";
        return error;
    }
    const Result<std::optional<std::string_view>> encoded = request.text("body_base64");
    if (!encoded) return encoded.error();
    if (*encoded) {
        std::optional<std::string> bytes = parse_base64(**encoded);
        if (!bytes) {
            return Error{"bad_base64", "`body_base64` is standard base64 with its padding and without line ends",
                         "body_base64"};
        }
        put.body = *std::move(bytes);
    }
    return check_body(put.body, options);
}

Error bad_priority(std::string_view name) {
    return {"out_of_range",
            "`" + std::string(name) +
                "` is a whole number from -2147483648 to 2147483647; smaller goes "
                "first",
            std::string(name)};
}

Status read_priority(const JsonRequest& request, std::int32_t& into) {
    const Result<std::optional<std::int64_t>> priority = request.integer("priority");
    if (!priority) return priority.error();
    using Limits = std::numeric_limits<std::int32_t>;
    const std::int64_t value = priority->value_or(0);
    if (value < Limits::min() || value > Limits::max()) return bad_priority("priority");
    into = static_cast<std::int32_t>(value);
    return {};
}

Status read_content_type(const JsonRequest& request, std::string& into) {
    if (Status read = take(request.text("content_type"), into); !read) return read;
    if (into.empty() || is_media_type(into)) return {};
    return Error{"bad_content_type",
                 "`content_type` is a media type such as \"text/plain\", of at most " +
                     std::to_string(kMediaTypeBytesMax) + " letters of ASCII",
                 "content_type"};
}

Status keep(Result<RetryChoice> read, RetryChoice& into) {
    if (!read) return std::move(read).error();
    into = *read;
    return {};
}

Result<Command> read_json_put(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                              PutCommand put) {
    if (fields.delay || fields.due || fields.priority || fields.retry) {
        return Error{"conflicting_members",
                     "Duewheel- fields go with a raw body: in JSON give the members of those names",
                     fields.delay      ? "Duewheel-Delay"
                     : fields.due      ? "Duewheel-Due"
                     : fields.priority ? "Duewheel-Priority"
                                       : "Duewheel-Retry"};
    }
    const Result<JsonRequest> json = JsonRequest::parse(request.body);
    if (!json) return json.error();
    Status read = json->only({"body", "body_base64", "delay", "due", "priority", "retry", "headers", "content_type"});
    if (read) read = read_when(*json, put.when);
    if (read) read = read_priority(*json, put.priority);
    if (read) read = keep(read_retry(*json), put.retry);
    if (read) read = read_content_type(*json, put.content_type);
    if (read) read = read_message_headers(*json, options, put.headers);
    if (read) read = read_body(*json, options, put);
    if (!read) return std::move(read).error();
    return Command(std::move(put));
}

Status read_raw_when(const PutFields& fields, When& when) {
    if (fields.delay && fields.due) {
        return Error{"conflicting_members", "give Duewheel-Delay or Duewheel-Due, not both: they name two times",
                     "Duewheel-Due"};
    }
    if (fields.delay) {
        const Result<std::int64_t> delay = read_duration(*fields.delay, "Duewheel-Delay");
        if (!delay) return delay.error();
        when.delay_ms = *delay;
    }
    if (fields.due) {
        const Result<std::int64_t> due = read_instant(*fields.due, "Duewheel-Due");
        if (!due) return due.error();
        when.at_ms = *due;
    }
    return {};
}

// Any other media type: the request's body is the message's, and what else there is to say stands in fields.
Result<Command> read_raw_put(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                             PutCommand put) {
    // What `curl -d` and forms send unless they are told: most likely JSON, which would become a message that is due
    // now, with its delay in its body.
    if (equal_ignoring_case(essence(*fields.content_type), "application/x-www-form-urlencoded")) {
        return Error{
            "unsupported_media_type",
            "say what the body is: Content-Type: application/json for an object with the message's members, or "
            "another type, such as application/octet-stream, for the message's body as it is",
            "Content-Type"};
    }
    if (!is_media_type(*fields.content_type)) {
        return Error{"unsupported_media_type",
                     "the Content-Type is no media type such as text/plain, of at most " +
                         std::to_string(kMediaTypeBytesMax) + " letters of ASCII",
                     "Content-Type"};
    }
    put.content_type = *fields.content_type;
    Status read = read_raw_when(fields, put.when);
    if (read && fields.priority) {
        const char* end = fields.priority->data() + fields.priority->size();
        const auto [stopped, failed] = std::from_chars(fields.priority->data(), end, put.priority);
        if (failed != std::errc() || stopped != end) read = bad_priority("Duewheel-Priority");
    }
    if (read && fields.retry) read = keep(read_retry_field(*fields.retry, "Duewheel-Retry"), put.retry);
    if (read) read = check_body(request.body, options);
    if (!read) return std::move(read).error();
    put.body = request.body;
    return Command(std::move(put));
}

}  // namespace

bool is_json(const HttpRequest& request) {
    return says_json(request.header("Content-Type"));
}

Result<Command> read_put(const HttpRequest& request, std::string name_space, std::string queue,
                         const HttpApiOptions& options) {
    const Result<PutFields> fields = read_fields(request);
    if (!fields) return fields.error();
    PutCommand put;
    put.name_space = std::move(name_space);
    put.queue = std::move(queue);
    if (fields->traceparent && !fields->two_traceparents && is_traceparent(*fields->traceparent)) {
        put.traceparent = *fields->traceparent;
    }
    if (says_json(fields->content_type)) return read_json_put(request, *fields, options, std::move(put));
    return read_raw_put(request, *fields, options, std::move(put));
}

}  // namespace duewheel
