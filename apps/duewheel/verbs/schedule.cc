// duewheel schedule: messages at the times of a rule.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "content.h"
#include "field_options.h"
#include "local_time.h"
#include "resource/schedule_fields.h"
#include "resource_verbs.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr ResourceKind kSchedule = {"schedules", "NAME", "The schedule's name"};

struct SetScheduleArguments {
    std::string name;
    std::optional<std::string> queue;
    ContentArguments content;
    SetOptions settings;
};
struct PreviewArguments {
    std::string name;
    std::uint64_t count = 10;
    std::optional<std::string> from;
    std::optional<std::string> zone;
};

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

// "At 09:00, Monday to Friday"
std::string rule_words(const json::object& members) {
    const json::object* words = object_of(members, "words");
    return words == nullptr ? "" : printable(word_of(*words, "en"));
}

void print_schedule(const json::object& schedule) {
    Rows rows = {{"schedule", printable(word_of(schedule, "schedule"))},
                 {"state", printable(word_of(schedule, "state"))},
                 {"times", times_of(schedule)},
                 {"in words", rule_words(schedule)},
                 {"next", when_of(schedule, "next_ms")}};
    if (const json::object* runs = object_of(schedule, "runs")) {
        rows.push_back({"runs", count_of(*runs, "made") + " made, " + count_of(*runs, "late") + " of them late; " +
                                    count_of(*runs, "manual") + " fired manually; " + count_of(*runs, "skipped") +
                                    " skipped, " + count_of(*runs, "merged") + " merged"});
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
                        count_of(*passed, "count") + " from " + format_when(number_of(*passed, "from_ms")) + " to " +
                            format_when(number_of(*passed, "to_ms")) + ": " + printable(word_of(*passed, "reason"))});
    }
    rows.push_back({"zone data", printable(word_of(schedule, "zone_data"))});
    if (const json::object* settings = object_of(schedule, "settings")) {
        add_settings(rows, *settings, {"cron", "every_ms", "iso", "at", "zone"});
    }
    std::printf("%s", fields(rows).c_str());
}

int show_schedule(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_schedule(answer.members); });
}

// The zone of --start and --end: the given one; else the current zone of the schedule, if the call keeps it; else UTC.
std::string zone_of(Session& session, const SetScheduleArguments& arguments, const json::object& request) {
    if (const json::value* zone = request.if_contains("zone")) {
        return zone->is_null() ? "UTC" : std::string(word_of(request, "zone"));
    }
    const bool is_needed = request.contains("start") || request.contains("end");
    if (arguments.settings.replaces || !is_needed) return "UTC";
    const ServerAnswer answer = session.get(kSchedule.path(session, arguments.name));
    const json::object* settings = object_of(answer.members, "settings");
    const std::string zone(settings != nullptr ? word_of(*settings, "zone") : "");
    return zone.empty() ? "UTC" : zone;
}

// Members whose values are not sent as they were given: local times, and days in a file. Others may be null.
Status read_members(Session& session, const SetScheduleArguments& arguments, json::object& request) {
    const std::string zone = zone_of(session, arguments, request);
    for (auto& [key, value] : request) {
        const std::string name(key.data(), key.size());
        const std::string text(word_of(request, name));
        if (!value.is_string()) continue;
        if (name == "at") value = json_text(with_seconds(text));
        if (name == "start" || name == "end") {  // a text with an offset needs no zone
            const Result<InstantMs> instant = parse_instant_of_rule(text, zone);
            if (!instant) {
                const bool is_of_text = instant.error().code == "bad_instant"_code;
                return Error{instant.error().code, instant.error().message, is_of_text ? "--" + name : "--zone"};
            }
            value = json_text(format_instant(*instant));
        }
        if (name == "closed") {
            const Result<std::string> days = read_body_argument(text);
            if (!days) return days.error();
            value = json_text(*days);
        }
    }
    return arguments.content.put_into(request);
}

int set_schedule(Session& session, const SetScheduleArguments& arguments) {
    json::object request;
    arguments.settings.put_into(request);
    if (Status read = read_members(session, arguments, request); !read) {
        return session.complain(read.error(), kExitUsage);
    }
    if (arguments.queue) request["queue"] = json_text(*arguments.queue);
    return show_schedule(session,
                         session.ask(arguments.settings.method(), kSchedule.path(session, arguments.name), request));
}

int show_run(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        std::printf("%s  %s, due %s\n", printable(answer.word("id")).c_str(), printable(answer.word("state")).c_str(),
                    when_of(answer.members, "due_ms").c_str());
    });
}

