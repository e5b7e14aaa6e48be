// duewheel ack: ends a lease, its message is done.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct AckArguments {
    std::string lease;
};

int ack(Session& session, const AckArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.lease_path(arguments.lease, ":ack"));
    return answer ? show_lease_end(session, answer) : answer.exit_code;
}

}  // namespace

void add_ack(CLI::App& program, Session& session) {
    Verb<AckArguments> verb(
        program, session, "ack", "End a lease: its message is done",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel ack \"$LEASE\"",
        ack);
    verb.app->add_option("LEASE", verb.options->lease, "The lease that `lease` printed")->required();
}

}  // namespace duewheel
