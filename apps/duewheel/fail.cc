// duewheel fail: ends leases as failed; their messages are retried, or become dead letters.
#include "arguments.h"
#include "lease_end.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct FailArguments {
    std::vector<std::string> leases;
    std::string reason;
    std::string retry_in;
};

int fail(Session& session, const FailArguments& arguments) {
    boost::json::object request;
    if (!arguments.reason.empty()) request["reason"] = arguments.reason;
    if (!arguments.retry_in.empty()) request["retry_in"] = arguments.retry_in;
    return end_leases(session, arguments.leases, ":fail", std::move(request));
}

}  // namespace

void add_fail(CLI::App& program, Session& session) {
    Verb<FailArguments> verb(
        program, session, "fail",
        "Report failed attempts: the messages are retried, or become dead letters after their last attempt",
        "duewheel put mail 'Hello'\n"
        "  LEASE=$(duewheel lease mail --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n"
        "  duewheel fail \"$LEASE\" --reason 'no route' --retry-in 1m",
        fail);
    take_leases(*verb.app, verb.options->leases);
    verb.app->add_option("--reason", verb.options->reason, "The reason, stored with the message")->type_name("TEXT");
    takes_duration(verb.app->add_option("--retry-in", verb.options->retry_in,
                                        "Retry after this time; default: the backoff of the retry rule"));
}

}  // namespace duewheel
