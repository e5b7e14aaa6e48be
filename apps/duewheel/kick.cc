// duewheel kick: returns a held message or a dead letter to its queue.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct KickArguments {
    std::string id;
};

int kick(Session& session, const KickArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("messages", arguments.id, ":kick"));
    return show_change(session, answer);
}

}  // namespace

void add_kick(CLI::App& program, Session& session) {
    Verb<KickArguments> verb(
        program, session, "kick", "Return a held message or a dead letter to its queue; exits 1 if it is neither",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel hold \"$ID\"\n"
        "  duewheel kick \"$ID\"",
        kick);
    verb.app->add_option("ID", verb.options->id, "The id that `put` printed")->required();
}

}  // namespace duewheel
