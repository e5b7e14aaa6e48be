// duewheel extend: extends leases.
#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ExtendArguments {
    std::vector<std::string> leases;
    std::string length;
};

int extend(Session& session, const ExtendArguments& arguments) {
    boost::json::object request;
    if (!arguments.length.empty()) request["lease"] = arguments.length;
    return end_leases(session, arguments.leases, ":extend", std::move(request));
}

}  // namespace

void add_extend(CLI::App& program, Session& session) {
    Verb<ExtendArguments> verb(
        program, session, "extend", "Extend leases",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel extend \"$LEASE\" --lease 5m",
        extend);
    take_leases(*verb.app, verb.options->leases);
    takes_duration(verb.app->add_option(
        "--lease", verb.options->length,
        "New duration, from now; default: the lease of the queue, and never less than the remaining time"));
}

}  // namespace duewheel
