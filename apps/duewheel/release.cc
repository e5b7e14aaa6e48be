// duewheel release: gives a message back without an attempt having failed.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ReleaseArguments {
    std::string lease;
    std::string in;
};

int release(Session& session, const ReleaseArguments& arguments) {
    boost::json::object request;
    if (!arguments.in.empty()) request["delay"] = arguments.in;
    const ServerAnswer answer = session.ask("POST", session.lease_path(arguments.lease, ":release"), request);
    return answer ? show_lease_end(session, answer) : answer.exit_code;
}

}  // namespace

void add_release(CLI::App& program, Session& session) {
    Verb<ReleaseArguments> verb(
        program, session, "release", "End a lease: its message goes to somebody else",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel release \"$LEASE\" --in 10s",
        release);
    verb.app->add_option("LEASE", verb.options->lease, "The lease that `lease` printed")->required();
    takes_duration(verb.app->add_option("--in", verb.options->in, "After this time; else at once"));
}

}  // namespace duewheel
