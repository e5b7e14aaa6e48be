#include "arguments.h"

#include <cstdio>

#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "plain_text.h"

namespace duewheel {

CLI::App& add_group(CLI::App& program, const char* name, const char* description, const char* example) {
    CLI::App* group = program.add_subcommand(name, description);
    group->fallthrough();
    group->require_subcommand(1);
    group->footer(std::string("Example:\n  ") + example);
    return *group;
}

void takes_duration(CLI::Option* option) {
    option->type_name("DURATION")
        ->check(CLI::Validator(
            [](const std::string& text) {
                const Result<std::int64_t> parsed = parse_duration(text);
                return parsed ? std::string() : parsed.error().message;
            },
            ""));
}

void WhenArguments::add_to(CLI::App& verb) {
    CLI::Option* after = verb.add_option("--delay,--in", delay, "Due after this time: 250ms, 10m, 3d12h, PT1H");
    takes_duration(after);
    CLI::Option* instant =
        verb.add_option("--due,--at", due, "Due at this time: 2027-01-01T06:00; seconds, Z or +01:00 are optional")
            ->type_name("TIME")
            ->excludes(after);
    verb.add_option("--zone,--tz", zone, "Time zone of --due, such as Europe/Oslo; default: this machine's zone")
        ->type_name("ZONE")
        ->needs(instant);
    takes_duration(verb.add_option("--flex", flex,
                                   "How much later it may be due if its queue has reached its limit for that second"));
}

Status WhenArguments::put_into(boost::json::object& request) const {
    if (delay) request["delay"] = *delay;
    if (flex) request["flex"] = *flex;
    if (!due) return {};
    const Result<InstantMs> instant = parse_local_instant(*due, zone);
    if (!instant) return instant.error();
    request["due"] = format_instant(*instant);
    return {};
}

boost::json::string json_text(std::string_view text) {
    return boost::json::string(text.data(), text.size());
}

int show_change(const Session& session, const ServerAnswer& answer, std::string_view waiting) {
    if (!answer.has_outcome()) return answer.exit_code;
    const std::string_view outcome = answer.word("outcome");
    const bool done = static_cast<bool>(answer);
    const auto people = [&] {
        const std::string shown = printable(outcome);
        const std::int64_t attempts = answer.number("attempts");
        const std::int64_t due = answer.number("due_ms");
        if (!done && outcome != "waiting") std::printf("too late: ");
        std::printf("%s", shown.c_str());
        if (outcome == "waiting") std::printf(": %s", std::string(waiting).c_str());
        if (done && due != 0) std::printf(", due %s", format_when(due).c_str());
        if (attempts > 0) std::printf(", %lld attempt%s", static_cast<long long>(attempts), attempts == 1 ? "" : "s");
        if (is_true(answer.members, "maybe_delivered")) {
            std::printf(", and a delivery may have begun before the server's last start");
        }
        std::printf("\n");
    };
    return session.show(answer, people, answer.exit_code);
}

}  // namespace duewheel
