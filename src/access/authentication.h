// Identifies the client of a request: by the token that it presents, or by its client certificate.
//
// An invalid token is refused even if none is required: a client that presents one expects its limits to apply. The
// response is the same for every invalid token (malformed, unknown, wrong secret, rotated out), so that guesses do not
// reveal which ids exist. Only a client with the correct secret learns that the token has expired.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "access/dashboard_sessions.h"
#include "access/decision.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// Looks up tokens.
class TokenDirectory {
  public:
    virtual ~TokenDirectory() = default;

    // Null if there is none. Valid until the end of the loop's iteration.
    virtual const AccessToken* find_token(std::string_view id) const = 0;
    virtual const AccessToken* find_token_of_certificate(std::string_view name) const = 0;
};

struct Credentials {
    std::optional<std::string_view> authorization;   // the value of the field; none if there are several
    bool is_ambiguous = false;                       // there are several
    std::span<const std::string> certificate_names;  // subject alternative names of a verified client certificate
    std::int64_t certificate_expires_ms = 0;         // from then on the names have no effect
};

// `required`: whether a request without credentials is refused. Codes: token_required, bad_token, token_expired.
Result<Principal> authenticate(const Credentials& credentials, const TokenDirectory& tokens, bool required,
                               std::int64_t now_ms);

// The client of a session of the dashboard, which was begun with this token; null if there is no such session. Codes:
// bad_token, token_expired.
Result<Principal> authenticate_session(const DashboardSession* session, const TokenDirectory& tokens,
                                       std::int64_t now_ms);

}  // namespace duewheel
