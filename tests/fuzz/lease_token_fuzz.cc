// Lease tokens from untrusted text: a token has one text, and no unsigned token is accepted.
#include <optional>
#include <string>

#include "engine/commands/lease_token.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "http_api/answers/lease_text.h"

namespace duewheel::lease_token_fuzz {
namespace {

constexpr TokenKey kKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr TokenKey kOtherKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17};

}  // namespace

void fuzz(std::string_view input) {
    const LeaseSigner signer(kKey);
    if (const std::optional<LeaseToken> token = parse_lease_text(input)) {
        require(lease_text(*token) == input, "two texts name one lease");
        const LeaseToken signed_token = signer.sign(token->id, token->attempt, token->incarnation);
        require(signer.is_genuine(*token) == (signed_token == *token), "a token was taken that nobody signed");
    }
    InputScript script(input);
    const MessageId id = script.number();
    const auto attempt = static_cast<std::uint32_t>(script.number());
    const LeaseToken token = signer.sign(id, attempt, script.number());
    require(signer.is_genuine(token), "a signed token is not genuine");
    require(!LeaseSigner(kOtherKey).is_genuine(token), "another key takes the token");
    const std::string text = lease_text(token);
    require(parse_lease_text(text) == token, "a token is another after writing");
    // One letter changed: no token, or none that is genuine.
    std::string changed = text;
    const std::size_t index = script.below(static_cast<unsigned>(text.size()));
    changed[index] = static_cast<char>(script.byte());
    if (changed == text) return;
    const std::optional<LeaseToken> forged = parse_lease_text(changed);
    require(!forged || !signer.is_genuine(*forged), "a changed token is genuine", changed);
}

}  // namespace duewheel::lease_token_fuzz
