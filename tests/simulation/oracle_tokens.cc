// Access tokens: an answered change is there after every crash, an unanswered one may be, and a removed token is gone.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

std::int64_t admin_until_ms(const TokenState& state) {
    return state ? state->admin_until_ms() : 0;
}

bool has_name(const TokenState& state, const std::string& name) {
    if (!state) return false;
    const auto& names = state->certificate_names;
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Whatever the token is like.
bool removes(const ChangeTokenCommand& command) {
    const std::optional<TokenState> after = after_change(command, AccessToken());
    return after && !*after;
}

}  // namespace

bool Oracle::is_of_tokens(const Command& command) {
    return std::holds_alternative<ChangeTokenCommand>(command) ||
           std::holds_alternative<DescribeTokenCommand>(command) || std::holds_alternative<ListTokensCommand>(command);
}

void Oracle::token_submitted(const Command& command, ReplyToken token) {
    const auto* change = std::get_if<ChangeTokenCommand>(&command);
    if (change != nullptr) tokens_[change->id].open.emplace(token, *change);
}

void Oracle::tokens_died() {
    for (auto& [id, model] : tokens_) {
        model.states = model.possible();
        model.open.clear();
    }
}

// What a process has after its start. `is_the_server`: clients use this process from now on.
void Oracle::tokens_found(const TokenTable& tokens, bool is_the_server) {
    for (auto& [id, model] : tokens_) {
        const AccessToken* found = tokens.find(id);
        const TokenState state = found != nullptr ? TokenState(*found) : std::nullopt;
        if (!model.may_be(state)) {
            return violate("C1", "after a start, access token " + id +
                                     (state ? " is not as it was set, or was removed" : " is gone"));
        }
        if (!is_the_server) continue;
        if (state) rare_.met(Rare::token_at_start);
        if (model.states.size() > 1) {
            const bool is_as_before = is_same_token(model.states.front(), state);
            rare_.met(is_as_before ? Rare::lost_token_change_found_missing : Rare::lost_token_change_found_there);
        }
        model.settle(state, step_);
    }
}

void Oracle::token_replied(const Request& request, const Reply& reply) {
    if (const auto* error = std::get_if<Error>(&reply)) return token_refused(request, *error);
    if (const auto* list = std::get_if<TokenListAnswer>(&reply)) return tokens_listed(request, *list);
    const auto* answer = std::get_if<TokenAnswer>(&reply);
    if (answer == nullptr) return violate("X", "a command on an access token got a reply of another kind");
    if (const auto* change = std::get_if<ChangeTokenCommand>(&request.command)) {
        return token_changed(request, *change, *answer);
    }
    token_seen(std::get<DescribeTokenCommand>(request.command).id, answer->token);
}

void Oracle::token_seen(const std::string& id, TokenState state) {
    TokenModel& model = tokens_[id];
    if (state && state->id != id) return violate("X", "another access token is returned");
    if (!model.may_be(state)) {
        return violate("C1", "access token " + id + (state ? " has changed by itself, or was removed" : " is gone"));
    }
    model.settle(std::move(state), step_);
}

void Oracle::token_changed(const Request& request, const ChangeTokenCommand& change, const TokenAnswer& answer) {
    TokenModel& model = tokens_[change.id];
    const bool is_removal = answer.removed.has_value();
    const TokenState after = is_removal ? std::nullopt : TokenState(answer.token);
    if (answer.token.id != change.id) return violate("X", "a change of an access token is answered for another one");
    const auto leading_here = [&](std::vector<TokenState> states) {
        std::erase_if(states, [&](const TokenState& state) {
            const std::optional<TokenState> made = after_change(change, state);
            const bool was_there = is_removal ? *answer.removed : !answer.created;
            return !made || !is_same_token(*made, after) || state.has_value() != was_there;
        });
        return states;
    };
    const std::vector<TokenState> before = leading_here(model.possible());
    if (before.empty()) {
        // It came before another change that was answered in this step: what that one led to stands.
        if (model.settled_step == step_ && !leading_here(model.earlier).empty()) return;
        return violate("C1", "a change of access token " + change.id + " led to what it cannot have led to");
    }
    if (before.size() == 1 && before.front() && after) {
        const std::uint32_t made = is_same_token(before.front(), after) ? 0 : 1;
        if (answer.token.revision != before.front()->revision + made) {
            return violate("X", "a change of access token " + change.id + " has the wrong revision");
        }
    }
    if (after) check_certificate_names(request, *after);
    if (change.keeps_admin) check_admin_is_kept(change.id, before, after);
    if (is_removal) {
        rare_.met(*answer.removed ? Rare::token_removed : Rare::token_was_not_there);
    } else {
        rare_.met(answer.created ? Rare::token_made : Rare::token_changed);
    }
    model.settle(after, step_);
}

