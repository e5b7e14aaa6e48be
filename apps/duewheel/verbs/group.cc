// duewheel group: the groups of a queue, and what each may get.
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/error_codes.h"
#include "field_options.h"
#include "local_time.h"
#include "net/http/http_target.h"
#include "plain_text.h"
#include "resource/group_settings.h"
#include "resource_verbs.h"
#include "shared/system_clock.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr std::int64_t kShownMax = 1000;

struct ListGroupsArguments {
    std::string queue;
    std::string order = "backlog";
    std::string after;
    bool only_limited = false;
    std::uint64_t limit = 100;
};
struct GroupArguments {
    std::string queue;
    std::string group;
    SetOptions settings;   // of `set`
    std::string duration;  // of `backoff`

    void add_to(CLI::App& verb) {
        verb.add_option("QUEUE", queue, "The queue's name")->required();
        verb.add_option("GROUP", group, "The group's name, as puts give it")->required();
    }
    std::string path(const Session& session, std::string_view verb = {}) const {
        return session.path("queues", queue, "/groups/") + percent_encode(group) + std::string(verb);
    }
};

// More messages may be due than are in memory.
std::string ready(const json::object& group) {
    return count_of(group, "ready") + (is_true(group, "ready_is_minimum") ? "+" : "");
}

std::vector<std::string> row_of_group(const json::object& group, InstantMs now) {
    const std::int64_t oldest_ms = number_of(group, "oldest_due_ms");
    const std::int64_t since_ms = number_of(group, "limited_since_ms");
    return {printable(word_of(group, "group")),
            ready(group),
            count_of(group, "leased"),
            oldest_ms == 0 ? "-" : format_relative(oldest_ms, now),
            printable(word_of(group, "limited_by")),
            since_ms == 0 ? "" : format_relative(since_ms, now)};
}

int list_groups(Session& session, const ListGroupsArguments& arguments) {
    std::string path = session.path("queues", arguments.queue, "/groups");
    add_parameter(path, "order", arguments.after.empty() ? arguments.order : "name");
    if (!arguments.after.empty()) add_parameter(path, "after", arguments.after);
    if (arguments.only_limited) add_parameter(path, "limited", "true");
    const InstantMs now = wall_now_ms();
    return show_list(session,
                     {.path = path,
                      .member = "groups",
                      .limit = arguments.limit,
                      .heading = {"group", "ready", "leased", "oldest due", "limited by", "since"},
                      .none = "no groups with due messages, leases or settings"},
                     [&](const auto& group) { return row_of_group(group, now); });
}

int show_group(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const json::object& group = answer.members;
        Rows rows = {{"queue", printable(word_of(group, "queue"))},
                     {"group", printable(word_of(group, "group"))},
                     {"ready", ready(group)},
                     {"leased", count_of(group, "leased")},
                     {"oldest due", when_of(group, "oldest_due_ms")}};
        if (group.contains("limited_by")) rows.push_back({"limited by", printable(word_of(group, "limited_by"))});
        if (group.contains("limited_since_ms")) rows.push_back({"since", when_of(group, "limited_since_ms")});
        if (group.contains("backoff_until_ms")) rows.push_back({"backoff until", when_of(group, "backoff_until_ms")});
        if (const json::object* settings = object_of(group, "settings")) add_settings(rows, *settings);
        std::printf("%s", fields(rows).c_str());
    });
}

int get_group(Session& session, const GroupArguments& arguments) {
    return show_group(session, session.ask("GET", arguments.path(session)));
}

int set_group(Session& session, const GroupArguments& arguments) {
    json::object request;
    arguments.settings.put_into(request);
    if (request.empty() && !arguments.settings.replaces) {
        return session.complain({"missing_argument"_code, "Give a setting, such as --leased 2, or --unset leased."},
                                kExitUsage);
    }
    return show_group(session, session.ask(arguments.settings.method(), arguments.path(session), request));
}

int remove_group(Session& session, const GroupArguments& arguments) {
    return show_group(session, session.ask("DELETE", arguments.path(session)));
}

int back_off_group(Session& session, const GroupArguments& arguments) {
    json::object request;
    request["for"] = json_text(arguments.duration);
    return show_group(session, session.ask("POST", arguments.path(session, ":backoff"), request));
}

}  // namespace

void add_group_verbs(CLI::App& program, Session& session) {
    CLI::App& group = add_group(program, "group", "Groups of a queue: fairness, limits and backoffs",
                                "duewheel group set calls ann --leased 2\n"
                                "  duewheel group list calls --order oldest");
    Verb<ListGroupsArguments> listing(
        group, session, "list",
        "List the groups of a queue that have something due or leased; with --json one per line",
        "duewheel group list calls --order oldest", list_groups);
    listing.app->add_option("QUEUE", listing.options->queue, "The queue's name")->required();
    CLI::Option* const order =
        listing.app->add_option("--order", listing.options->order, "backlog, oldest, leased or name; default: backlog")
            ->type_name("WORD")
            ->check(CLI::IsMember({"backlog", "oldest", "leased", "name"}));
    listing.app->add_option("--after", listing.options->after, "By name, from the first one after this group")
        ->type_name("GROUP")
        ->excludes(order);
    listing.app->add_flag("--limited", listing.options->only_limited, "Only groups that a limit holds back");
    listing.app->add_option("--limit", listing.options->limit, "Maximum number of groups, up to 1000; default: 100")
        ->check(CLI::Range(std::int64_t{1}, kShownMax));
    Verb<GroupArguments> getting(group, session, "get", "Show the settings and counts of a group",
                                 "duewheel group get calls ann", get_group);
    getting.options->add_to(*getting.app);
    Verb<GroupArguments> setting(group, session, "set", "Change settings of a group; the other settings stay unchanged",
                                 "duewheel group set calls ann --leased 2 --rate-count 10 --rate-per 1m --weight 3",
                                 set_group);
    setting.options->add_to(*setting.app);
    setting.options->settings.add_to(*setting.app, fields_of<GroupSettings>().rows());
    Verb<GroupArguments> backing_off(group, session, "backoff", "Deliver nothing of a group for a time; 0s ends that",
                                     "duewheel group backoff calls ann 30s", back_off_group);
    backing_off.options->add_to(*backing_off.app);
    takes_duration(
        backing_off.app->add_option("DURATION", backing_off.options->duration, "Up to 24h: 30s, 5m")->required());
    Verb<GroupArguments> removing(group, session, "rm", "Remove the settings of a group and end its backoff",
                                  "duewheel group rm calls ann", remove_group);
    removing.options->add_to(*removing.app);
}

}  // namespace duewheel
