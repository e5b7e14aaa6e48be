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

// What a bearer presents. `id` is a view of the parsed text; the secret is not yet known to be right.
struct PresentedToken {
    std::string_view id;
    Secret secret;
};

inline constexpr std::size_t kAccessTokenIdBytesMax = 40;

// 1 to 40 characters of a-z, 0-9 and "-".
bool is_access_token_id(std::string_view id);

// Fails (io_error) only where the system has no random bytes.
Result<Secret> make_token_secret();

// The id is valid.
Secret access_token_text(std::string_view id, const Secret& secret);

// Nothing where the text is not of that form. The id ends at the first underscore after "dw_": a secret may hold
// underscores, an id cannot.
std::optional<PresentedToken> parse_access_token(std::string_view text);

SecretHash hash_of_secret(const Secret& secret);

// In constant time: how long it takes says nothing about how many bytes agree.
bool is_same_hash(const SecretHash& left, const SecretHash& right);

}  // namespace duewheel
