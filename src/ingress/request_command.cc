#include "ingress/request_command.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/utf8.h"
#include "calendar/instant_text.h"
#include "ingress/field_syntax.h"
#include "ingress/json_request.h"
#include "ingress/lease_text.h"
#include "ingress/list_request.h"
#include "ingress/name_rule.h"
#include "ingress/namespace_request.h"
#include "ingress/put_request.h"
#include "ingress/query_request.h"
#include "ingress/queue_request.h"
#include "ingress/request_members.h"
#include "ingress/schedule_request.h"
#include "ingress/token_request.h"
#include "ingress/watchdog_request.h"
#include "net/http_target.h"

namespace duewheel {
namespace {

constexpr std::string_view kLeaseMembers[] = {"max", "lease", "lease_ms", "wait", "wait_ms"};
constexpr std::string_view kMoveMembers[] = {"delay", "delay_ms", "due", "due_ms", "flex", "flex_ms"};
constexpr std::string_view kFailMembers[] = {"reason", "retry_in", "retry_in_ms"};
constexpr std::string_view kExtendMembers[] = {"lease", "lease_ms"};
constexpr std::string_view kReleaseMembers[] = {"delay", "delay_ms"};
constexpr std::string_view kRedriveMembers[] = {"max"};

// A numeric instant further in the past is treated as a mistake.
constexpr std::int64_t kPastByNumberMs = std::int64_t{365} * 86'400'000;

Result<std::string> decode(std::string_view raw) {
    Result<std::string> decoded = percent_decode(raw);
    if (!decoded) return Error{"bad_path", "a percent sign in a path must be followed by two hexadecimal digits"};
    return decoded;
}

Result<std::string> read_name(std::string_view raw, const HttpApiOptions& options, const NameOwner& owner) {
    Result<std::string> name = decode(raw);
    if (!name) return name;
    if (Status fits = check_name(*name, options.queue_name_bytes_max, owner); !fits) return std::move(fits).error();
    return name;
}

Result<MessageId> read_id(const CallPath& path) {
    const Result<std::string> text = decode(path.name);
    if (!text) return text.error();
    return parse_message_id(*text);
}

Result<LeaseToken> read_token(const CallPath& path) {
    const std::optional<LeaseToken> token = parse_lease_text(path.name);
    if (!token) {
        return Error{"bad_lease_token", "this is not a lease token: use the string from the response to the lease call",
                     "lease"};
    }
    return *token;
}

Result<Command> read_lease(const HttpRequest& request, LeaseCommand lease) {
    const Result<JsonRequest> json = read_members(request, kLeaseMembers);
    if (!json) return json.error();
    std::int64_t most = lease.max;
    Status read = take(json->integer("max"), most);
    if (read) read = take(json->duration_ms("lease"), lease.lease_ms);
    if (read) read = take(json->duration_ms("wait"), lease.wait_ms);
    if (!read) return std::move(read).error();
    // A number that does not fit the type is clamped, and still out of range; the engine's error names the range.
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    lease.max = static_cast<std::uint32_t>(std::clamp<std::int64_t>(most, 0, kMax));
    return Command(std::move(lease));
}

Result<Command> read_redrive(const HttpRequest& request, RedriveCommand redrive) {
    const Result<JsonRequest> json = read_members(request, kRedriveMembers);
    if (!json) return json.error();
    std::optional<std::int64_t> most;
    if (Status read = take(json->integer("max"), most); !read) return std::move(read).error();
    if (most) redrive.max = static_cast<std::uint64_t>(std::max<std::int64_t>(*most, 0));
    return Command(std::move(redrive));
}

Result<Command> read_reschedule(const HttpRequest& request, const HttpApiOptions& options,
                                RescheduleCommand reschedule) {
    const Result<JsonRequest> json = read_members(request, kMoveMembers);
    if (!json) return json.error();
    if (!json->has_time("delay") && !json->has_time("due")) {
        return Error{"missing_member", "give `delay` (such as \"10m\") or `due` (such as \"2027-01-01T06:00:00Z\")",
                     "delay"};
    }
    if (Status read = read_when(*json, options, reschedule.when); !read) return std::move(read).error();
    if (Status read = read_flex(*json, reschedule.flex_ms); !read) return std::move(read).error();
    return Command(std::move(reschedule));
}

// The key and the queue of the message, from the parameters.
Result<MessageKey> read_message_key(const HttpRequest& request, const HttpApiOptions& options) {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"queue", "key"});
    if (!query) return query.error();
    const std::optional<std::string_view> queue = query->text("queue");
    const std::optional<std::string_view> key = query->text("key");
    if (!queue) return Error{"missing_parameter", "`queue` is missing: name the queue of the message", "queue"};
    if (!key) return Error{"missing_parameter", "`key` is missing: give the key that the message was put with", "key"};
    Result<std::string> name = check_queue_name(std::string(*queue), options);
    if (!name) return std::move(name).error();
    MessageKey by_key{*std::move(name), {}};
    if (Status read = read_key(*key, "key", options, by_key.key); !read) return std::move(read).error();
    return by_key;
}

