// duewheel schedule: messages at the times of a rule. Each verb of `schedule` is one call.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "arguments.h"
#include "body_argument.h"
#include "calendar/instant_text.h"
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

struct PutArguments {
    std::string name;
    std::optional<std::string> queue;
    BodyArgument body;
    // String members of the request, by name.
    std::vector<std::pair<const char*, std::optional<std::string>>> texts;
    std::optional<std::string> start;
    std::optional<std::string> end;
    std::optional<std::int64_t> times;
    std::optional<std::string> closed;
    std::optional<std::int32_t> priority;
    bool paused = false;
    RetryArguments retry;
    std::vector<std::string> headers;  // "name=value"
    SettingsArguments settings;
};
struct PreviewArguments {
    std::string name;
    std::uint64_t count = 10;
    std::optional<std::string> from;
    std::optional<std::string> zone;
};

std::string count(const json::object& object, std::string_view member) {
    return std::to_string(number_of(object, member));
}

// "cron 0 9 * * MON-FRI, Europe/Oslo"
std::string times_of(const json::object& schedule) {
    const json::object* settings = object_of(schedule, "settings");
    if (settings == nullptr) return "";
    std::string words;
    for (const char* kind : {"cron", "iso", "at"}) {
        const std::string_view text = word_of(*settings, kind);
        if (!text.empty()) words = std::string(kind) + " " + printable(text);
    }
    if (const std::int64_t every_ms = number_of(*settings, "every_ms"); every_ms != 0) {
        words = "every " + format_span(every_ms);
    }
    const std::string_view zone = word_of(*settings, "zone");
    return zone.empty() ? words : words + ", " + printable(zone);
}

std::string next_of(const json::object& schedule) {
    const std::int64_t next_ms = number_of(schedule, "next_ms");
    return next_ms == 0 ? "-" : format_when(next_ms);
}

// Durations and instants in the form used elsewhere.
std::string setting_text(const json::object& settings, const std::string& member, const json::value& value) {
    if (member.ends_with("_ms")) return format_span(number_of(settings, member));
    if (member == "start" || member == "end") {
        const Result<InstantMs> instant = parse_instant(word_of(settings, member));
        if (instant) return format_when(*instant);
    }
    return value.is_string() ? std::string(word_of(settings, member)) : plain_json(value);
}

void print(const json::object& schedule) {
    Rows rows = {{"schedule", printable(word_of(schedule, "schedule"))},
                 {"state", printable(word_of(schedule, "state"))},
                 {"times", times_of(schedule)},
                 {"next", next_of(schedule)}};
    if (const json::object* runs = object_of(schedule, "runs")) {
        rows.push_back({"runs", count(*runs, "made") + " made, " + count(*runs, "late") + " of them late; " +
                                    count(*runs, "manual") + " fired manually; " + count(*runs, "skipped") +
                                    " skipped, " + count(*runs, "merged") + " merged"});
    }
    if (const json::object* last = object_of(schedule, "last_run")) {
        rows.push_back(
            {"last run", printable(word_of(*last, "id")) + " of " + format_when(number_of(*last, "nominal_ms"))});
    }
    if (const std::string_view waits = word_of(schedule, "blocked_by"); !waits.empty()) {
        rows.push_back({"blocked by", printable(waits)});
    }
    if (const json::object* waiting = object_of(schedule, "waiting_run")) {
        rows.push_back({"waits", "the run of " + format_when(number_of(*waiting, "nominal_ms")) +
                                     ", until the previous run ends"});
    }
    if (const json::object* passed = object_of(schedule, "last_skipped")) {
        rows.push_back({"last skipped",
                        count(*passed, "count") + " from " + format_when(number_of(*passed, "from_ms")) + " to " +
                            format_when(number_of(*passed, "to_ms")) + ": " + printable(word_of(*passed, "reason"))});
    }
    rows.push_back({"zone data", printable(word_of(schedule, "zone_data"))});
    if (const json::object* settings = object_of(schedule, "settings")) {
        for (const auto& [key, value] : *settings) {
            const std::string member(key.data(), key.size());
            if (member == "cron" || member == "every_ms" || member == "iso" || member == "at" || member == "zone")
                continue;
            rows.push_back({setting_name(member), printable(setting_text(*settings, member, value))});
        }
    }
    std::printf("%s", fields(rows).c_str());
}

int show_schedule(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print(answer.members); });
}

