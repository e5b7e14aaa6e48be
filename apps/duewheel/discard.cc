// duewheel discard: ends a dead letter for good.
#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct DiscardArguments {
    std::string id;
};

int discard(Session& session, const DiscardArguments& arguments) {
    const ServerAnswer answer = session.ask("POST", session.path("messages", arguments.id, ":discard"));
    return show_change(session, answer, "it is not a dead letter; use `cancel` to cancel it");
}

}  // namespace

void add_discard(CLI::App& program, Session& session) {
    Verb<DiscardArguments> verb(
        program, session, "discard", "End a dead letter for good; exits 1 if the message is not a dead letter",
        "ID=$(duewheel put ruins 'Beyond repair' --retry-attempts 1 --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  LEASE=$(duewheel lease ruins --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel fail \"$LEASE\" --reason 'fell apart'\n"
        "  duewheel discard \"$ID\"",
        discard);
    verb.app->add_option("ID", verb.options->id, "The id that `put` printed")->required();
}

}  // namespace duewheel