Result<Command> read_key_call(const HttpRequest& request, std::string name_space, const HttpApiOptions& options) {
    Result<MessageKey> key = read_message_key(request, options);
    if (!key) return std::move(key).error();
    if (request.method == "PATCH") {
        return read_reschedule(request, options, {std::move(name_space), 0, {}, 0, *std::move(key)});
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (request.method == "DELETE") return Command(CancelCommand{std::move(name_space), 0, *std::move(key)});
    return Command(GetCommand{std::move(name_space), 0, *std::move(key)});
}

Result<Command> read_message_call(const HttpRequest& request, const CallPath& path, std::string name_space,
                                  const HttpApiOptions& options) {
    const Result<MessageId> id = read_id(path);
    if (!id) return id.error();
    const bool looks = path.what == CallPath::What::message;
    if (looks && request.method == "PATCH") {
        return read_reschedule(request, options, {std::move(name_space), *id, {}, 0});
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (path.what == CallPath::What::fire) return Command(FireCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::commit || path.what == CallPath::What::roll_back) {
        return Command(SettleCommand{std::move(name_space), *id, path.what == CallPath::What::commit});
    }
    if (path.what == CallPath::What::hold) return Command(HoldCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::kick) return Command(KickCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::discard_message) return Command(DiscardCommand{std::move(name_space), *id});
    if (request.method == "DELETE") return Command(CancelCommand{std::move(name_space), *id});
    return Command(GetCommand{std::move(name_space), *id});
}

// The command that ends or extends the one lease in the path.
Result<Command> read_one_lease_end(const HttpRequest& request, const CallPath& path) {
    const Result<LeaseToken> token = read_token(path);
    if (!token) return token.error();
    const Result<JsonRequest> json = read_members(request, lease_end_members(path.what));
    if (!json) return json.error();
    Result<Command> command = read_lease_end(*json, path.what);
    if (command) set_lease(*command, *token);
    return command;
}

}  // namespace

Result<MessageId> parse_message_id(std::string_view text) {
    MessageId id = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, id);
    if (failed != std::errc() || stopped != end || text.front() == '0' || id > kMessageIdMax) {
        return Error{"bad_id", "a message id is the integer from the response to the put", "id"};
    }
    return id;
}

Result<std::string> check_queue_name(std::string name, const HttpApiOptions& options) {
    if (Status fits = check_name(name, options.queue_name_bytes_max, kQueueName); !fits) return std::move(fits).error();
    return name;
}

Result<std::string> read_namespace(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name_space, options, kNamespaceName);
}

Result<std::string> read_queue(const CallPath& path, const HttpApiOptions& options) {
    return read_name(path.name, options, kQueueName);
}

