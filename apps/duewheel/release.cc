// duewheel release: returns messages to their queue without counting a failed attempt.
#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ReleaseArguments {
    std::vector<std::string> leases;
    std::string delay;
};

int release(Session& session, const ReleaseArguments& arguments) {
    boost::json::object request;
    if (!arguments.delay.empty()) request["delay"] = arguments.delay;
    return end_leases(session, arguments.leases, ":release", std::move(request));
}

}  // namespace

void add_release(CLI::App& program, Session& session) {
    Verb<ReleaseArguments> verb(
        program, session, "release", "Release leases: their messages return to the queue",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel release \"$LEASE\" --delay 10s",
        release);
    take_leases(*verb.app, verb.options->leases);
    takes_duration(verb.app->add_option("--delay,--in", verb.options->delay, "Due after this time; default: at once"));
}

}  // namespace duewheel
