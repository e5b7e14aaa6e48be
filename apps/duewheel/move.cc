// duewheel move: changes the due time of a waiting message.
#include "arguments.h"
#include "message_arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct MoveArguments {
    MessageArguments message;
    WhenArguments when;
};

int move(Session& session, const MoveArguments& arguments) {
    if (!arguments.when.given()) {
        return session.complain(
            {"missing_member", "Give --delay, such as 10m, or --due, such as 2027-01-01T06:00.", "--delay"},
            kExitUsage);
    }
    boost::json::object request;
    if (Status read = arguments.when.put_into(request); !read) return session.complain(read.error(), kExitUsage);
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    const ServerAnswer answer = session.ask("PATCH", *path, request);
    return show_change(session, answer);
}

}  // namespace

void add_move(CLI::App& program, Session& session) {
    Verb<MoveArguments> verb(
        program, session, "move", "Change the due time of a waiting message; exits 1 if it is too late",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel move \"$ID\" --due 2027-01-01T06:00 --zone Europe/Oslo",
        move);
    verb.options->message.add_to(*verb.app);
    verb.options->when.add_to(*verb.app);
}

}  // namespace duewheel