void Oracle::check_certificate_names(const Request& request, const AccessToken& token) {
    for (const std::string& name : token.certificate_names) {
        for (const auto& [id, other] : tokens_) {
            const TokenState* state = other.surely_since(request.step);
            if (id == token.id || state == nullptr || !has_name(*state, name)) continue;
            return violate("X", "two access tokens have the certificate name " + name);
        }
    }
}

// While tokens are required, one stays that may change all others for as long.
void Oracle::check_admin_is_kept(const std::string& id, const std::vector<TokenState>& before,
                                 const TokenState& after) {
    std::int64_t until_ms = admin_until_ms(before.front());
    for (const TokenState& state : before) until_ms = std::min(until_ms, admin_until_ms(state));
    if (until_ms <= latest() || admin_until_ms(after) >= until_ms) return;
    for (const auto& [other, model] : tokens_) {
        if (other == id) continue;
        for (const TokenState& state : model.possible()) {
            if (admin_until_ms(state) >= until_ms) return;
        }
    }
    violate("X", "the last access token that may change all others is gone");
}

void Oracle::token_refused(const Request& request, const Error& error) {
    const ErrorCode code = error.code;
    if (code == "too_busy"_code) return rare_.met(Rare::too_busy);
    const auto* change = std::get_if<ChangeTokenCommand>(&request.command);
    const auto* named = std::get_if<DescribeTokenCommand>(&request.command);
    if (code == "unknown_token"_code && (change != nullptr || named != nullptr)) {
        rare_.met(Rare::token_unknown);
        return token_seen(change != nullptr ? change->id : named->id, std::nullopt);
    }
    if (change != nullptr && code == "store_full"_code) {
        const LogSpace enough = removes(*change) ? LogSpace::cleaning : LogSpace::reserve;
        if (least_space_ < enough) violate("C11", "a change of an access token is refused for want of space");
        return;
    }
    if (change != nullptr && code == "last_admin"_code) return last_admin_refused(request, *change);
    if (change != nullptr && code == "certificate_name_taken"_code) {
        rare_.met(Rare::certificate_name_taken);
        for (const auto& [id, other] : tokens_) {
            if (id == change->id) continue;
            for (const TokenState& state : other.possible()) {
                if (state && !state->certificate_names.empty()) return;
            }
        }
        return violate("X", "a certificate name is taken, and no other access token has one");
    }
    violate("X", "a command on access tokens is refused with " + std::string(name_of(code)) + ": " + error.message);
}

void Oracle::last_admin_refused(const Request& request, const ChangeTokenCommand& change) {
    rare_.met(Rare::last_admin_kept);
    std::int64_t until_ms = 0;
    bool may_be_shorter = false;
    for (const TokenState& state : tokens_[change.id].possible()) {
        const std::optional<TokenState> after = after_change(change, state);
        until_ms = std::max(until_ms, admin_until_ms(state));
        may_be_shorter |= after && admin_until_ms(*after) < admin_until_ms(state);
    }
    if (!change.keeps_admin || !may_be_shorter) return violate("X", "a change is refused to keep the last admin token");
    for (const auto& [id, other] : tokens_) {
        const TokenState* state = other.surely_since(request.step);
        if (id == change.id || state == nullptr || admin_until_ms(*state) < until_ms) continue;
        return violate("X", "a change is refused to keep the last admin token, and it is not the last one");
    }
}

void Oracle::tokens_listed(const Request& request, const TokenListAnswer& answer) {
    const auto& list = std::get<ListTokensCommand>(request.command);
    if (answer.tokens.size() > list.limit) return violate("C11", "a page of access tokens is longer than its limit");
    if (!answer.complete && answer.tokens.size() < list.limit) {
        return violate("X", "a page of access tokens ends before its limit, and more are said to come");
    }
    rare_.met(Rare::tokens_listed);
    std::string before = list.after;
    std::set<std::string> listed;
    for (const TokenAnswer& each : answer.tokens) {
        if (each.token.id <= before) return violate("X", "a page of access tokens is out of order");
        before = each.token.id;
        listed.insert(before);
        token_seen(before, each.token);
        if (violated()) return;
    }
    for (auto& [id, model] : tokens_) {
        if (id <= list.after || listed.contains(id) || (!answer.complete && id > before)) continue;
        token_seen(id, std::nullopt);
        if (violated()) return;
    }
}

}  // namespace duewheel
