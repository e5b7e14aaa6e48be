#include "lease_end.h"

#include <cstdio>
#include <utility>

#include "arguments.h"
#include "local_time.h"
#include "plain_text.h"

namespace duewheel {
namespace {

// Prints one line; returns whether the outcome is the requested one.
bool print_lease_end(const boost::json::object& result) {
    const std::string outcome = printable(word_of(result, "outcome"));
    if (outcome.empty()) {  // a problem document
        std::printf("refused: %s (%s)\n", printable(word_of(result, "detail")).c_str(),
                    printable(word_of(result, "code")).c_str());
        return false;
    }
    if (outcome == "expired") {
        std::printf("expired: the lease had already ended; nothing was changed\n");
        return false;
    }
    if (outcome == "dead") {
        std::printf("dead: its attempts are used up; `duewheel kick` returns it to its queue\n");
    } else if (const std::int64_t until = number_of(result, "lease_until_ms"); until != 0) {
        std::printf("%s, leased until %s\n", outcome.c_str(), format_when(until).c_str());
    } else if (const std::int64_t due = number_of(result, "due_ms"); due != 0) {
        std::printf("%s, due %s\n", outcome.c_str(), format_when(due).c_str());
    } else {
        std::printf("%s\n", outcome.c_str());
    }
    return true;
}

bool is_done(const boost::json::object& result) {
    const std::string_view outcome = word_of(result, "outcome");
    return !outcome.empty() && outcome != "expired";
}

int show_results(const Session& session, const ServerAnswer& answer, std::size_t asked) {
    const boost::json::value* results = answer.members.if_contains("results");
    if (results == nullptr || !results->is_array() || results->get_array().size() != asked) {
        return session.complain(
            {"bad_answer", "The address " + session.server.url + " does not belong to a Duewheel server: check it."},
            kExitUnreachable);
    }
    const boost::json::object none;
    int exit_code = kExitDone;
    for (const boost::json::value& value : results->get_array()) {
        const boost::json::object& result = value.is_object() ? value.get_object() : none;
        const bool done = session.json ? is_done(result) : print_lease_end(result);
        if (!done) exit_code = kExitRefused;
    }
    if (session.json) std::printf("%s\n", printable_json(answer.text).c_str());
    return exit_code;
}

}  // namespace

std::string lease_example(const std::string& queue) {
    return "LEASE=$(duewheel lease " + queue + " --wait 5s --json | sed -E 's/.*\"lease\":\"([^\"]+)\".*/\\1/')\n";
}

int end_leases(Session& session, const std::vector<std::string>& leases, std::string_view call,
               boost::json::object members) {
    if (leases.size() == 1) {
        const ServerAnswer answer = session.ask("POST", session.lease_path(leases.front(), call), members);
        return show_lease_end(session, answer);
    }
    boost::json::array& all = members["leases"].emplace_array();
    for (const std::string& lease : leases) all.emplace_back(json_text(lease));
    const ServerAnswer answer = session.ask("POST", "/v1/leases" + std::string(call), members);
    return answer ? show_results(session, answer, leases.size()) : answer.exit_code;
}

int show_lease_end(const Session& session, const ServerAnswer& answer) {
    if (!answer.has_outcome()) return answer.exit_code;
    return session.show(
        answer, [&] { static_cast<void>(print_lease_end(answer.members)); }, answer.exit_code);
}

}  // namespace duewheel
