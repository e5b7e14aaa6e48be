// What the oracle knows of an access token: every state that is possible after what clients saw.
//
// A change whose response was lost in a crash leaves two possible states; the next response, or the next start, removes
// those that it contradicts. The engine executes the changes of one token in the order of their responses, but for
// those of one step: a change that finds nothing to do is answered before the change of the commit that came before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/commands/command.h"

namespace duewheel {

using TokenState = std::optional<AccessToken>;  // empty: there is no such token

inline bool is_same_token(const TokenState& left, const TokenState& right) {
    return left.has_value() == right.has_value() && (!left || left->says_the_same(*right));
}

// The state after the change; none if the change is refused.
inline std::optional<TokenState> after_change(const ChangeTokenCommand& command, const TokenState& before) {
    Result<TokenState> changed = command.change(before ? &*before : nullptr, 0);
    if (!changed) return std::nullopt;
    TokenState after = *std::move(changed);
    if (after) after->id = command.id;
    return after;
}

struct TokenModel {
    std::vector<TokenState> states{std::nullopt};     // the first one is the last that a response reported
    std::uint64_t settled_step = 0;                   // the step of that response
    std::map<ReplyToken, ChangeTokenCommand> open{};  // changes without a response
    std::vector<TokenState> earlier{};                // what was possible before the responses of that step

    // The states, and those that open changes may have led to, in any order.
    std::vector<TokenState> possible() const {
        std::vector<TokenState> all = states;
        for (std::size_t at = 0; at < all.size(); ++at) {
            for (const auto& [token, command] : open) {
                std::optional<TokenState> next = after_change(command, TokenState(all[at]));
                if (next && !contains(all, *next)) all.push_back(*std::move(next));
            }
        }
        return all;
    }
    // The state, if it is certain and was so before that step; else null.
    const TokenState* surely_since(std::uint64_t step) const {
        return states.size() == 1 && open.empty() && settled_step < step ? &states.front() : nullptr;
    }
    bool may_be(const TokenState& state) const { return contains(possible(), state); }
    void settle(TokenState state, std::uint64_t step) {
        if (settled_step != step) earlier.clear();
        for (const TokenState& before : possible()) {
            if (!contains(earlier, before)) earlier.push_back(before);
        }
        states = {std::move(state)};
        settled_step = step;
    }

    static bool contains(const std::vector<TokenState>& states, const TokenState& state) {
        for (const TokenState& each : states) {
            if (is_same_token(each, state)) return true;
        }
        return false;
    }
};

}  // namespace duewheel
