#include "engine/settings/tokens.h"

#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_context.h"

namespace duewheel::tokens_test {
namespace {

struct Holder : TrialContext {
    Verdict change(std::string id, std::optional<AccessToken> to, ReplyToken token, bool keeps_admin = false) {
        ChangeTokenCommand command{.id = std::move(id), .keeps_admin = keeps_admin};
        command.change = [to](const AccessToken*, DueMs) -> Result<std::optional<AccessToken>> { return to; };
        const auto apply = [this](const std::string&, Operation& operation) {
            tokens.apply(operation, std::get<ConfRecord>(operation.record));
        };
        return decide([&](auto&& add) { batch(add, apply); }, tokens, std::move(command), token);
    }

    Tokens tokens{context, {}};
};

AccessToken with(ScopeSet scopes) {
    AccessToken token;
    token.scopes = scopes;
    return token;
}

TEST(Tokens, are_created_changed_and_removed) {
    Holder trial;
    trial.change("a", with({Scope::put}), 1);
    EXPECT_TRUE(trial.take<TokenAnswer>(1).created);
    trial.change("a", with({Scope::read}), 2);
    EXPECT_EQ(trial.take<TokenAnswer>(2).token.revision, 2u);
    trial.change("a", std::nullopt, 3);
    EXPECT_EQ(trial.take<TokenAnswer>(3).removed, true);
    EXPECT_EQ(trial.tokens.table().size(), 0u);
    EXPECT_EQ(trial.tokens.table().new_in_batch, 0u);
}

TEST(Tokens, the_last_one_that_can_change_all_of_them_stays) {
    Holder trial;
    trial.change("a", with({Scope::admin}), 1);
    static_cast<void>(trial.take<TokenAnswer>(1));
    trial.change("a", std::nullopt, 2, true);
    EXPECT_EQ(trial.take<Error>(2).code, "last_admin"_code);
    trial.change("b", with({Scope::admin}), 3);
    static_cast<void>(trial.take<TokenAnswer>(3));
    trial.change("a", std::nullopt, 4, true);
    EXPECT_EQ(trial.take<TokenAnswer>(4).removed, true);
}

TEST(Tokens, the_name_of_a_certificate_belongs_to_one) {
    Holder trial;
    AccessToken token = with({Scope::put});
    token.certificate_names = {"orders.example"};
    trial.change("a", token, 1);
    static_cast<void>(trial.take<TokenAnswer>(1));
    trial.change("b", token, 2);
    EXPECT_EQ(trial.take<Error>(2).code, "certificate_name_taken"_code);
    EXPECT_EQ(trial.tokens.table().find_by_certificate("orders.example")->id, "a");
}

}  // namespace
}  // namespace duewheel::tokens_test
