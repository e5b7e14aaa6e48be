#include "access/decision.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::decision_test {
namespace {

AccessToken token_with(ScopeSet scopes, std::vector<std::string> namespaces = {}, std::string prefix = {}) {
    AccessToken token;
    token.id = "t";
    token.scopes = scopes;
    AccessLimits limits{std::move(namespaces), std::move(prefix)};
    if (limits != AccessLimits{}) token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    return token;
}

bool allows(const AccessToken& token, Need need, std::string_view name_space = "a", std::string_view queue = "q") {
    const Status decided = decide(Principal{&token}, need, name_space, queue);
    EXPECT_TRUE(decided || decided.error().code == "forbidden"_code);
    return decided.ok();
}

TEST(Decision, a_call_that_is_not_in_the_table_is_denied) {
    EXPECT_FALSE(decide(Principal{}, Need{}, "a", "q"));
    EXPECT_FALSE(allows(token_with({Scope::admin}), Need{}));
}

TEST(Decision, each_scope_allows_only_its_own_calls) {
    for (std::size_t needed = 0; needed < kScopeCount; ++needed) {
        for (std::size_t has = 0; has < kScopeCount; ++has) {
            const Need need{Reach::queue, static_cast<Scope>(needed)};
            EXPECT_EQ(allows(token_with({static_cast<Scope>(has)}), need), needed == has);
        }
    }
}

TEST(Decision, a_refusal_names_the_scope_that_is_missing) {
    const AccessToken token = token_with({Scope::put});
    const Status decided = decide(Principal{&token}, {Reach::queue, Scope::consume}, "a", "q");
    ASSERT_FALSE(decided);
    EXPECT_NE(decided.error().message.find("`consume`"), std::string::npos) << decided.error().message;
}

TEST(Decision, no_access_exceeds_the_limits_of_a_token) {
    const AccessToken all = token_with({Scope::read});
    const AccessToken of_namespace = token_with({Scope::read}, {"a"});
    const AccessToken of_queues = token_with({Scope::read}, {}, "q-");
    const struct {
        Reach reach;
        bool own_namespace, other_namespace, own_queue, other_queue;
    } rows[] = {{Reach::no_token, true, true, true, true},
                {Reach::any_token, true, true, true, true},
                {Reach::queue, true, false, true, false},
                {Reach::name_space, true, false, true, true},
                {Reach::whole_namespace, true, false, false, false},
                {Reach::list, true, true, false, false},
                {Reach::server, false, false, false, false}};
    for (const auto& row : rows) {
        SCOPED_TRACE(static_cast<int>(row.reach));
        const Need need{row.reach, Scope::read};
        EXPECT_TRUE(allows(all, need));
        EXPECT_EQ(allows(of_namespace, need, "a"), row.own_namespace);
        EXPECT_EQ(allows(of_namespace, need, "b"), row.other_namespace);
        EXPECT_EQ(allows(of_queues, need, "a", "q-1"), row.own_queue);
        EXPECT_EQ(allows(of_queues, need, "a", "r"), row.other_queue);
    }
}

TEST(Decision, without_a_token_all_is_allowed_if_none_is_required) {
    EXPECT_TRUE(decide(Principal{}, {Reach::server, Scope::admin}, "", ""));
}

}  // namespace
}  // namespace duewheel::decision_test
