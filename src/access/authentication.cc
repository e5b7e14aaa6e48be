#include "access/authentication.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "access/access_token_text.h"
#include "base/error_codes.h"

namespace duewheel {
namespace {

Error bad_token() {
    return {"bad_token"_code,
            "this is not a valid access token of this server: check that it is complete and has not been replaced or "
            "removed",
            "Authorization"};
}

// The scheme is compared in any case (RFC 9110, 11.1).
std::optional<std::string_view> bearer_of(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    if (authorization.size() < kScheme.size()) return std::nullopt;
    for (std::size_t i = 0; i < kScheme.size(); ++i) {
        const char c = authorization[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return std::nullopt;
    }
    authorization.remove_prefix(kScheme.size());
    while (authorization.starts_with(' ')) authorization.remove_prefix(1);
    return authorization;
}

// `until_ms`: that of what the client presented.
Result<Principal> unless_expired(const AccessToken& token, std::int64_t until_ms, std::int64_t now_ms) {
    if (!token.has_expired(now_ms)) {
        return Principal{&token, token.expires_ms == 0 ? until_ms : std::min(until_ms, token.expires_ms)};
    }
    return Error{"token_expired"_code,
                 "the access token `" + token.id + "` has expired: give it a later `expires`, or use another one",
                 "Authorization"};
}

// Null if there is no such token, or it has another secret.
const AccessToken* find_valid(std::string_view id, const SecretHash& secret, const TokenDirectory& tokens,
                              std::int64_t now_ms) {
    const AccessToken* token = tokens.find_token(id);
    if (token == nullptr) return nullptr;
    const bool is_current = is_same_hash(secret, token->secret);
    const bool is_old = is_same_hash(secret, token->old_secret) && token->old_until_ms > now_ms;
    return is_current || is_old ? token : nullptr;
}

// Until when a secret is valid that find_valid() has found to be the token's.
std::int64_t secret_until_ms(const AccessToken& token, const SecretHash& secret) {
    return is_same_hash(secret, token.secret) ? Principal::kAlways : token.old_until_ms;
}

}  // namespace

Result<Principal> authenticate(const Credentials& credentials, const TokenDirectory& tokens, bool required,
                               std::int64_t now_ms) {
    if (credentials.is_ambiguous) return bad_token();
    if (!credentials.authorization) {
        std::optional<Error> expired;  // of the first name whose token has expired: another name may have a valid one
        for (const std::string& name : credentials.certificate_names) {
            if (credentials.certificate_expires_ms <= now_ms) break;  // it expired while the connection was open
            const AccessToken* token = tokens.find_token_of_certificate(name);
            if (token == nullptr) continue;
            Result<Principal> who = unless_expired(*token, credentials.certificate_expires_ms, now_ms);
            if (who) return who;
            if (!expired) expired = std::move(who).error();
        }
        if (expired) return *std::move(expired);
        if (!required) return Principal{};
        return Error{"token_required"_code,
                     "this server requires an access token: send it as `Authorization: Bearer dw_...`",
                     "Authorization"};
    }
    const std::optional<std::string_view> text = bearer_of(*credentials.authorization);
    const std::optional<PresentedToken> presented = text ? parse_access_token(*text) : std::nullopt;
    if (!presented) return bad_token();
    const SecretHash hash = hash_of_secret(presented->secret);
    const AccessToken* token = find_valid(presented->id, hash, tokens, now_ms);
    if (token == nullptr) return bad_token();
    return unless_expired(*token, secret_until_ms(*token, hash), now_ms);
}

Result<Principal> authenticate_session(const DashboardSession* session, const TokenDirectory& tokens,
                                       std::int64_t now_ms) {
    const AccessToken* token =
        session == nullptr ? nullptr : find_valid(session->token_id, session->secret, tokens, now_ms);
    if (token != nullptr) return unless_expired(*token, secret_until_ms(*token, session->secret), now_ms);
    return Error{"bad_token"_code, "the session of the dashboard has ended: sign in with an access token", "Cookie"};
}

}  // namespace duewheel
