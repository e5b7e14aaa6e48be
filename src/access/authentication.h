// Who makes a request: the token that it presents, or the one that its client certificate stands for.
//
// A token that is not valid is refused even where none is required: a client that presents one believes that it is
// limited. Why a token is not valid is not told apart (malformed, unknown, wrong secret, rotated out): the answers to
// guesses would tell which ids there are. Only a caller with the right secret learns that the token has expired.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "access/decision.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// Where tokens are looked up.
class TokenDirectory {
  public:
    virtual ~TokenDirectory() = default;

    // Null where there is none. Valid until the end of the loop's turn.
    virtual const AccessToken* find_token(std::string_view id) const = 0;
    virtual const AccessToken* find_token_of_certificate(std::string_view name) const = 0;
};

struct Credentials {
    std::optional<std::string_view> authorization;   // the value of the field; of several, none is right
    bool is_ambiguous = false;                       // there are several
    std::span<const std::string> certificate_names;  // subject alternative names of a verified client certificate
    std::int64_t certificate_expires_ms = 0;         // from then on the names count for nothing
};

// `required`: whether a request without credentials is refused. Codes: token_required, bad_token, token_expired.
Result<Principal> authenticate(const Credentials& credentials, const TokenDirectory& tokens, bool required,
                               std::int64_t now_ms);

}  // namespace duewheel
