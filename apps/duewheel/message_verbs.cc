// The verbs that change one message: duewheel commit, rollback, cancel, move, fire, hold, kick and discard.
#include <cstdio>
#include <string>
#include <string_view>

#include "arguments.h"
#include "lease_end.h"
#include "message_arguments.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

constexpr std::string_view kPutExample =
    "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n";
constexpr std::string_view kPrepareExample =
    "ID=$(duewheel prepare mail 'Hello' --answer-in 10m --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n";
constexpr char kId[] = "The id that `put` printed";
constexpr char kPreparedId[] = "The id that `prepare` printed, or that a check message names";

struct CancelArguments {
    MessageArguments message;
};
struct MoveArguments {
    MessageArguments message;
    WhenArguments when;
};
struct HoldArguments {
    std::string id;
    std::string lease;
};

ServerAnswer change(Session& session, std::string_view id, std::string_view verb) {
    return session.ask("POST", session.path("messages", id, verb));
}

int settle(Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const bool is_committed = answer.word("outcome") == "committed";
        std::printf("%s  %s\n", printable(answer.word("id")).c_str(), is_committed ? "committed" : "rolled back");
    });
}

int commit(Session& session, const NameArguments& message) {
    return settle(session, change(session, message.name, ":commit"));
}

int roll_back(Session& session, const NameArguments& message) {
    return settle(session, change(session, message.name, ":rollback"));
}

int cancel(Session& session, const CancelArguments& arguments) {
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    return show_change(session, session.ask("DELETE", *path));
}

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
    return show_change(session, session.ask("PATCH", *path, request));
}

int fire(Session& session, const NameArguments& message) {
    return show_change(session, change(session, message.name, ":fire"));
}

int hold(Session& session, const HoldArguments& arguments) {
    if (arguments.lease.empty()) return show_change(session, change(session, arguments.id, ":hold"));
    return show_lease_end(session, session.ask("POST", session.lease_path(arguments.lease, ":hold")));
}

int kick(Session& session, const NameArguments& message) {
    return show_change(session, change(session, message.name, ":kick"));
}

int discard(Session& session, const NameArguments& message) {
    return show_change(session, change(session, message.name, ":discard"),
                       "it is not a dead letter; use `cancel` to cancel it");
}

}  // namespace

void add_commit(CLI::App& program, Session& session) {
    NamedVerbs(program, session, "ID", kPreparedId)
        .add("commit", "Commit a prepared message: it is delivered; exits 1 if it is too late",
             std::string(kPrepareExample) + "  duewheel commit \"$ID\"", commit);
}

void add_rollback(CLI::App& program, Session& session) {
    NamedVerbs(program, session, "ID", kPreparedId)
        .add("rollback", "Roll back a prepared message: it is never delivered; exits 1 if it is too late",
             std::string(kPrepareExample) + "  duewheel rollback \"$ID\"", roll_back);
}

void add_cancel(CLI::App& program, Session& session) {
    const std::string example = std::string(kPutExample) +
                                "  duewheel cancel \"$ID\"\n"
                                "  duewheel put mail 'Hello' --delay 1h --key 'order 7'\n"
                                "  duewheel cancel --queue mail --key 'order 7'";
    Verb<CancelArguments> verb(program, session, "cancel", "Cancel a message; exits 1 if it is too late",
                               example.c_str(), cancel);
    verb.options->message.add_to(*verb.app);
}

void add_move(CLI::App& program, Session& session) {
    const std::string example =
        std::string(kPutExample) + "  duewheel move \"$ID\" --due 2027-01-01T06:00 --zone Europe/Oslo";
    Verb<MoveArguments> verb(program, session, "move",
                             "Change the due time of a waiting message; exits 1 if it is too late", example.c_str(),
                             move);
    verb.options->message.add_to(*verb.app);
    verb.options->when.add_to(*verb.app);
}

void add_fire(CLI::App& program, Session& session) {
    NamedVerbs(program, session, "ID", kId)
        .add("fire", "Make a waiting message due now; exits 1 if it is too late",
             std::string(kPutExample) + "  duewheel fire \"$ID\"", fire);
}

void add_hold(CLI::App& program, Session& session) {
    const std::string example = std::string(kPutExample) +
                                "  duewheel hold \"$ID\"\n"
                                "  duewheel put mail 'Strange'\n  " +
                                lease_example("mail") + "  duewheel hold --lease \"$LEASE\"";
    Verb<HoldArguments> verb(program, session, "hold",
                             "Hold a message: it is not delivered until `kick`; exits 1 if it is too late",
                             example.c_str(), hold);
    CLI::Option* id = verb.app->add_option("ID", verb.options->id, kId);
    CLI::Option* lease = verb.app->add_option(
        "--lease", verb.options->lease, "Hold the message of this lease, as printed by `lease`, and end the lease");
    lease->type_name("LEASE")->excludes(id);
    verb.app->require_option(1);
}

void add_kick(CLI::App& program, Session& session) {
    NamedVerbs(program, session, "ID", kId)
        .add("kick", "Return a held message or a dead letter to its queue; exits 1 if it is neither",
             std::string(kPutExample) + "  duewheel hold \"$ID\"\n  duewheel kick \"$ID\"", kick);
}

void add_discard(CLI::App& program, Session& session) {
    NamedVerbs(program, session, "ID", kId)
        .add("discard", "End a dead letter for good; exits 1 if the message is not a dead letter",
             "ID=$(duewheel put ruins 'Beyond repair' --retry-attempts 1 --json | sed -E "
             "'s/.*\"id\":\"([0-9]+)\".*/\\1/')\n  " +
                 lease_example("ruins") +
                 "  duewheel fail \"$LEASE\" --reason 'fell apart'\n"
                 "  duewheel discard \"$ID\"",
             discard);
}

}  // namespace duewheel
