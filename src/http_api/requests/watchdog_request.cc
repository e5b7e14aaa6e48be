#include "http_api/requests/watchdog_request.h"

#include <optional>
#include <utility>

#include "http_api/answers/name_page.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/rule_members.h"

namespace duewheel {
namespace {

constexpr std::string_view kWatchdogMembers[] = {
    "queue",    "timeout",   "timeout_ms",  "max",           "max_ms",  "repeat_every", "repeat_every_ms",
    "feed",     "body",      "body_base64", "json",          "headers", "kafka",        "content_type",
    "priority", "order_key", "expires_in",  "expires_in_ms", "retry"};

// A duration that must be above 0 if it is given; 0 means that it is not.
Status read_above_zero(const JsonRequest& json, std::string_view member, std::string_view what, std::int64_t& into) {
    std::optional<std::int64_t> given;
    reset_if_time_removed(json, member, into);
    if (Status read = take(json.duration_ms(member), given); !read) return read;
    if (given && *given < 1) {
        return Error{
            "out_of_range",
            "`" + std::string(member) + "` is " + std::string(what) + ", and must be at least 1 ms; omit it for none",
            std::string(member)};
    }
    into = given.value_or(into);
    return {};
}

Status read_times(const JsonRequest& json, WatchdogRule& rule) {
    reset_if_time_removed(json, "timeout", rule.timeout_ms);
    if (!json.has_time("timeout") && rule.timeout_ms == 0) {
        return Error{"missing_member",
                     "`timeout` is missing: give the time after the last feed at which it fires, such as \"25h\"",
                     "timeout"};
    }
    Status read = take(json.duration_ms("timeout"), rule.timeout_ms);
    if (read) read = read_above_zero(json, "max", "the latest firing after the first feed", rule.max_ms);
    if (read)
        read = read_above_zero(json, "repeat_every", "the interval at which it fires again", rule.repeat_every_ms);
    if (read) {
        read = read_above_zero(json, "expires_in", "how long a message waits for a consumer", rule.expires_after_ms);
    }
    return read;
}

// As for a schedule.
Result<PutWatchdogCommand> changed_watchdog(const JsonRequest& json, const WatchdogRule& rule,
                                            const MessageContent& content, const HttpApiOptions& options) {
    PutWatchdogCommand command;
    command.rule = rule;
    Status read = read_rule_queue(json, options, command.rule.queue);
    if (read) read = read_times(json, command.rule);
    if (read) read = take(json.boolean("feed"), command.feeds);
    PutCommand put = content_to_change(rule, content);
    if (read) read = read_content_members(json, options, put);
    if (!read) return std::move(read).error();
    set_content(command.rule, put);
    move_content(put, command);
    return command;
}

}  // namespace

Result<Command> read_watchdog_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                   std::string name, const HttpApiOptions& options) {
    const bool is_fed = what == CallPath::What::feed_watchdog;
    const auto changed = [&options](const JsonRequest& json, const WatchdogRule& rule, const MessageContent& content) {
        return changed_watchdog(json, rule, content, options);
    };
    if (!is_fed && request.method == "PUT") {
        return read_put_rule<WatchdogRule>(request, kWatchdogMembers, std::move(name_space), std::move(name), changed);
    }
    if (!is_fed && request.method == "PATCH") {
        return read_patch_rule<WatchdogRule, PatchWatchdogCommand>(request, kWatchdogMembers, std::move(name_space),
                                                                   std::move(name), changed);
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    if (is_fed) return Command(FeedWatchdogCommand{std::move(name_space), std::move(name)});
    if (request.method == "DELETE") return Command(RemoveWatchdogCommand{std::move(name_space), std::move(name)});
    return Command(DescribeWatchdogCommand{std::move(name_space), std::move(name)});
}

Result<Command> read_watchdog_list(const HttpRequest& request, std::string name_space) {
    return read_name_list(request, NameList::watchdogs, "this list of watchdogs",
                          ListWatchdogsCommand{.name_space = std::move(name_space)});
}

}  // namespace duewheel
