// duewheel cancel: takes a message back, with a definite answer.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct CancelArguments {
    std::string id;
};

int cancel(Session& session, const CancelArguments& arguments) {
    const ServerAnswer answer = session.ask("DELETE", session.path("messages", arguments.id));
    return show_change(session, answer);
}

}  // namespace

void add_cancel(CLI::App& program, Session& session) {
    Verb<CancelArguments> verb(
        program, session, "cancel", "Take a message back; exits 1 when it is too late for that",
        "ID=$(duewheel put mail 'Hello' --in 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel cancel \"$ID\"",
        cancel);
    verb.app->add_option("ID", verb.options->id, "The id that `put` printed")->required();
}

}  // namespace duewheel
