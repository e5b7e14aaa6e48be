// Changes to a data directory that no server uses.
#pragma once

#include <string>

#include "base/secret.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

// Gives the files of root in the directory to the directory's owner: a command that root runs may not leave files that
// the server's user cannot open. Does nothing for other users, and if the directory
// is root's own. Code: `not_owner`.
Status give_to_owner(const std::string& directory);

// Adds the token to the log as a server would, with a new secret, which it returns. The token's id, scopes, limits,
// expiry and description are set. Codes: `token_exists`, `in_use` if a server runs, `log_is_replicated`, those of
// opening the directory.
Result<Secret> add_token_offline(const std::string& directory, AccessToken token);

}  // namespace duewheel
