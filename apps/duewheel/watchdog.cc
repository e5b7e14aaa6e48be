// duewheel watchdog: messages that are delivered when no feed arrives in time. Each verb of `watchdog` is one
// call.
#include <cstdio>
#include <vector>

#include "arguments.h"
#include "body_argument.h"
#include "header_arguments.h"
#include "local_time.h"
#include "pages.h"
#include "plain_json.h"
#include "plain_text.h"
#include "retry_arguments.h"
#include "settings_arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct SetArguments {
    std::string name;
    std::optional<std::string> queue;
    BodyArgument body;
    std::optional<std::string> timeout;
    // String members of the request, by name.
    std::vector<std::pair<const char*, std::optional<std::string>>> texts;
    std::optional<std::int32_t> priority;
    bool feeds = false;
    RetryArguments retry;
    std::vector<std::string> headers;  // "name=value"
    SettingsArguments settings;
};

std::string count(const json::object& object, std::string_view member) {
    return std::to_string(number_of(object, member));
}

std::string when_of(const json::object& object, std::string_view member) {
    const std::int64_t at_ms = number_of(object, member);
    return at_ms == 0 ? "-" : format_when(at_ms);
}

// "30s after its last feed, 5m after the first at most, then every 1h"
std::string times_of(const json::object& settings) {
    std::string words = format_span(number_of(settings, "timeout_ms")) + " after its last feed";
    if (const std::int64_t most = number_of(settings, "max_ms"); most != 0) {
        words += ", " + format_span(most) + " after the first feed at the latest";
    }
    if (const std::int64_t again = number_of(settings, "repeat_every_ms"); again != 0) {
        words += ", then every " + format_span(again);
    }
    return words;
}

void print(const json::object& watchdog) {
    Rows rows = {{"watchdog", printable(word_of(watchdog, "watchdog"))},
                 {"state", printable(word_of(watchdog, "state"))}};
    const json::object* settings = object_of(watchdog, "settings");
    if (settings != nullptr) rows.push_back({"fires", times_of(*settings)});
    rows.push_back({"due", when_of(watchdog, "due_ms")});
    rows.push_back({"last fed", when_of(watchdog, "last_fed_ms") + (is_true(watchdog, "late") ? ", too late" : "")});
    rows.push_back({"feeds", count(watchdog, "feeds")});
    rows.push_back({"fired", count(watchdog, "fired") + "; " + count(watchdog, "merged") + " merged"});
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
        for (const auto& [key, value] : *settings) {
            const std::string member(key.data(), key.size());
            if (member == "timeout_ms" || member == "max_ms" || member == "repeat_every_ms") continue;
            const std::string text = member.ends_with("_ms") ? format_span(number_of(*settings, member))
                                     : value.is_string()     ? std::string(word_of(*settings, member))
                                                             : plain_json(value);
            rows.push_back({setting_name(member), printable(text)});
        }
    }
    std::printf("%s", fields(rows).c_str());
}

int show_watchdog(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print(answer.members); });
}

int set(Session& session, const SetArguments& arguments) {
    json::object request;
    if (arguments.queue) request["queue"] = json_text(*arguments.queue);
    if (arguments.timeout) request["timeout"] = json_text(*arguments.timeout);
    Status read = put_headers_into(arguments.headers, request);
    if (read) read = arguments.retry.put_into(request);
    if (!read) return session.complain(read.error(), kExitUsage);
    for (const auto& [name, text] : arguments.texts) {
        if (text) request[name] = json_text(*text);
    }
    if (arguments.priority) request["priority"] = *arguments.priority;
    if (arguments.feeds) request["feed"] = true;
    read = arguments.body.put_into(request);
    if (!read) return session.complain(read.error(), kExitUsage);
    arguments.settings.put_into(request);
    return show_watchdog(session,
                         session.ask(arguments.settings.method(), session.path("watchdogs", arguments.name), request));
}

int feed(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("watchdogs", arguments.name, ":feed"));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::string late = is_true(answer.members, "late") ? ", too late: it has fired or was due" : "";
        std::printf("fed%s; due %s\n", late.c_str(), when_of(answer.members, "due_ms").c_str());
    });
}