// The zone of --start and --end: the given one; else the current zone of the schedule, if the call keeps it; else UTC.
std::string zone_of(Session& session, const PutArguments& arguments) {
    for (const auto& [name, value] : arguments.texts) {
        if (std::string_view(name) == "zone" && value) return *value;
    }
    const bool is_asked = arguments.start || arguments.end;
    if (arguments.settings.replaces || !is_asked) return "UTC";
    const ServerAnswer answer = session.get(session.path("schedules", arguments.name));
    const json::object* settings = object_of(answer.members, "settings");
    const std::string zone(settings != nullptr ? word_of(*settings, "zone") : "");
    return zone.empty() ? "UTC" : zone;
}

// An instant in that zone; a text with an offset needs no zone.
Status put_instant(const std::string& zone, const char* member, const std::optional<std::string>& text,
                   json::object& request) {
    if (!text) return {};
    const Result<InstantMs> instant = parse_instant_of_rule(*text, zone);
    if (!instant) {
        const bool is_of_text = instant.error().code == "bad_instant";
        return Error{instant.error().code, instant.error().message, is_of_text ? "--" + std::string(member) : "--zone"};
    }
    request[member] = format_instant(*instant);
    return {};
}

int put(Session& session, const PutArguments& arguments) {
    json::object request;
    if (arguments.queue) request["queue"] = json_text(*arguments.queue);
    const std::string zone = zone_of(session, arguments);
    Status read = put_headers_into(arguments.headers, request);
    if (read) read = arguments.retry.put_into(request);
    if (read) read = put_instant(zone, "start", arguments.start, request);
    if (read) read = put_instant(zone, "end", arguments.end, request);
    if (!read) return session.complain(read.error(), kExitUsage);
    for (const auto& [name, text] : arguments.texts) {
        if (text) request[name] = json_text(std::string_view(name) == "at" ? with_seconds(*text) : *text);
    }
    if (arguments.times) request["times"] = *arguments.times;
    if (arguments.priority) request["priority"] = *arguments.priority;
    if (arguments.paused) request["paused"] = true;
    if (arguments.closed) {
        const Result<std::string> closed = read_body_argument(*arguments.closed);
        if (!closed) return session.complain(closed.error(), kExitUsage);
        request["closed"] = json_text(*closed);
    }
    read = arguments.body.put_into(request);
    if (!read) return session.complain(read.error(), kExitUsage);
    arguments.settings.put_into(request);
    return show_schedule(session,
                         session.ask(arguments.settings.method(), session.path("schedules", arguments.name), request));
}

int get(Session& session, const NameArguments& arguments) {
    return show_schedule(session, session.ask("GET", session.path("schedules", arguments.name)));
}

int pause(Session& session, const NameArguments& arguments) {
    return show_schedule(session, session.ask("POST", session.path("schedules", arguments.name, ":pause")));
}

int resume(Session& session, const NameArguments& arguments) {
    return show_schedule(session, session.ask("POST", session.path("schedules", arguments.name, ":resume")));
}

int fire(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("schedules", arguments.name, ":fire"));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf("%s  %s, due %s\n", printable(answer.word("id")).c_str(), printable(answer.word("state")).c_str(),
                    format_when(answer.number("due_ms")).c_str());
    });
}

int remove(Session& session, const NameArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", session.path("schedules", arguments.name));
    if (!answer) return answer.exit_code;
    const bool was_there = is_true(answer.members, "removed");
    return session.show(answer, [&] {
        std::printf(was_there ? "removed; messages that it created stay\n" : "no schedule has this name\n");
    });
}

int list(Session& session, const LimitArguments& arguments) {
    const Listing listing = {.path = session.path("schedules"),
                             .member = "schedules",
                             .limit = arguments.limit,
                             .heading = {"schedule", "state", "times", "next", "made", "skipped", "merged"},
                             .cut = 2,
                             .none = "no schedules"};
    return show_list(session, listing, [&](const json::object& schedule) {
        const json::object none;
        const json::object* runs = object_of(schedule, "runs");
        if (runs == nullptr) runs = &none;
        return std::vector<std::string>{printable(word_of(schedule, "schedule")),
                                        printable(word_of(schedule, "state")),
                                        times_of(schedule),
                                        next_of(schedule),
                                        count(*runs, "made"),
                                        count(*runs, "skipped"),
                                        count(*runs, "merged")};
    });
}

