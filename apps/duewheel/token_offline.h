// Adds an access token to a data directory that no server uses: this creates the first token.
#pragma once

#include <string>

#include "base/secret.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// Adds the token to the log as a server would, with a new secret, which it returns. The token's id, scopes, limits,
// expiry and description are set. Codes: `token_exists`, `in_use` if a server runs, `log_is_replicated`, those of
// opening the directory.
Result<Secret> add_token_offline(const std::string& directory, AccessToken token);

}  // namespace duewheel
