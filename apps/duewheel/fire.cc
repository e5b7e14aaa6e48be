// duewheel fire: makes a waiting message due now.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct FireArguments {
    std::string id;
};

int fire(Session& session, const FireArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("messages", arguments.id, ":fire"));
    return show_change(session, answer);
}

}  // namespace

void add_fire(CLI::App& program, Session& session) {
    Verb<FireArguments> verb(
        program, session, "fire", "Make a waiting message due now; exits 1 if it is too late",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel fire \"$ID\"",
        fire);
    verb.app->add_option("ID", verb.options->id, "The id that `put` printed")->required();
}

}  // namespace duewheel