// "2027-01-01T09:00:00.000+01:00" in a form for users.
std::string local_words(const json::object& time) {
    std::string local = printable(word_of(time, "local"));
    if (local.size() < 24) return local;
    local[10] = ' ';
    const std::string fraction = local.substr(19, 4);
    local.replace(19, 4, fraction == ".000" ? " " : fraction + " ");
    return local;
}

std::string words_for(std::string_view note) {
    if (note == "shifted") return "a clock change skips this time: moved to the end of the gap";
    if (note == "first_pass") return "a clock change repeats this time: the first";
    if (note == "second_pass") return "a clock change repeats this time: the second";
    if (note == "closed_day") return "excluded: a closed day";
    if (note == "skipped_time") return "excluded: a clock change skips this time";
    if (note == "repeated_time") return "excluded: the second of a repeated time";
    return printable(note);
}

int preview(Session& session, const PreviewArguments& arguments) {
    std::string path = session.path("schedules", arguments.name, ":preview");
    add_parameter(path, "count", std::to_string(arguments.count));
    if (arguments.from) {
        const Result<InstantMs> from = parse_local_instant(*arguments.from, arguments.zone);
        if (!from) return session.complain({from.error().code, from.error().message, "--from"}, kExitUsage);
        add_parameter(path, "from", format_instant(*from));
    }
    const ServerAnswer answer = session.ask("GET", path);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::vector<std::pair<std::int64_t, std::vector<std::string>>> lines;
        for (const char* member : {"times", "excluded"}) {
            const json::value* found = answer.members.if_contains(member);
            if (found == nullptr || !found->is_array()) continue;
            for (const json::value& each : found->get_array()) {
                if (!each.is_object()) continue;
                const json::object& time = each.get_object();
                const std::int64_t number = number_of(time, "occurrence");
                std::string why = words_for(word_of(time, "clock_change"));
                if (why.empty()) why = words_for(word_of(time, "reason"));
                const std::int64_t delay_ms = number_of(time, "due_ms") - number_of(time, "nominal_ms");
                if (time.contains("due_ms") && delay_ms > 0) why += (why.empty() ? "+" : "; +") + format_span(delay_ms);
                lines.push_back({number_of(time, "nominal_ms"),
                                 {number == 0 ? "" : std::to_string(number), local_words(time), why}});
            }
        }
        std::stable_sort(lines.begin(), lines.end(),
                         [](const auto& left, const auto& right) { return left.first < right.first; });
        Rows rows = {{"", "local time", ""}};
        for (auto& [at, cells] : lines) rows.push_back(std::move(cells));
        std::printf("%s", rows.size() == 1 ? "no further times\n" : table(rows).c_str());
        if (answer.members.contains("more_excluded")) {
            std::printf("More times are excluded than shown: increase --count to see them.\n");
        }
        if (is_true(answer.members, "paused")) {
            std::printf("The schedule is paused: it creates no runs until it is resumed.\n");
        }
    });
}

