// duewheel watchdog: messages that are delivered when no feed arrives in time.
#include <cstdio>
#include <vector>

#include "content.h"
#include "field_options.h"
#include "local_time.h"
#include "resource/watchdog_fields.h"
#include "resource_verbs.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr ResourceKind kWatchdog = {"watchdogs", "NAME", "The watchdog's name"};

struct SetWatchdogArguments {
    std::string name;
    std::optional<std::string> queue;
    ContentArguments content;
    SetOptions settings;
};

// "30s after its last feed, 5m after the first at most, then every 1h"
std::string firing_times_of(const json::object& settings) {
    std::string words = format_span(number_of(settings, "timeout_ms")) + " after its last feed";
    if (const std::int64_t most = number_of(settings, "max_ms"); most != 0) {
        words += ", " + format_span(most) + " after the first feed at the latest";
    }
    if (const std::int64_t again = number_of(settings, "repeat_every_ms"); again != 0) {
        words += ", then every " + format_span(again);
    }
    return words;
}

void print_watchdog(const json::object& watchdog) {
    Rows rows = {{"watchdog", printable(word_of(watchdog, "watchdog"))},
                 {"state", printable(word_of(watchdog, "state"))}};
    const json::object* settings = object_of(watchdog, "settings");
    if (settings != nullptr) rows.push_back({"fires", firing_times_of(*settings)});
    rows.push_back({"due", when_of(watchdog, "due_ms")});
    rows.push_back({"last fed", when_of(watchdog, "last_fed_ms") + (is_true(watchdog, "late") ? ", too late" : "")});
    rows.push_back({"feeds", count_of(watchdog, "feeds")});
    rows.push_back({"fired", count_of(watchdog, "fired") + "; " + count_of(watchdog, "merged") + " merged"});
    if (const json::object* last = object_of(watchdog, "last_fired")) {
        rows.push_back({"last one", printable(word_of(*last, "id")) + " of " + when_of(*last, "due_ms")});
    }
    if (const json::object* owed = object_of(watchdog, "overdue")) {
        rows.push_back({"overdue", "since " + when_of(*owed, "due_ms") + "; created when its queue accepts it"});
    }
    if (const std::string_view waits = word_of(watchdog, "blocked_by"); !waits.empty()) {
        rows.push_back({"blocked by", printable(waits)});
    }
    if (settings != nullptr) {
        add_settings(rows, *settings, {"timeout_ms", "max_ms", "repeat_every_ms"});
    }
    std::printf("%s", fields(rows).c_str());
}

int show_watchdog(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_watchdog(answer.members); });
}

int set_watchdog(Session& session, const SetWatchdogArguments& arguments) {
    json::object request;
    if (arguments.queue) request["queue"] = json_text(*arguments.queue);
    if (Status read = arguments.content.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    arguments.settings.put_into(request);
    return show_watchdog(session,
                         session.ask(arguments.settings.method(), kWatchdog.path(session, arguments.name), request));
}

int show_feed(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::string late = is_true(answer.members, "late") ? ", too late: it has fired or was due" : "";
        std::printf("fed%s; due %s\n", late.c_str(), when_of(answer.members, "due_ms").c_str());
    });
}

std::vector<std::string> row_of_watchdog(const json::object& watchdog) {
    return {printable(word_of(watchdog, "watchdog")), printable(word_of(watchdog, "state")),
            when_of(watchdog, "due_ms"), when_of(watchdog, "last_fed_ms"), count_of(watchdog, "fired")};
}

void add_watchdog_set(CLI::App& group, Session& session) {
    Verb<SetWatchdogArguments> verb(
        group, session, "set",
        "Create a watchdog, which also feeds it, or change one; the other settings stay unchanged",
        "duewheel watchdog set backup alarms 'No backup for a day' --timeout 25h --repeat-every 1h\n"
        "  duewheel watchdog set backup --timeout 26h --unset repeat_every\n"
        "  duewheel watchdog set page-7 changed 'Page 7' --timeout 30s --max 5m --feed",
        set_watchdog);
    SetWatchdogArguments& options = *verb.options;
    verb.app->add_option("NAME", options.name, kWatchdog.help)->required();
    verb.app->add_option("QUEUE", options.queue, "The queue of its messages; required for a new watchdog");
    options.content.add_to(*verb.app, "Content of its messages: a text, - for standard input, @FILE for a file");
    options.settings.add_to(*verb.app, fields_of<WatchdogRule>().rows());
}

}  // namespace

void add_watchdog(CLI::App& program, Session& session) {
    CLI::App& watchdog = add_group(program, "watchdog", "Messages created when a feed does not arrive in time",
                                   "duewheel watchdog set backup alarms 'No backup for a day' --timeout 25h\n"
                                   "  duewheel watchdog feed backup\n"
                                   "  duewheel watchdog list");
    const ResourceVerbs verbs(watchdog, session, kWatchdog);
    add_watchdog_set(watchdog, session);
    const std::string example = "duewheel watchdog set backup alarms 'No backup' --timeout 25h\n  duewheel watchdog ";
    verbs.add("feed", "Feed a watchdog: its timeout counts from now", example + "feed backup", "POST", ":feed",
              show_feed);
    verbs.add("get", "Show a watchdog: its feeds and firings", example + "get backup", "GET", "", show_watchdog);
    verbs.add_list("List watchdogs by name; with --json one per line",
                   {.heading = {"watchdog", "state", "due", "last fed", "fired"}, .cut = 2, .none = "no watchdogs"},
                   row_of_watchdog);
    verbs.add_rm("Remove a watchdog; messages that it created stay", example + "rm backup",
                 "removed; messages that it created stay", "no watchdog has this name");
}

}  // namespace duewheel
