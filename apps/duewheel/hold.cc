// duewheel hold: holds a message, by its id or by its lease.
#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct HoldArguments {
    std::string id;
    std::string lease;
};

int hold(Session& session, const HoldArguments& arguments) {
    if (!arguments.lease.empty()) {
        const ServerAnswer answer = session.ask("POST", session.lease_path(arguments.lease, ":hold"));
        return show_lease_end(session, answer);
    }
    const ServerAnswer answer = session.ask("POST", session.path("messages", arguments.id, ":hold"));
    return show_change(session, answer);
}

}  // namespace

void add_hold(CLI::App& program, Session& session) {
    Verb<HoldArguments> verb(
        program, session, "hold", "Hold a message: it is not delivered until `kick`; exits 1 if it is too late",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel hold \"$ID\"\n"
        "  duewheel put mail 'Strange'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel hold --lease \"$LEASE\"",
        hold);
    CLI::Option* id = verb.app->add_option("ID", verb.options->id, "The id that `put` printed");
    CLI::Option* lease = verb.app->add_option(
        "--lease", verb.options->lease, "Hold the message of this lease, as printed by `lease`, and end the lease");
    lease->type_name("LEASE")->excludes(id);
    verb.app->require_option(1);
}

}  // namespace duewheel