void add_setting(CLI::App& parent, Session& session) {
    Verb<PutArguments> verb(
        parent, session, "set", "Create or change a schedule; the other settings stay unchanged",
        "duewheel schedule set report reports 'Make the report' --cron '0 9 * * MON-FRI' --zone Europe/Oslo\n"
        "  duewheel schedule set report --jitter 5m --unset zone\n"
        "  duewheel schedule set beat pulses tick --every 10s --misfire skip\n"
        "  duewheel schedule set closing books 'Close them' --iso R/2026-01-31T18:00:00/P1M --zone Europe/Oslo",
        put);
    PutArguments& options = *verb.options;
    options.texts.reserve(16);  // options keep pointers into it
    const auto text = [&](const char* option, const char* member, const char* help, const char* type) {
        options.texts.emplace_back(member, std::nullopt);
        return verb.app->add_option(option, options.texts.back().second, help)->type_name(type);
    };
    verb.app->add_option("NAME", options.name, "The schedule's name")->required();
    verb.app->add_option("QUEUE", options.queue, "The queue of its messages; required for a new schedule");
    options.body.add_to(*verb.app, "Content of its messages: a text, - for standard input, @FILE for a file");
    options.settings.add_to(*verb.app);
    CLI::Option* cron = text("--cron", "cron", "A cron expression, of 5 to 7 fields", "FIELDS");
    CLI::Option* every = text("--every", "every", "A fixed interval: 10s, 1h", "DURATION");
    CLI::Option* iso = text("--iso", "iso", "An ISO 8601 repeating interval: R5/2027-01-01T09:00:00/P1M", "INTERVAL");
    CLI::Option* at = text("--at", "at", "One time: an instant, or a local time in the zone: 2027-01-01T06:00", "TIME");
    for (CLI::Option* kind : {cron, every, iso, at}) {
        for (CLI::Option* other : {cron, every, iso, at}) {
            if (kind != other) kind->excludes(other);
        }
    }
    text("--zone,--tz", "zone", "Its time zone, such as Europe/Oslo; default UTC", "ZONE");
    text("--dst", "dst", "For a local time that a clock change skips: shift (default), skip", "POLICY");
    text("--dst-repeat", "dst_repeat", "For a local time that a clock change repeats: first (default), both", "POLICY");
    text("--misfire", "misfire", "For missed times: once (default), all, skip", "POLICY");
    text("--misfire-window", "misfire_window", "Maximum age of a missed time that is made up for; default: no limit",
         "DURATION");
    text("--overlap", "overlap", "While the previous run is unfinished: allow (default), skip, queue_one", "POLICY");
    text("--jitter", "jitter", "Delay each run by a random time up to this", "DURATION");
    text("--expires-in", "expires_in", "A run expires if it has not been leased within this time", "DURATION");
    text("--order-key", "order_key", "Order key: runs are delivered one after the other", "KEY");
    verb.app->add_option("--start", options.start, "No run before this time")->type_name("TIME");
    verb.app->add_option("--end", options.end, "No run after this time")->type_name("TIME");
    verb.app->add_option("--times", options.times, "Total number of nominal times; default: unlimited");
    verb.app->add_option("--closed", options.closed, "Days without a run, such as 'SAT SUN 12-25', or @FILE")
        ->type_name("DAYS");
    verb.app->add_option("--priority", options.priority,
                         "Due messages with smaller values are delivered first; default 0");
    verb.app->add_flag("--paused", options.paused, "Pause the schedule: it creates no runs until it is resumed");
    options.retry.add_to(*verb.app);
    verb.app->add_option("--header", options.headers, "Header delivered with each message; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

}  // namespace

void add_schedule(CLI::App& program, Session& session) {
    CLI::App& schedule =
        add_group(program, "schedule", "Messages created by the calendar",
                  "duewheel schedule set report reports 'Make the report' --cron '0 9 * * MON-FRI' --zone Europe/Oslo\n"
                  "  duewheel schedule preview report\n"
                  "  duewheel schedule list");
    const NamedVerbs verbs(schedule, session, "NAME", "The schedule's name");
    add_setting(schedule, session);
    constexpr const char* kExample = "duewheel schedule set beat pulses tick --every 1h\n  duewheel schedule ";
    const std::string examples[] = {std::string(kExample) + "get beat", std::string(kExample) + "pause beat",
                                    std::string(kExample) + "resume beat", std::string(kExample) + "fire beat",
                                    std::string(kExample) + "rm beat"};
    verbs.add("get", "Show a schedule: its rule and its progress", examples[0], get);
    add_listing(schedule, session, "List schedules by name; with --json one per line",
                "duewheel schedule list --limit 1000", list);
    Verb<PreviewArguments> seen(
        schedule, session, "preview", "Show the next times, and the effects of clock changes",
        "duewheel schedule set report reports 'Make it' --cron '30 2 * * *' --zone Europe/Oslo\n"
        "  duewheel schedule preview report --count 5 --from 2027-03-27T00:00 --zone Europe/Oslo",
        preview);
    seen.app->add_option("NAME", seen.options->name, "The schedule's name")->required();
    seen.app->add_option("--count", seen.options->count, "Number of times")->capture_default_str();
    seen.app->add_option("--from", seen.options->from, "Start at this time instead of now")->type_name("TIME");
    seen.app->add_option("--zone,--tz", seen.options->zone, "Time zone of --from")->type_name("ZONE");
    verbs.add("pause", "Pause the schedule: it creates no runs until it is resumed", examples[1], pause);
    verbs.add("resume", "Resume a schedule; times that passed during the pause are skipped", examples[2], resume);
    verbs.add("fire", "Create one run now", examples[3], fire);
    verbs.add("rm", "Remove a schedule; messages that it created stay", examples[4], remove);
}

}  // namespace duewheel
