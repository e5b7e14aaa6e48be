// duewheel commit and duewheel rollback: settle a message that was put with `prepare`.
#include <cstdio>

#include "arguments.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct SettleArguments {
    std::string id;
};

int settle(Session& session, const SettleArguments& arguments, std::string_view end) {
    const ServerAnswer answer = session.ask("POST", session.path("messages", arguments.id, end));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const bool is_committed = answer.word("outcome") == "committed";
        std::printf("%s  %s\n", printable(answer.word("id")).c_str(), is_committed ? "committed" : "rolled back");
    });
}

int commit(Session& session, const SettleArguments& arguments) {
    return settle(session, arguments, ":commit");
}

int roll_back(Session& session, const SettleArguments& arguments) {
    return settle(session, arguments, ":rollback");
}

constexpr char kId[] = "The id that `prepare` printed, or that a check message names";

}  // namespace

void add_commit(CLI::App& program, Session& session) {
    Verb<SettleArguments> verb(
        program, session, "commit", "Commit a prepared message: it is delivered; exits 1 if it is too late",
        "ID=$(duewheel prepare mail 'Hello' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel commit \"$ID\"",
        commit);
    verb.app->add_option("ID", verb.options->id, kId)->required();
}

void add_rollback(CLI::App& program, Session& session) {
    Verb<SettleArguments> verb(
        program, session, "rollback", "Roll back a prepared message: it is never delivered; exits 1 if it is too late",
        "ID=$(duewheel prepare mail 'Hello' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel rollback \"$ID\"",
        roll_back);
    verb.app->add_option("ID", verb.options->id, kId)->required();
}

}  // namespace duewheel
