#include "http_api/access/access_right.h"

#include "base/error_codes.h"

namespace duewheel {

AccessRight AccessRight::of(const Principal& principal) {
    if (principal.token == nullptr) return {};
    return {principal.token->id, principal.token->revision, principal.until_ms, principal.session};
}

Status AccessRight::check(const TokenDirectory& tokens, const DashboardSessions& sessions, InstantMs now_ms) const {
    if (token_id.empty()) return {};
    const AccessToken* token = tokens.find_token(token_id);
    if (token == nullptr || token->revision != token_revision) {
        return Error{"bad_token"_code,
                     "the access token `" + token_id +
                         "` was changed or removed while this request was open: send it again with a valid token",
                     "Authorization"};
    }
    if (session && !sessions.contains(*session)) {
        return Error{"bad_token"_code,
                     "the session of the dashboard has ended while this request was open: sign in with an access token",
                     "Cookie"};
    }
    if (until_ms > now_ms) return {};
    return Error{
        "token_expired"_code,
        "the access token `" + token_id + "`, or what identified its holder, has expired while this request was open",
        "Authorization"};
}

}  // namespace duewheel