int get(Session& session, const NameArguments& arguments) {
    return show_watchdog(session, session.ask("GET", session.path("watchdogs", arguments.name)));
}

int remove(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", session.path("watchdogs", arguments.name));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf(is_true(answer.members, "removed") ? "removed; messages that it created stay\n"
                                                       : "no watchdog has this name\n");
    });
}

int list(Session& session, const LimitArguments& arguments) {
    const Listing listing = {.path = session.path("watchdogs"),
                             .member = "watchdogs",
                             .limit = arguments.limit,
                             .heading = {"watchdog", "state", "due", "last fed", "fired"},
                             .cut = 2,
                             .none = "no watchdogs"};
    return show_list(session, listing, [&](const json::object& watchdog) {
        return std::vector<std::string>{printable(word_of(watchdog, "watchdog")), printable(word_of(watchdog, "state")),
                                        when_of(watchdog, "due_ms"), when_of(watchdog, "last_fed_ms"),
                                        count(watchdog, "fired")};
    });
}

void add_setting(CLI::App& parent, Session& session) {
    Verb<SetArguments> verb(
        parent, session, "set",
        "Create a watchdog, which also feeds it, or change one; the other settings stay unchanged",
        "duewheel watchdog set backup alarms 'No backup for a day' --timeout 25h --repeat-every 1h\n"
        "  duewheel watchdog set backup --timeout 26h --unset repeat_every\n"
        "  duewheel watchdog set page-7 changed 'Page 7' --timeout 30s --max 5m --feed",
        set);
    SetArguments& options = *verb.options;
    options.texts.reserve(8);  // options keep pointers into it
    const auto text = [&](const char* option, const char* member, const char* help, const char* type) {
        options.texts.emplace_back(member, std::nullopt);
        verb.app->add_option(option, options.texts.back().second, help)->type_name(type);
    };
    verb.app->add_option("NAME", options.name, "The watchdog's name")->required();
    verb.app->add_option("QUEUE", options.queue, "The queue of its messages; required for a new watchdog");
    options.body.add_to(*verb.app, "Content of its messages: a text, - for standard input, @FILE for a file");
    options.settings.add_to(*verb.app);
    verb.app
        ->add_option("--timeout", options.timeout,
                     "It fires this long after its last feed: 30s, 25h; required for a new watchdog")
        ->type_name("DURATION");
    text("--max", "max", "It fires this long after its first feed at the latest; default: no limit", "DURATION");
    text("--repeat-every", "repeat_every", "It fires again at this interval until it is fed; default: it sleeps",
         "DURATION");
    verb.app->add_flag("--feed", options.feeds, "Also feed a watchdog that exists already");
    text("--expires-in", "expires_in", "A message expires if it has not been leased within this time", "DURATION");
    text("--order-key", "order_key", "Order key: messages are delivered one after the other", "KEY");
    verb.app->add_option("--priority", options.priority,
                         "Due messages with smaller values are delivered first; default 0");
    options.retry.add_to(*verb.app);
    verb.app->add_option("--header", options.headers, "Header delivered with each message; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

}  // namespace

void add_watchdog(CLI::App& program, Session& session) {
    CLI::App& watchdog = add_group(program, "watchdog", "Messages created when a feed does not arrive in time",
                                   "duewheel watchdog set backup alarms 'No backup for a day' --timeout 25h\n"
                                   "  duewheel watchdog feed backup\n"
                                   "  duewheel watchdog list");
    const NamedVerbs verbs(watchdog, session, "NAME", "The watchdog's name");
    add_setting(watchdog, session);
    constexpr const char* kExample =
        "duewheel watchdog set backup alarms 'No backup' --timeout 25h\n  duewheel watchdog ";
    const std::string examples[] = {std::string(kExample) + "feed backup", std::string(kExample) + "get backup",
                                    std::string(kExample) + "rm backup"};
    verbs.add("feed", "Feed a watchdog: its timeout counts from now", examples[0], feed);
    verbs.add("get", "Show a watchdog: its feeds and firings", examples[1], get);
    add_listing(watchdog, session, "List watchdogs by name; with --json one per line",
                "duewheel watchdog list --limit 1000", list);
    verbs.add("rm", "Remove a watchdog; messages that it created stay", examples[2], remove);
}

}  // namespace duewheel
