// duewheel cancel: cancels a message, with a definite outcome.
#include "arguments.h"
#include "message_arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct CancelArguments {
    MessageArguments message;
};

int cancel(Session& session, const CancelArguments& arguments) {
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    const ServerAnswer answer = session.ask("DELETE", *path);
    return show_change(session, answer);
}

}  // namespace

void add_cancel(CLI::App& program, Session& session) {
    Verb<CancelArguments> verb(
        program, session, "cancel", "Cancel a message; exits 1 if it is too late",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel cancel \"$ID\"\n"
        "  duewheel put mail 'Hello' --delay 1h --key 'order 7'\n"
        "  duewheel cancel --queue mail --key 'order 7'",
        cancel);
    verb.options->message.add_to(*verb.app);
}

}  // namespace duewheel