std::span<const std::string_view> lease_end_members(CallPath::What what) {
    switch (what) {
        case CallPath::What::fail:
        case CallPath::What::fail_batch:
            return kFailMembers;
        case CallPath::What::extend:
        case CallPath::What::extend_batch:
            return kExtendMembers;
        case CallPath::What::release:
        case CallPath::What::release_batch:
            return kReleaseMembers;
        default:
            return {};
    }
}

Result<Command> read_lease_end(const JsonRequest& json, CallPath::What what) {
    switch (what) {
        case CallPath::What::fail:
        case CallPath::What::fail_batch: {
            FailCommand fail;
            std::string_view reason;
            Status read = take(json.text("reason"), reason);
            if (read) read = take(json.duration_ms("retry_in"), fail.retry_in_ms);
            if (!read) return std::move(read).error();
            // Truncated, not refused: a failure must be recorded, regardless of the length of its reason.
            fail.reason = cut_utf8(reason, kReasonBytesMax);
            return Command(std::move(fail));
        }
        case CallPath::What::extend:
        case CallPath::What::extend_batch: {
            ExtendCommand extend;
            if (Status read = take(json.duration_ms("lease"), extend.lease_ms); !read) return std::move(read).error();
            return Command(extend);
        }
        case CallPath::What::release:
        case CallPath::What::release_batch: {
            ReleaseCommand release;
            if (Status read = take(json.duration_ms("delay"), release.delay_ms); !read) return std::move(read).error();
            return Command(release);
        }
        case CallPath::What::hold_lease:
            return Command(HoldLeaseCommand{});
        default:
            return Command(AckCommand{});
    }
}

void set_lease(Command& command, const LeaseToken& lease) {
    std::visit(
        [&](auto& ends) {
            if constexpr (requires { ends.lease = lease; }) ends.lease = lease;
        },
        command);
}

Result<JsonRequest> read_members(const HttpRequest& request, std::span<const std::string_view> known) {
    if (!request.body.empty() && !is_json(request)) {
        return Error{"unsupported_media_type", "this call takes JSON: send Content-Type: application/json",
                     "Content-Type"};
    }
    Result<JsonRequest> json = JsonRequest::parse(request.body);
    if (!json) return json;
    if (Status fine = json->only(known); !fine) return std::move(fine).error();
    return json;
}

Result<std::shared_ptr<const MergePatch>> read_patch(const HttpRequest& request,
                                                     std::span<const std::string_view> known) {
    const std::optional<std::string_view> type = request.header("Content-Type");
    const bool says_patch = type && equal_ignoring_case(essence(*type), "application/merge-patch+json");
    if (!request.body.empty() && !says_patch && !is_json(request)) {
        return Error{
            "unsupported_media_type",
            "this call takes a JSON merge patch: send Content-Type: application/merge-patch+json or application/json",
            "Content-Type"};
    }
    const auto patch = std::make_shared<MergePatch>();
    patch->text = request.body;
    Result<JsonRequest> json = JsonRequest::parse(patch->text);
    if (!json) return std::move(json).error();
    patch->json = *std::move(json);
    patch->json.read_as_patch();
    if (Status fine = patch->json.only(known); !fine) return std::move(fine).error();
    return std::shared_ptr<const MergePatch>(patch);
}

Status read_when(const JsonRequest& request, const HttpApiOptions& options, When& into) {
    if (request.has_time("delay") && request.has_time("due")) {
        return Error{"conflicting_members", "give `delay` or `due`, not both", "due"};
    }
    if (Status read = take(request.duration_ms("delay"), into.delay_ms); !read) return read;
    const Result<std::optional<std::int64_t>> due = request.instant_ms("due");
    if (!due) return due.error();
    if (!*due) return {};
    into.at_ms = **due;
    if (request.has("due") || **due >= options.server_ms() - kPastByNumberMs) return {};
    return Error{"bad_instant",
                 "`due_ms` is " + format_instant(**due) +
                     ", more than a year ago: check its unit; if it is right, give it as a string in `due`",
                 "due_ms"};
}

