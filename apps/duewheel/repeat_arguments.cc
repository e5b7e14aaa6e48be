#include "repeat_arguments.h"

#include <utility>

#include "arguments.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "retry_arguments.h"

namespace duewheel {

void RepeatArguments::add_to(CLI::App& verb) {
    CLI::Option* rest = verb.add_option("--every", every, "Make it a recurring message, with this interval");
    takes_duration(rest);
    verb.add_option("--times", times, "Number of occurrences; default: until it is cancelled")->needs(rest);
    CLI::Option* growth =
        verb.add_option("--factor", factor, "Factor by which the interval grows each time: 2 doubles it")
            ->type_name("NUMBER");
    growth->needs(rest);
    CLI::Option* longest = verb.add_option("--max", most, "Maximum interval");
    takes_duration(longest);
    longest->needs(growth);
    verb.add_option("--until", until, "No occurrence after this time; format and time zone as for --due")
        ->type_name("TIME")
        ->needs(rest);
}

Status RepeatArguments::put_into(const std::optional<std::string>& zone, boost::json::object& request) const {
    if (every.empty()) return {};
    boost::json::object rule;
    rule["every"] = every;
    if (times) rule["times"] = *times;
    if (!most.empty()) rule["max"] = most;
    if (Status read = put_number_into(factor, "factor", "--factor", rule); !read) return read;
    if (until) {
        const Result<InstantMs> instant = parse_local_instant(*until, zone);
        if (!instant) return Error{instant.error().code, instant.error().message, "--until"};
        rule["until"] = format_instant(*instant);
    }
    request["repeat"] = std::move(rule);
    return {};
}

}  // namespace duewheel
