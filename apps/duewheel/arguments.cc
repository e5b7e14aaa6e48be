#include "arguments.h"

#include <algorithm>
#include <utility>

#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "net/http/http_target.h"
#include "plain_text.h"
#include "shared/system_clock.h"

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
}

Status WhenArguments::put_into(boost::json::object& request) const {
    if (delay) request["delay"] = *delay;
    if (!due) return {};
    const Result<InstantMs> instant = parse_local_instant(*due, zone);
    if (!instant) return instant.error();
    request["due"] = format_instant(*instant);
    return {};
}

boost::json::string json_text(std::string_view text) {
    return boost::json::string(text.data(), text.size());
}

void StretchArguments::add_to(CLI::App& verb, std::string_view what) {
    const std::string stands = std::string(what);
    CLI::Option* first = verb.add_option(
        "--from", from, stands + " at this time or later: 2027-01-01T06:00, 10m (from now), or =-10m (ago)");
    CLI::Option* last = verb.add_option("--to", to, stands + " before this time; in the format of --from");
    first->type_name("TIME");
    last->type_name("TIME");
    verb.add_option("--zone,--tz", zone,
                    "Time zone of --from and --to, such as Europe/Oslo; default: this machine's zone")
        ->type_name("ZONE");
    takes_limit(verb, limit);
}

Result<InstantMs> StretchArguments::instant(const std::string& text) const {
    const bool ago = text.starts_with('-');
    const Result<std::int64_t> apart = parse_duration(ago ? std::string_view(text).substr(1) : std::string_view(text));
    if (!apart) {
        Result<InstantMs> instant = parse_local_instant(text, zone);
        if (instant || instant.error().field != "--due") return instant;
        return Error{instant.error().code, instant.error().message + " A duration such as 10m counts from now.", ""};
    }
    const InstantMs then = wall_now_ms() + (ago ? -*apart : *apart);
    return std::max<InstantMs>(then, 0);
}

// The library's own check of a positive number prints its bounds with three hundred digits.
CLI::Option* takes_at_least_one(CLI::Option* option) {
    const auto positive = [](const std::string& text) {
        const bool zero = text.find_first_not_of("0") == text.npos;
        return zero || text.starts_with('-') ? std::string("must be at least 1") : std::string();
    };
    return option->check(CLI::Validator(positive, ""))->capture_default_str();
}

void takes_limit(CLI::App& verb, std::uint64_t& limit) {
    takes_at_least_one(verb.add_option("--limit", limit, "Maximum number of lines"));
}

void add_parameter(std::string& path, std::string_view name, std::string_view value) {
    path += path.find('?') == std::string::npos ? '?' : '&';
    path.append(name).append("=").append(percent_encode(value));
}

void add_parameter(std::string& path, std::string_view name, const std::vector<std::string>& values) {
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
    if (!values.empty()) add_parameter(path, name, joined);
}

Status StretchArguments::add_parameters(std::string& path, std::string_view from_name, std::string_view to_name) const {
    for (const auto& [name, text] : {std::pair(from_name, from), std::pair(to_name, to)}) {
        if (!text) continue;
        const Result<InstantMs> at = instant(*text);
        if (!at) return at.error();
        add_parameter(path, name, format_instant(*at));
    }
    return {};
}

}  // namespace duewheel
