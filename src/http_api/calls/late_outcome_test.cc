// A client that counts every 2xx as success must not count a command that came too late.
#include "http_api/calls/late_outcome.h"

#include <string>
#include <string_view>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "http_api/answers/lease_text.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::late_outcome_test {
namespace {

const std::string kLease = lease_text({1024, 1, 2, 3});

Call message_call(const std::string& verb) {
    if (verb == "cancel") return {"DELETE", "/v1/messages/1024"};
    if (verb == "move") return {"PATCH", "/v1/messages/1024", R"({"delay":"1s"})"};
    return {"POST", "/v1/messages/1024:" + verb};
}

constexpr std::pair<ChangeOutcome, const char*> kCodes[] = {{ChangeOutcome::cancelled, "already_cancelled"},
                                                            {ChangeOutcome::waiting, "already_waiting"},
                                                            {ChangeOutcome::in_flight, "in_flight"},
                                                            {ChangeOutcome::delivered, "already_delivered"},
                                                            {ChangeOutcome::dead, "already_dead"},
                                                            {ChangeOutcome::expired, "already_expired"},
                                                            {ChangeOutcome::gone, "gone"}};

// Every verb of messages with every outcome that its operation may have.
TEST(LateOutcome, a_late_outcome_is_a_problem_with_the_members_of_the_reply) {
    ApiServer server;
    const std::pair<const char*, ChangeOutcome> verbs[] = {
        {"cancel", ChangeOutcome::cancelled}, {"move", ChangeOutcome::rescheduled},
        {"fire", ChangeOutcome::fired},       {"hold", ChangeOutcome::held},
        {"kick", ChangeOutcome::kicked},      {"discard", ChangeOutcome::cancelled}};
    for (const auto& [verb, wanted] : verbs) {
        for (const auto& [outcome, code] : kCodes) {
            const bool waits = outcome == ChangeOutcome::waiting;
            const bool is_dead = outcome == ChangeOutcome::dead;
            const bool takes_dead = verb == std::string_view("kick") || verb == std::string_view("discard");
            if ((waits && !takes_dead) || (is_dead && takes_dead)) continue;
            SCOPED_TRACE(std::string(verb) + " " + code);
            const std::string answer = server.ask(message_call(verb), ChangeAnswer{outcome, 2, true, 0});
            if (outcome == wanted) {
                EXPECT_EQ(status_of(answer), 200);
                continue;
            }
            EXPECT_EQ(status_of(answer), outcome == ChangeOutcome::gone ? 410 : 409);
            EXPECT_EQ(field_of(answer, "Content-Type"), "application/problem+json");
            const boost::json::object members = boost::json::parse(body_of(answer)).as_object();
            EXPECT_EQ(members.at("code"), code);
            EXPECT_EQ(members.at("status"), status_of(answer));
            EXPECT_EQ(view_of(members.at("outcome").as_string()), change_outcome_name(outcome));
            EXPECT_EQ(members.at("attempts"), 2);
            EXPECT_EQ(members.at("maybe_delivered"), true);
        }
    }
}

TEST(LateOutcome, the_cancel_of_running_work_is_accepted) {
    ApiServer server;
    const ChangeAnswer cancelling{ChangeOutcome::cancelling, 1, false, 0};
    const std::string answer = server.ask({"DELETE", "/v1/messages/1024?running=true"}, cancelling);
    EXPECT_EQ(status_of(answer), 202);
    EXPECT_EQ(member_of(answer, "outcome"), "cancelling");
    LeaseEndAnswer extended{LeaseOutcome::extended, 0, 1'000};
    extended.cancel_requested = true;
    const std::string asked = server.ask({"POST", "/v1/leases/" + kLease + ":extend"}, extended);
    EXPECT_NE(body_of(asked).find(R"("cancel_requested":true)"), std::string::npos);
    EXPECT_EQ(
        status_of(server.ask({"POST", "/v1/leases/" + kLease + ":fail"}, LeaseEndAnswer{LeaseOutcome::cancelled})),
        200);
}

TEST(LateOutcome, an_ended_lease_is_a_problem) {
    ApiServer server;
    for (const char* verb : {"ack", "fail", "extend", "release", "hold"}) {
        SCOPED_TRACE(verb);
        const Call call{"POST", "/v1/leases/" + kLease + ":" + verb};
        const std::string answer = server.ask(call, LeaseEndAnswer{LeaseOutcome::expired});
        EXPECT_EQ(status_of(answer), 409);
        EXPECT_EQ(member_of(answer, "code"), "lease_ended");
        EXPECT_EQ(member_of(answer, "outcome"), "expired");
    }
    // Leases that are longer would not have helped.
    LeaseEndAnswer by_restart{LeaseOutcome::expired};
    by_restart.by_restart = true;
    const std::string answer = server.ask({"POST", "/v1/leases/" + kLease + ":ack"}, by_restart);
    EXPECT_EQ(member_of(answer, "code"), "lease_ended");
    EXPECT_EQ(member_of(answer, "detail").find("the server was restarted"), 0u);
    EXPECT_EQ(answer.find("longer"), std::string::npos);
    // The lease was ended by the call, and the purge ended the message.
    const Call fail{"POST", "/v1/leases/" + kLease + ":fail"};
    EXPECT_EQ(status_of(server.ask(fail, LeaseEndAnswer{LeaseOutcome::purged})), 200);
    EXPECT_EQ(status_of(server.ask(fail, LeaseEndAnswer{LeaseOutcome::dead})), 200);
}

}  // namespace
}  // namespace duewheel::late_outcome_test
