// duewheel extend: keeps a lease for longer.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ExtendArguments {
    std::string lease;
    std::string length;
};

int extend(Session& session, const ExtendArguments& arguments) {
    boost::json::object request;
    if (!arguments.length.empty()) request["lease"] = arguments.length;
    const ServerAnswer answer = session.ask("POST", session.lease_path(arguments.lease, ":extend"), request);
    return answer ? show_lease_end(session, answer) : answer.exit_code;
}

}  // namespace

void add_extend(CLI::App& program, Session& session) {
    Verb<ExtendArguments> verb(
        program, session, "extend", "Keep a lease for longer, counted from now",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel extend \"$LEASE\" --lease 5m",
        extend);
    verb.app->add_option("LEASE", verb.options->lease, "The lease that `lease` printed")->required();
    takes_duration(verb.app->add_option("--lease", verb.options->length,
                                        "How long from now; default: as the queue says, and never less than is left"));
}

}  // namespace duewheel
