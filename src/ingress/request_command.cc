#include "ingress/request_command.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "ingress/json_request.h"
#include "ingress/json_writer.h"
#include "ingress/lease_text.h"
#include "net/http_target.h"

namespace duewheel {
namespace {

constexpr std::string_view kNameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+/;$()-";

Status check_name(std::string_view name, std::size_t bytes_max) {
    if (name.empty() || name.size() > bytes_max || name.front() == '-' ||
        name.find_first_not_of(kNameLetters) != std::string_view::npos) {
        return Error{"bad_queue_name",
                     "a queue's name has 1 to " + std::to_string(bytes_max) +
                         " letters, digits and . _ + / ; $ ( ) -, and does not begin with -",
                     "queue"};
    }
    return {};
}

Error unknown_path() {
    return {"unknown_path", "there is no such call: see /openapi.json or docs/http_api.md"};
}

// Splits "name:verb". Queue names hold no colon.
std::pair<std::string_view, std::string_view> split_verb(std::string_view segment) {
    const std::size_t colon = segment.rfind(':');
    if (colon == std::string_view::npos) return {segment, {}};
    return {segment.substr(0, colon), segment.substr(colon + 1)};
}

}  // namespace

Result<CallPath> read_call_path(const HttpRequest& request, const HttpApiOptions& options) {
    const std::vector<std::string_view>& segments = request.segments;
    CallPath path;
    std::size_t at = 0;
    const auto left = [&] { return segments.size() - at; };
    const auto decoded = [](std::string_view text, std::string& into) -> Status {
        Result<std::string> name = percent_decode(text);
        if (!name) return Error{"bad_path", "a percent sign in a path is followed by two hexadecimal digits"};
        into = *std::move(name);
        return {};
    };
    if (left() < 1 || segments[at++] != "v1") return unknown_path();
    if (left() >= 2 && segments[at] == "namespaces") {
        if (Status read = decoded(segments[at + 1], path.name_space); !read) return std::move(read).error();
        if (Status named = check_name(path.name_space, options.queue_name_bytes_max); !named) {
            return std::move(named).error();
        }
        at += 2;
    }
    if (left() < 2) return unknown_path();
    const std::string_view kind = segments[at++];
    const auto [name, verb] = split_verb(segments[at++]);
    path.verb = verb;
    if (Status read = decoded(name, path.name); !read) return std::move(read).error();
    if (kind == "queues") {
        path.what = CallPath::What::queue;
        if (left() == 1 && verb.empty()) path.verb = segments[at++];
        if (left() != 0) return unknown_path();
        if (Status named = check_name(path.name, options.queue_name_bytes_max); !named) return std::move(named).error();
    } else if (kind == "messages" && left() == 0) {
        path.what = CallPath::What::message;
    } else if (kind == "leases" && left() == 0) {
        path.what = CallPath::What::lease;
    } else {
        return unknown_path();
    }
    return path;
}

std::string_view allowed_methods(const CallPath& path) {
    switch (path.what) {
        case CallPath::What::queue:
            return path.verb == "messages" || path.verb == "lease" ? "POST" : "";
        case CallPath::What::message:
            return path.verb.empty() ? "GET, DELETE, PATCH" : path.verb == "fire" ? "POST" : "";
        case CallPath::What::lease: {
            constexpr std::string_view kVerbs[] = {"ack", "fail", "extend", "release"};
            return std::find(std::begin(kVerbs), std::end(kVerbs), path.verb) != std::end(kVerbs) ? "POST" : "";
        }
    }
    return "";
}

namespace {

// The outcome of reading one member into a place, for reading many in a row.
template <class T, class Into>
Status take(Result<std::optional<T>> read, Into& into) {
    if (!read) return std::move(read).error();
    if (*read) into = static_cast<Into>(**read);
    return {};
}

Result<When> read_when(const JsonRequest& request, bool required) {
    const bool delay = request.has("delay");
    const bool due = request.has("due");
    if (delay && due) {
        return Error{"conflicting_members", "give `delay` or `due`, not both: they would name two times", "due"};
    }
    if (required && !delay && !due) {
        return Error{"missing_member", "give `delay` (such as \"10m\") or `due` (such as \"2027-01-01T06:00:00Z\")",
                     "delay"};
    }
    When when;
    if (Status read = take(request.duration_ms("delay"), when.delay_ms); !read) return std::move(read).error();
    Result<std::optional<std::int64_t>> at = request.instant_ms("due");
    if (!at) return std::move(at).error();
    when.at_ms = *at;
    return when;
}

// Kept, and handed out again, as one JSON object of texts.
Status read_message_headers(const JsonRequest& request, const HttpApiOptions& options, std::string& into) {
    auto headers = request.texts("headers");
    if (!headers) return std::move(headers).error();
    if (headers->empty()) return {};
    JsonWriter json(into);
    json.open();
    std::size_t bytes = 0;
    for (const auto& [name, value] : *headers) {
        json.text(name, value);
        bytes += name.size() + value.size();
    }
    json.close();
    if (headers->size() > options.headers_max || bytes > options.headers_bytes_max) {
        return Error{"headers_too_large",
                     "a message has at most " + std::to_string(options.headers_max) + " headers with " +
                         std::to_string(options.headers_bytes_max) + " bytes in all",
                     "headers"};
    }
    return {};
}

Status check_body(const std::string& body, const HttpApiOptions& options) {
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
    Result<std::optional<std::string_view>> encoded = request.text("body_base64");
    if (!encoded) return std::move(encoded).error();
    if (*encoded) {
        std::optional<std::string> bytes = parse_base64(**encoded);
        if (!bytes) return Error{"bad_base64", "`body_base64` is standard base64 with its padding", "body_base64"};
        put.body = *std::move(bytes);
    }
    return check_body(put.body, options);
}

Result<Command> read_json_put(const JsonRequest& request, const HttpApiOptions& options, PutCommand put) {
    Status read = request.only({"body", "body_base64", "delay", "due", "priority", "headers", "content_type"});
    if (read) read = read_body(request, options, put);
    if (!read) return std::move(read).error();
    Result<When> when = read_when(request, false);
    if (!when) return std::move(when).error();
    put.when = *when;
    constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
    read = take(request.integer("priority", kLeast, kMost), put.priority);
    if (read) read = take(request.text("content_type"), put.content_type);
    if (read) read = read_message_headers(request, options, put.headers);
    if (read && put.content_type.size() > 256) {
        read = Error{"out_of_range", "`content_type` has at most 256 bytes", "content_type"};
    }
    if (!read) return std::move(read).error();
    return Command(std::move(put));
}

// Any other media type: the request's body is the message's, and what else there is to say stands in fields.
Result<Command> read_raw_put(const HttpRequest& request, const HttpApiOptions& options, PutCommand put) {
    put.body = request.body;
    put.content_type = request.header("content-type").value_or("");
    if (Status checked = check_body(put.body, options); !checked) return std::move(checked).error();
    const auto delay = request.header("duewheel-delay");
    const auto due = request.header("duewheel-due");
    if (delay && due) {
        return Error{"conflicting_members", "give Duewheel-Delay or Duewheel-Due, not both", "Duewheel-Due"};
    }
    if (delay) {
        Result<std::int64_t> parsed = parse_duration_or_ms(*delay);
        if (!parsed) return Error{parsed.error().code, parsed.error().message, "Duewheel-Delay"};
        put.when.delay_ms = *parsed;
    }
    if (due) {
        Result<InstantMs> parsed = parse_instant_or_ms(*due);
        if (!parsed) return Error{parsed.error().code, parsed.error().message, "Duewheel-Due"};
        put.when.at_ms = *parsed;
    }
    if (const auto priority = request.header("duewheel-priority")) {
        const char* end = priority->data() + priority->size();
        const auto [stopped, failed] = std::from_chars(priority->data(), end, put.priority);
        if (failed != std::errc() || stopped != end) {
            return Error{"out_of_range", "Duewheel-Priority is a whole number of 32 bits", "Duewheel-Priority"};
        }
    }
    return Command(std::move(put));
}

bool is_json(const HttpRequest& request) {
    const std::string_view type = request.header("content-type").value_or("application/json");
    const std::string_view media = type.substr(0, type.find(';'));
    const std::size_t end = media.find_last_not_of(" \t");
    return equal_ignoring_case(media.substr(0, end == std::string_view::npos ? 0 : end + 1), "application/json");
}

Result<JsonRequest> read_json(const HttpRequest& request) {
    if (!is_json(request) && !request.body.empty()) {
        return Error{"unsupported_media_type", "this call takes application/json: set Content-Type to that",
                     "Content-Type"};
    }
    return JsonRequest::parse(request.body);
}

Result<MessageId> read_id(const std::string& text) {
    MessageId id = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, id);
    if (failed != std::errc() || stopped != end || id == 0 || id > kMessageIdMax || text.front() == '0') {
        return Error{"bad_id", "a message's id is the whole number that its put answered", "id"};
    }
    return id;
}

Result<Command> read_queue_call(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    if (path.verb == "messages") {
        PutCommand put;
        put.name_space = path.name_space;
        put.queue = path.name;
        put.traceparent = std::string(request.header("traceparent").value_or("")).substr(0, 128);
        if (!is_json(request)) return read_raw_put(request, options, std::move(put));
        Result<JsonRequest> json = JsonRequest::parse(request.body);
        if (!json) return std::move(json).error();
        return read_json_put(*json, options, std::move(put));
    }
    Result<JsonRequest> json = read_json(request);
    if (!json) return std::move(json).error();
    LeaseCommand lease;
    lease.name_space = path.name_space;
    lease.queue = path.name;
    Status read = json->only({"max", "lease", "wait"});
    if (read) read = take(json->integer("max", 1, std::numeric_limits<std::int32_t>::max()), lease.max);
    if (read) read = take(json->duration_ms("lease"), lease.lease_ms);
    if (read) read = take(json->duration_ms("wait"), lease.wait_ms);
    if (!read) return std::move(read).error();
    return Command(std::move(lease));
}

Result<Command> read_message_call(const HttpRequest& request, const CallPath& path) {
    const Result<MessageId> id = read_id(path.name);
    if (!id) return id.error();
    if (path.verb == "fire") {
        Result<JsonRequest> json = read_json(request);
        if (!json) return std::move(json).error();
        if (Status none = json->only({}); !none) return std::move(none).error();
        return Command(FireCommand{path.name_space, *id});
    }
    if (request.method == "DELETE") return Command(CancelCommand{path.name_space, *id});
    if (request.method != "PATCH") return Command(GetCommand{path.name_space, *id});
    Result<JsonRequest> json = read_json(request);
    if (!json) return std::move(json).error();
    if (Status known = json->only({"delay", "due"}); !known) return std::move(known).error();
    const Result<When> when = read_when(*json, true);
    if (!when) return when.error();
    return Command(RescheduleCommand{path.name_space, *id, *when});
}

Result<Command> read_lease_call(const HttpRequest& request, const CallPath& path) {
    const std::optional<LeaseToken> token = parse_lease_text(path.name);
    if (!token) {
        return Error{"bad_lease_token", "this is not a lease token: use the text that the lease answered", "lease"};
    }
    Result<JsonRequest> json = read_json(request);
    if (!json) return std::move(json).error();
    if (path.verb == "ack") {
        if (Status none = json->only({}); !none) return std::move(none).error();
        return Command(AckCommand{*token});
    }
    Status read;
    if (path.verb == "fail") {
        FailCommand fail{*token, {}, std::nullopt};
        read = json->only({"reason", "retry_in"});
        if (read) read = take(json->text("reason"), fail.reason);
        if (read && fail.reason.size() > 1024) fail.reason.resize(1024);
        while (!is_utf8(fail.reason)) fail.reason.pop_back();  // not in the middle of a letter
        if (read) read = take(json->duration_ms("retry_in"), fail.retry_in_ms);
        if (!read) return std::move(read).error();
        return Command(std::move(fail));
    }
    if (path.verb == "extend") {
        ExtendCommand extend{*token};
        read = json->only({"lease"});
        if (read) read = take(json->duration_ms("lease"), extend.lease_ms);
        if (!read) return std::move(read).error();
        return Command(extend);
    }
    ReleaseCommand release{*token};
    read = json->only({"delay"});
    if (read) read = take(json->duration_ms("delay"), release.delay_ms);
    if (!read) return std::move(read).error();
    return Command(release);
}

}  // namespace

Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    switch (path.what) {
        case CallPath::What::queue:
            return read_queue_call(request, path, options);
        case CallPath::What::message:
            return read_message_call(request, path);
        case CallPath::What::lease:
            return read_lease_call(request, path);
    }
    return unknown_path();
}

}  // namespace duewheel
