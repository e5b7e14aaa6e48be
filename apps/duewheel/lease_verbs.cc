// The verbs that end or extend leases: duewheel ack, fail, extend and release.
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct LeaseEndArguments {
    std::vector<std::string> leases;
    std::string time;
    std::string reason;
};

// The call with these members, without those that were not given.
int end_or_extend(Session& session, const LeaseEndArguments& arguments, const char* call, const char* time = nullptr) {
    boost::json::object members;
    if (!arguments.reason.empty()) members["reason"] = arguments.reason;
    if (!arguments.time.empty()) members[time] = arguments.time;
    return end_leases(session, arguments.leases, call, std::move(members));
}

int ack(Session& session, const LeaseEndArguments& arguments) {
    return end_or_extend(session, arguments, ":ack");
}
int fail(Session& session, const LeaseEndArguments& arguments) {
    return end_or_extend(session, arguments, ":fail", "retry_in");
}
int extend(Session& session, const LeaseEndArguments& arguments) {
    return end_or_extend(session, arguments, ":extend", "lease");
}
int release(Session& session, const LeaseEndArguments& arguments) {
    return end_or_extend(session, arguments, ":release", "delay");
}

Verb<LeaseEndArguments> add_verb(CLI::App& program, Session& session, const char* name, const char* description,
                                 const char* example, int (*run)(Session&, const LeaseEndArguments&)) {
    const std::string whole = "duewheel put mail 'Hello'\n  " + lease_example("mail") + "  " + example;
    Verb<LeaseEndArguments> verb(program, session, name, description, whole.c_str(), run);
    verb.app
        ->add_option("LEASE", verb.options->leases,
                     "The leases, as printed by `lease`; several are sent in one request")
        ->required();
    return verb;
}

void add_time(const Verb<LeaseEndArguments>& verb, const char* name, const char* description) {
    takes_duration(verb.app->add_option(name, verb.options->time, description));
}

}  // namespace

void add_ack(CLI::App& program, Session& session) {
    add_verb(
        program, session, "ack", "Acknowledge leased messages: they are done; exits 1 if a lease had already ended",
        "duewheel ack \"$LEASE\"\n"
        "  duewheel put mail 'Hello'; duewheel put mail 'Goodbye'\n"
        "  LEASES=$(duewheel lease mail --max 2 --wait 5s --json | grep -oE '\"lease\":\"[^\"]+' | cut -d'\"' -f4)\n"
        "  duewheel ack $LEASES",
        ack);
}

void add_fail(CLI::App& program, Session& session) {
    const auto verb =
        add_verb(program, session, "fail",
                 "Report failed attempts: the messages are retried, or become dead letters after their last attempt",
                 "duewheel fail \"$LEASE\" --reason 'no route' --retry-in 1m", fail);
    verb.app->add_option("--reason", verb.options->reason, "The reason, stored with the message")->type_name("TEXT");
    add_time(verb, "--retry-in", "Retry after this time; default: the backoff of the retry rule");
}

void add_extend(CLI::App& program, Session& session) {
    const auto verb =
        add_verb(program, session, "extend", "Extend leases", "duewheel extend \"$LEASE\" --lease 5m", extend);
    add_time(verb, "--lease",
             "New duration, from now; default: the lease of the queue, and never less than the remaining time");
}

void add_release(CLI::App& program, Session& session) {
    const auto verb = add_verb(program, session, "release", "Release leases: their messages return to the queue",
                               "duewheel release \"$LEASE\" --delay 10s", release);
    add_time(verb, "--delay,--in", "Due after this time; default: at once");
}

}  // namespace duewheel
