// duewheel ack: ends leases; their messages are done.
#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct AckArguments {
    std::vector<std::string> leases;
};

int ack(Session& session, const AckArguments& arguments) {
    return end_leases(session, arguments.leases, ":ack");
}

}  // namespace

void add_ack(CLI::App& program, Session& session) {
    Verb<AckArguments> verb(
        program, session, "ack", "Acknowledge leased messages: they are done; exits 1 if a lease had already ended",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel ack \"$LEASE\"\n"
        "  duewheel put mail 'Hello'; duewheel put mail 'Goodbye'\n"
        "  LEASES=$(duewheel lease mail --max 2 --wait 5s --json | grep -oE '\"lease\":\"[^\"]+' | cut -d'\"' -f4)\n"
        "  duewheel ack $LEASES",
        ack);
    take_leases(*verb.app, verb.options->leases);
}

}  // namespace duewheel
