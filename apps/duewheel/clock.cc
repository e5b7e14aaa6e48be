// duewheel clock: server time, and how it differs from the wall clock.
#include <cstdio>

#include "arguments.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct NoArguments {};
struct AdvanceArguments {
    std::optional<std::string> by;
    std::optional<std::string> to;
    std::optional<std::string> zone;
};

std::string words_for(std::string_view state) {
    if (state == "steady") return "steady: server time follows the wall clock";
    if (state == "slow") return "slow: the wall clock was set back; server time runs slower until it catches up";
    if (state == "quarantine") return "quarantine: the wall clock was set ahead, and is trusted after a minute";
    if (state == "held") return "held: the wall clock is too far ahead; if it is right, run `duewheel clock accept`";
    if (state == "test") return "test: server time moves only by `duewheel clock advance`";
    return printable(state);
}

int show_clock(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::int64_t ahead_ms = answer.number("wall_clock_ahead_ms");
        const std::string distance = ahead_ms == 0  ? "the same"
                                     : ahead_ms > 0 ? format_span(ahead_ms) + " ahead"
                                                    : format_span(-ahead_ms) + " behind";
        std::printf("%s", fields({{"server time", format_local(answer.number("server_time_ms"))},
                                  {"wall clock", format_local(answer.number("wall_clock_ms")) + ", " + distance},
                                  {"state", words_for(answer.word("state"))},
                                  {"on a long jump", printable(answer.word("on_jump"))},
                                  {"jumps", std::to_string(answer.number("jumps"))}})
                              .c_str());
    });
}

int show(Session& session, const NoArguments&) {
    return show_clock(session, session.ask("GET", "/v1/clock"));
}

int accept(Session& session, const NoArguments&) {
    return show_clock(session, session.ask("POST", "/v1/clock:accept"));
}

int advance(Session& session, const AdvanceArguments& arguments) {
    json::object request;
    if (arguments.by) request["by"] = json_text(*arguments.by);
    if (arguments.to) {
        const Result<InstantMs> to = parse_local_instant(*arguments.to, arguments.zone);
        if (!to) return session.complain({to.error().code, to.error().message, "--to"}, kExitUsage);
        request["to"] = format_instant(*to);
    }
    if (!arguments.by && !arguments.to) {
        return session.complain({"missing_member", "Give --by, such as 1h, or --to, such as 2027-01-01T06:00", ""},
                                kExitUsage);
    }
    return show_clock(session, session.ask("POST", "/v1/clock:advance", request));
}

}  // namespace

void add_clock(CLI::App& program, Session& session) {
    CLI::App& clock = add_group(program, "clock", "Show, accept or advance the server's clock", "duewheel clock show");
    Verb<NoArguments>(clock, session, "show", "Show server time and the wall clock", "duewheel clock show", show);
    Verb<NoArguments>(clock, session, "accept", "Accept a wall clock that was set far ahead: server time jumps to it",
                      "duewheel clock accept", accept);
    Verb<AdvanceArguments> moved(clock, session, "advance", "Advance the time of a server that runs with --test-clock",
                                 "duewheel clock advance --by 1h", advance);
    CLI::Option* by = moved.app->add_option("--by", moved.options->by, "By this duration: 10m, 30d");
    takes_duration(by->type_name("DURATION"));
    CLI::Option* to = moved.app->add_option("--to", moved.options->to, "To this time")->type_name("TIME");
    by->excludes(to);
    moved.app->add_option("--zone,--tz", moved.options->zone, "Time zone of --to")->type_name("ZONE")->needs(to);
}

}  // namespace duewheel
