#include "ingress/watchdog_request.h"

#include <optional>
#include <utility>

#include "ingress/field_syntax.h"
#include "ingress/json_request.h"
#include "ingress/list_request.h"
#include "ingress/name_cursor.h"
#include "ingress/put_request.h"
#include "ingress/query_request.h"
#include "ingress/request_command.h"
#include "ingress/request_members.h"
#include "message/request_hash.h"

namespace duewheel {
namespace {

constexpr std::string_view kWatchdogMembers[] = {
    "queue",        "timeout",  "timeout_ms", "most",        "most_ms",       "again",
    "again_ms",     "feed",     "body",       "body_base64", "json",          "headers",
    "content_type", "priority", "order_key",  "expires_in",  "expires_in_ms", "retry"};

// A duration that must be above 0 where it is given; 0 stands for one that is not.
Status read_above_zero(const JsonRequest& json, std::string_view member, std::string_view what, std::int64_t& into) {
    std::optional<std::int64_t> given;
    if (Status read = take(json.duration_ms(member), given); !read) return read;
    if (given && *given < 1) {
        return Error{"out_of_range",
                     "`" + std::string(member) + "` is " + std::string(what) + ", at least 1 ms; leave it out for none",
                     std::string(member)};
    }
    into = given.value_or(0);
    return {};
}

Status read_times(const JsonRequest& json, WatchdogRule& rule) {
    if (!json.has_time("timeout")) {
        return Error{"missing_member",
                     "say how long after its last feed it makes a message: `timeout` (\"25h\", or \"30s\")", "timeout"};
    }
    Status read = take(json.duration_ms("timeout"), rule.timeout_ms);
    if (read)
        read = read_above_zero(json, "most", "how long after its first feed it fires at the latest", rule.most_ms);
    if (read) read = read_above_zero(json, "again", "how long after it fired it fires again", rule.again_ms);
    if (read) {
        read = read_above_zero(json, "expires_in", "how long a message waits for a consumer at most",
                               rule.expires_after_ms);
    }
    return read;
}

Result<Command> read_put_watchdog(const HttpRequest& request, std::string name_space, std::string name,
                                  const HttpApiOptions& options) {
    const Result<JsonRequest> json = read_members(request, kWatchdogMembers);
    if (!json) return json.error();
    PutWatchdogCommand put{std::move(name_space), std::move(name)};
    PutCommand content;
    const Result<std::optional<std::string_view>> queue = json->text("queue");
    if (!queue) return queue.error();
    if (!*queue) return Error{"missing_member", "say which queue gets the messages: `queue`", "queue"};
    Result<std::string> queue_name = check_queue_name(std::string(**queue), options);
    if (!queue_name) return std::move(queue_name).error();
    Status read = read_times(*json, put.rule);
    if (read) read = take(json->boolean("feed"), put.feeds);
    if (read) read = read_content_members(*json, options, content);
    if (!read) return std::move(read).error();
    put.rule.queue = *std::move(queue_name);
    put.rule.order_key = std::move(content.order_key);
    put.rule.priority = content.priority;
    put.rule.retry = content.retry;
    put.rule.content_hash =
        hash_request(content.content_type, hash_request(content.headers, hash_request(content.body)));
    put.body = std::move(content.body);
    put.content_type = std::move(content.content_type);
    put.headers = std::move(content.headers);
    put.traceparent = traceparent_of(request);
    return Command(std::move(put));
}

}  // namespace

Result<Command> read_watchdog_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                   std::string name, const HttpApiOptions& options) {
    const bool is_fed = what == CallPath::What::feed_watchdog;
    if (!is_fed && request.method == "PUT") {
        return read_put_watchdog(request, std::move(name_space), std::move(name), options);
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (is_fed) return Command(FeedWatchdogCommand{std::move(name_space), std::move(name)});
    if (request.method == "DELETE") return Command(RemoveWatchdogCommand{std::move(name_space), std::move(name)});
    return Command(DescribeWatchdogCommand{std::move(name_space), std::move(name)});
}

Result<Command> read_watchdog_list(const HttpRequest& request, std::string name_space) {
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"limit", "cursor"});
    if (!query) return query.error();
    ListWatchdogsCommand list;
    list.name_space = std::move(name_space);
    if (Status read = take(query->integer("limit", 1, kListLimitMax), list.limit); !read)
        return std::move(read).error();
    if (const std::optional<std::string_view> cursor = query->text("cursor")) {
        std::optional<std::string> after = parse_name_cursor(NameList::watchdogs, *cursor, list.name_space);
        if (!after) {
            return Error{"bad_cursor",
                         "this is not a cursor of a list of watchdogs: pass on the one of the page before of the same "
                         "namespace, or begin without one",
                         "cursor"};
        }
        list.after = *std::move(after);
    }
    return Command(std::move(list));
}

}  // namespace duewheel