std::vector<std::string> row_of_schedule(const json::object& schedule) {
    const json::object none;
    const json::object* runs = object_of(schedule, "runs");
    if (runs == nullptr) runs = &none;
    return {printable(word_of(schedule, "schedule")),
            printable(word_of(schedule, "state")),
            times_of(schedule),
            when_of(schedule, "next_ms"),
            count_of(*runs, "made"),
            count_of(*runs, "skipped"),
            count_of(*runs, "merged")};
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

std::string words_for_note(std::string_view note) {
    if (note == "shifted") return "a clock change skips this time: moved to the end of the gap";
    if (note == "first_pass") return "a clock change repeats this time: the first";
    if (note == "second_pass") return "a clock change repeats this time: the second";
    if (note == "closed_day") return "excluded: a closed day";
    if (note == "skipped_time") return "excluded: a clock change skips this time";
    if (note == "repeated_time") return "excluded: the second of a repeated time";
    return printable(note);
}

int preview(Session& session, const PreviewArguments& arguments) {
    std::string path = kSchedule.path(session, arguments.name, ":preview");
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
                std::string why = words_for_note(word_of(time, "clock_change"));
                if (why.empty()) why = words_for_note(word_of(time, "reason"));
                const std::int64_t delay_ms = number_of(time, "due_ms") - number_of(time, "nominal_ms");
                if (time.contains("due_ms") && delay_ms > 0) why += (why.empty() ? "+" : "; +") + format_span(delay_ms);
                lines.push_back({number_of(time, "nominal_ms"),
                                 {number == 0 ? "" : std::to_string(number), local_words(time), why}});
            }
        }
        std::stable_sort(lines.begin(), lines.end(),
                         [](const auto& left, const auto& right) { return left.first < right.first; });
        std::printf("%s, %s\n", rule_words(answer.members).c_str(), printable(answer.word("zone")).c_str());
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

void add_schedule_set(CLI::App& group, Session& session) {
    Verb<SetScheduleArguments> verb(
        group, session, "set", "Create or change a schedule; the other settings stay unchanged",
        "duewheel schedule set report reports 'Make the report' --cron '0 9 * * MON-FRI' --zone Europe/Oslo\n"
        "  duewheel schedule set report --jitter 5m --unset zone\n"
        "  duewheel schedule set beat pulses tick --every 10s --misfire skip\n"
        "  duewheel schedule set closing books 'Close them' --iso R/2026-01-31T18:00:00/P1M --zone Europe/Oslo",
        set_schedule);
    SetScheduleArguments& options = *verb.options;
    verb.app->add_option("NAME", options.name, kSchedule.help)->required();
    verb.app->add_option("QUEUE", options.queue, "The queue of its messages; required for a new schedule");
    options.content.add_to(*verb.app, "Content of its messages: a text, - for standard input, @FILE for a file");
    options.settings.add_to(*verb.app, fields_of<ScheduleRule>().rows());
    constexpr const char* kRules[] = {"cron", "every", "iso", "at"};
    for (const char* rule : kRules) {
        for (const char* other : kRules) {
            if (rule != other) options.settings.fields.at(rule)->excludes(options.settings.fields.at(other));
        }
    }
}

}  // namespace

void add_schedule(CLI::App& program, Session& session) {
    CLI::App& schedule =
        add_group(program, "schedule", "Messages created by the calendar",
                  "duewheel schedule set report reports 'Make the report' --cron '0 9 * * MON-FRI' --zone Europe/Oslo\n"
                  "  duewheel schedule preview report\n"
                  "  duewheel schedule list");
    const ResourceVerbs verbs(schedule, session, kSchedule);
    add_schedule_set(schedule, session);
    const std::string example = "duewheel schedule set beat pulses tick --every 1h\n  duewheel schedule ";
    verbs.add("get", "Show a schedule: its rule and its progress", example + "get beat", "GET", "", show_schedule);
    verbs.add_list("List schedules by name; with --json one per line",
                   {.heading = {"schedule", "state", "times", "next", "made", "skipped", "merged"},
                    .cut = 2,
                    .none = "no schedules"},
                   row_of_schedule);
    Verb<PreviewArguments> seen(
        schedule, session, "preview", "Show the next times, and the effects of clock changes",
        "duewheel schedule set report reports 'Make it' --cron '30 2 * * *' --zone Europe/Oslo\n"
        "  duewheel schedule preview report --count 5 --from 2027-03-27T00:00 --zone Europe/Oslo",
        preview);
    seen.app->add_option("NAME", seen.options->name, kSchedule.help)->required();
    seen.app->add_option("--count", seen.options->count, "Number of times")->capture_default_str();
    seen.app->add_option("--from", seen.options->from, "Start at this time instead of now")->type_name("TIME");
    seen.app->add_option("--zone,--tz", seen.options->zone, "Time zone of --from")->type_name("ZONE");
    verbs.add("pause", "Pause the schedule: it creates no runs until it is resumed", example + "pause beat", "POST",
              ":pause", show_schedule);
    verbs.add("resume", "Resume a schedule; times that passed during the pause are skipped", example + "resume beat",
              "POST", ":resume", show_schedule);
    verbs.add("fire", "Create one run now", example + "fire beat", "POST", ":fire", show_run);
    verbs.add_rm("Remove a schedule; messages that it created stay", example + "rm beat",
                 "removed; messages that it created stay", "no schedule has this name");
}

}  // namespace duewheel
