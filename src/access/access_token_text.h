// The text of an access token: "dw_ID_SECRET". The id is public and names the token in settings and logs; the secret
// proves that the caller may use it. Only the SHA-256 of the secret is kept, so neither the log nor a backup can be
// used to make a request.
//
//     dw_billing-eu_Zx0...Q8      id "billing-eu", 43 characters of secret: 32 random bytes as base64url
//
// Thread safe: it has no state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// A token as presented by a client. `id` is a view of the parsed text; the secret has not been verified.
struct PresentedToken {
    std::string_view id;
    Secret secret;
};

inline constexpr std::size_t kAccessTokenIdBytesMax = 40;

// 1 to 40 characters of a-z, 0-9 and "-".
bool is_access_token_id(std::string_view id);

// Fails (io_error) only if the system cannot provide random bytes.
Result<Secret> make_token_secret();

// The id is valid.
Secret access_token_text(std::string_view id, const Secret& secret);

// None if the text does not have that form. The id ends at the first underscore after "dw_": a secret may contain
// underscores, an id cannot.
std::optional<PresentedToken> parse_access_token(std::string_view text);

SecretHash hash_of_secret(const Secret& secret);

// In constant time: the duration does not depend on how many bytes agree.
bool is_same_hash(const SecretHash& left, const SecretHash& right);

}  // namespace duewheel
