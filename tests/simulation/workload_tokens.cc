// Clients that set, rotate, remove and look at access tokens.
#include <memory>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "simulation/workload.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kTokenIds = 4;
constexpr std::size_t kOpenChangesMax = 3;  // of one token: the oracle keeps each order of them

SecretHash secret_of(std::uint64_t number) {
    SecretHash hash{};
    for (std::size_t i = 0; i < sizeof number; ++i) hash[i] = static_cast<std::byte>(number >> (8 * i));
    hash.back() = std::byte{1};
    return hash;
}

}  // namespace

AccessToken Workload::draw_token() {
    AccessToken token;
    token.scopes = ScopeSet::of_bits(static_cast<std::uint8_t>(1 + random_.below((1u << kScopeCount) - 1)));
    if (random_.chance(400'000)) token.scopes.insert(Scope::admin);
    if (random_.chance(500'000)) {
        AccessLimits limits;
        limits.queue_prefix = random_.chance(500'000) ? "q" : "";
        if (limits.queue_prefix.empty() || random_.chance(500'000)) limits.namespaces = {options_.name_spaces[0]};
        token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    }
    if (random_.chance(300'000)) token.description = std::string(random_.below(60), 'd');
    if (random_.chance(300'000)) token.expires_ms = surroundings_.clock() + 1 + draw_delay();
    token.secret = secret_of(random_.below(1'000'000));
    if (random_.chance(300'000)) token.certificate_names = {random_.chance(700'000) ? "a.example" : "b.example"};
    return token;
}

void Workload::change_token() {
    const std::uint64_t drawn = random_.below(12);
    const std::string id = "t" + std::to_string(random_.below(kTokenIds));
    if (drawn < 2) return surroundings_.submit(DescribeTokenCommand{id});
    if (drawn == 2) {
        ListTokensCommand list;
        if (random_.chance(300'000)) list.after = "t1";
        list.limit = random_.chance(500'000) ? 1 : 100;
        return surroundings_.submit(std::move(list));
    }
    const auto known = oracle_.tokens().find(id);
    if (known != oracle_.tokens().end() && known->second.open.size() >= kOpenChangesMax) return;
    ChangeTokenCommand command;
    command.id = id;
    command.keeps_admin = random_.chance(300'000);
    if (drawn < 6) {
        command.change = [](const AccessToken*, DueMs) { return Result<TokenState>(std::nullopt); };
    } else if (drawn < 9) {  // a rotation keeps the old secret for a while
        command.change = [secret = secret_of(random_.below(1'000'000)),
                          until_ms = surroundings_.clock() + draw_delay()](const AccessToken* current,
                                                                           DueMs) -> Result<TokenState> {
            if (current == nullptr) return Error{"unknown_token"_code, "there is none", "id"};
            AccessToken token = *current;
            token.old_secret = token.secret;
            token.old_until_ms = until_ms;
            token.secret = secret;
            return TokenState(std::move(token));
        };
    } else {
        command.change = [token = draw_token()](const AccessToken*, DueMs) { return Result<TokenState>(token); };
    }
    surroundings_.submit(std::move(command));
}

}  // namespace duewheel
