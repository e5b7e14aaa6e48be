#include "http_api/request_command.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "http_api/access/path_names.h"
#include "http_api/answers/lease_text.h"
#include "http_api/calls/group_call.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/lease_rows.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/work_members.h"
#include "http_api/requests/idempotency_key.h"
#include "http_api/requests/lease_end_request.h"
#include "http_api/requests/list_request.h"
#include "http_api/requests/namespace_request.h"
#include "http_api/requests/patch_request.h"
#include "http_api/requests/put_request.h"
#include "http_api/requests/query_request.h"
#include "http_api/requests/queue_request.h"
#include "http_api/requests/schedule_request.h"
#include "http_api/requests/token_request.h"
#include "http_api/requests/watchdog_request.h"

namespace duewheel {
namespace {

constexpr std::string_view kRedriveMembers[] = {"max"};

Result<LeaseToken> read_token(const CallPath& path) {
    const std::optional<LeaseToken> token = parse_lease_text(path.name);
    if (!token) {
        return Error{"bad_lease_token"_code,
                     "this is not a lease token: use the string from the response to the lease call", "lease"};
    }
    return *token;
}

Result<Command> read_lease(const HttpRequest& request, LeaseCommand lease) {
    const Result<JsonRequest> json = read_members(request, fields_of<LeaseCommand>().members_of({}));
    if (!json) return json.error();
    std::int64_t most = lease.max;
    std::int64_t least = lease.min;
    Status read = assign(json->integer("max"), most);
    if (read) read = assign(json->integer("min"), least);
    if (read) read = read_known_fields(*json, fields_of<LeaseCommand>(), &lease);
    if (!read) return std::move(read).error();
    // A number that does not fit the type is clamped, and still out of range; the engine's error names the range.
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    lease.max = static_cast<std::uint32_t>(std::clamp<std::int64_t>(most, 0, kMax));
    lease.min = static_cast<std::uint32_t>(std::clamp<std::int64_t>(least, 0, kMax));
    if (!is_worker_name(lease.worker)) {
        return Error{"bad_worker"_code,
                     "`worker` must be a name of up to " + std::to_string(kWorkerNameBytesMax) +
                         " bytes without control characters, such as \"host-7/1234\"",
                     "worker"};
    }
    return Command(std::move(lease));
}

Result<Command> read_redrive(const HttpRequest& request, RedriveCommand redrive) {
    const Result<JsonRequest> json = read_members(request, kRedriveMembers);
    if (!json) return json.error();
    std::optional<std::int64_t> most;
    if (Status read = assign(json->integer("max"), most); !read) return std::move(read).error();
    if (most) redrive.max = static_cast<std::uint64_t>(std::max<std::int64_t>(*most, 0));
    return Command(std::move(redrive));
}

// The key and the queue of the message, from the parameters.
Result<MessageKey> read_message_key(const QueryRequest& query, const HttpApiOptions& options) {
    const std::optional<std::string_view> queue = query.text("queue");
    const std::optional<std::string_view> key = query.text("key");
    if (!queue) return Error{"missing_parameter"_code, "`queue` is missing: name the queue of the message", "queue"};
    if (!key)
        return Error{"missing_parameter"_code, "`key` is missing: give the key that the message was put with", "key"};
    Result<std::string> name = check_queue_name(std::string(*queue), options);
    if (!name) return std::move(name).error();
    MessageKey by_key{*std::move(name), {}};
    if (Status read = read_key(*key, "key", options, by_key.key); !read) return std::move(read).error();
    return by_key;
}

// The parameters of a call on one message. `by_key`: it is identified by them.
Result<QueryRequest> read_message_query(const HttpRequest& request, bool by_key) {
    if (request.method == "DELETE") {
        return by_key ? QueryRequest::parse(request.query, {"queue", "key", "running"})
                      : QueryRequest::parse(request.query, {"running"});
    }
    if (request.method == "GET" || request.method == "HEAD") {
        return by_key ? QueryRequest::parse(request.query, {"queue", "key", "wait"})
                      : QueryRequest::parse(request.query, {"wait"});
    }
    return by_key ? QueryRequest::parse(request.query, {"queue", "key"}) : QueryRequest::parse(request.query, {});
}

Result<Command> read_cancel(const QueryRequest& query, CancelCommand cancel) {
    const Result<bool> running = query.flag("running");
    if (!running) return running.error();
    cancel.running = *running;
    return Command(std::move(cancel));
}

Result<Command> read_get(const QueryRequest& query, GetCommand get) {
    if (Status read = assign(query.duration_ms("wait"), get.wait_ms); !read) return std::move(read).error();
    return Command(std::move(get));
}

Result<Command> read_key_call(const HttpRequest& request, std::string name_space, const HttpApiOptions& options) {
    const Result<QueryRequest> query = read_message_query(request, true);
    if (!query) return query.error();
    Result<MessageKey> key = read_message_key(*query, options);
    if (!key) return std::move(key).error();
    if (request.method == "PATCH") {
        return read_message_patch(request, options, std::move(name_space), 0, *std::move(key));
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (request.method == "DELETE") return read_cancel(*query, {std::move(name_space), 0, *std::move(key)});
    return read_get(*query, {std::move(name_space), 0, *std::move(key)});
}

Result<Command> read_message_call(const HttpRequest& request, const CallPath& path, std::string name_space,
                                  const HttpApiOptions& options) {
    const Result<MessageId> id = read_message_id(path);
    if (!id) return id.error();
    const Result<QueryRequest> query = read_message_query(request, false);
    if (!query) return query.error();
    const bool looks = path.what == CallPath::What::message;
    if (looks && request.method == "PATCH") {
        return read_message_patch(request, options, std::move(name_space), *id, {});
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (path.what == CallPath::What::fire) return Command(FireCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::commit || path.what == CallPath::What::roll_back) {
        return Command(SettleCommand{std::move(name_space), *id, path.what == CallPath::What::commit});
    }
    if (path.what == CallPath::What::hold) return Command(HoldCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::kick) return Command(KickCommand{std::move(name_space), *id});
    if (path.what == CallPath::What::discard_message) return Command(DiscardCommand{std::move(name_space), *id});
    if (request.method == "DELETE") return read_cancel(*query, {std::move(name_space), *id});
    return read_get(*query, {std::move(name_space), *id});
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

Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options,
                             bool is_administrator) {
    if (is_token_call(path.what)) {
        Result<TokenCall> call = read_token_call(request, path, options);
        return call ? Result<Command>(std::move(call->command)) : Result<Command>(std::move(call).error());
    }
    const bool lists = path.what == CallPath::What::history || path.what == CallPath::What::forecast ||
                       path.what == CallPath::What::queues || path.what == CallPath::What::schedules ||
                       path.what == CallPath::What::groups || path.what == CallPath::What::preview_schedule ||
                       path.what == CallPath::What::watchdogs || path.what == CallPath::What::name_spaces ||
                       path.what == CallPath::What::message_by_key ||
                       (path.what == CallPath::What::message && request.method != "PATCH") ||
                       (path.what == CallPath::What::put && request.method != "POST");
    if (!request.query.empty() && !lists) {
        return Error{"unknown_parameter"_code, "this call takes no query parameters: send a JSON body"};
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
            Result<std::string> name = read_schedule_name(path, options);
            if (!name) return std::move(name).error();
            return read_schedule_call(request, path.what, *std::move(name_space), *std::move(name), options);
        }
        case CallPath::What::watchdogs:
            return read_watchdog_list(request, *std::move(name_space));
        case CallPath::What::watchdog:
        case CallPath::What::feed_watchdog: {
            Result<std::string> name = read_watchdog_name(path, options);
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
            return read_queue_call(request, path.what, *std::move(name_space), *std::move(queue), options,
                                   is_administrator);
        }
        case CallPath::What::groups:
        case CallPath::What::group:
        case CallPath::What::back_off_group: {
            Result<std::string> queue = read_queue(path, options);
            if (!queue) return std::move(queue).error();
            if (path.what == CallPath::What::groups) {
                return read_group_list(request, *std::move(name_space), *std::move(queue));
            }
            Result<std::string> group = read_group(path);
            if (!group) return std::move(group).error();
            return read_group_call(request, path.what, *std::move(name_space), *std::move(queue), *std::move(group));
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