Status read_flex(const JsonRequest& request, std::int64_t& into_ms) {
    return take(request.duration_ms("flex"), into_ms);
}

Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    if (is_token_call(path.what)) {
        Result<TokenCall> call = read_token_call(request, path, options);
        return call ? Result<Command>(std::move(call->command)) : Result<Command>(std::move(call).error());
    }
    const bool lists = path.what == CallPath::What::history || path.what == CallPath::What::forecast ||
                       path.what == CallPath::What::queues || path.what == CallPath::What::schedules ||
                       path.what == CallPath::What::preview_schedule || path.what == CallPath::What::watchdogs ||
                       path.what == CallPath::What::name_spaces || path.what == CallPath::What::message_by_key ||
                       (path.what == CallPath::What::put && request.method != "POST");
    if (!request.query.empty() && !lists) {
        return Error{"unknown_parameter", "this call takes no query parameters: send a JSON body"};
    }
    Result<std::string> name_space = read_namespace(path, options);
    if (!name_space) return std::move(name_space).error();
    switch (path.what) {
        case CallPath::What::schedules:
            return read_schedule_list(request, *std::move(name_space));
        case CallPath::What::schedule:
        case CallPath::What::pause_schedule:
        case CallPath::What::resume_schedule:
        case CallPath::What::fire_schedule:
        case CallPath::What::preview_schedule: {
            Result<std::string> name = read_name(path.name, options, kScheduleName);
            if (!name) return std::move(name).error();
            return read_schedule_call(request, path.what, *std::move(name_space), *std::move(name), options);
        }
        case CallPath::What::watchdogs:
            return read_watchdog_list(request, *std::move(name_space));
        case CallPath::What::watchdog:
        case CallPath::What::feed_watchdog: {
            Result<std::string> name = read_name(path.name, options, kWatchdogName);
            if (!name) return std::move(name).error();
            return read_watchdog_call(request, path.what, *std::move(name_space), *std::move(name), options);
        }
        case CallPath::What::name_spaces:
            return read_namespace_list(request);
        case CallPath::What::name_space:
            return read_namespace_call(request, *std::move(name_space));
        case CallPath::What::queues:
            return read_queue_list(request, *std::move(name_space));
        case CallPath::What::queue:
        case CallPath::What::pause:
        case CallPath::What::resume:
        case CallPath::What::purge:
        case CallPath::What::discard: {
            Result<std::string> queue = read_queue(path, options);
            if (!queue) return std::move(queue).error();
            return read_queue_call(request, path.what, *std::move(name_space), *std::move(queue), options);
        }
        case CallPath::What::put:
        case CallPath::What::lease:
        case CallPath::What::redrive: {
            Result<std::string> queue = read_queue(path, options);
            if (!queue) return std::move(queue).error();
            if (lists) {
                if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
                return read_list(request, {.name_space = *std::move(name_space), .queue = *std::move(queue)});
            }
            if (path.what == CallPath::What::put) {
                return read_put(request, path.is_raw_put, *std::move(name_space), *std::move(queue), options);
            }
            if (path.what == CallPath::What::redrive) {
                return read_redrive(request, {*std::move(name_space), *std::move(queue), std::nullopt});
            }
            return read_lease(request, {.name_space = *std::move(name_space), .queue = *std::move(queue)});
        }
        case CallPath::What::history:
            if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
            return read_history(request, {.name_space = *std::move(name_space)}, options);
        case CallPath::What::forecast:
            if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
            return read_forecast(request, {.name_space = *std::move(name_space)}, options);
        case CallPath::What::message_by_key:
            return read_key_call(request, *std::move(name_space), options);
        case CallPath::What::message:
        case CallPath::What::fire:
        case CallPath::What::hold:
        case CallPath::What::kick:
        case CallPath::What::discard_message:
        case CallPath::What::commit:
        case CallPath::What::roll_back:
            return read_message_call(request, path, *std::move(name_space), options);
        default:
            return read_one_lease_end(request, path);
    }
}

}  // namespace duewheel
