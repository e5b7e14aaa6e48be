#include "http_api/requests/watchdog_request.h"

#include <span>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "http_api/answers/name_page.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/rule_members.h"
#include "resource/watchdog_fields.h"

namespace duewheel {
namespace {

// As for a schedule.
Result<PutWatchdogCommand> changed_watchdog(const JsonRequest& json, const WatchdogRule& rule,
                                            const MessageContent& content, const HttpApiOptions& options) {
    PutWatchdogCommand command;
    command.rule = rule;
    Status read = read_rule_queue(json, options, command.rule.queue);
    if (read) read = read_known_fields(json, fields_of<WatchdogRule>(), &command.rule);
    if (read) read = assign(json.boolean("feed"), command.feeds);
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
    const std::span<const std::string_view> known = fields_of<WatchdogRule>().members_of({});
    const auto changed = [&options](const JsonRequest& json, const WatchdogRule& rule, const MessageContent& content) {
        return changed_watchdog(json, rule, content, options);
    };
    if (!is_fed && request.method == "PUT") {
        return read_put_rule<WatchdogRule>(request, known, std::move(name_space), std::move(name), changed);
    }
    if (!is_fed && request.method == "PATCH") {
        return read_patch_rule<WatchdogRule, PatchWatchdogCommand>(request, known, std::move(name_space),
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
