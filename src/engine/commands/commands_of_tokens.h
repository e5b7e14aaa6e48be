// Commands on access tokens, and their replies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "message/access_token.h"
#include "message/message.h"

namespace duewheel {

// Sets, changes or removes an access token (tokens.h). `change` is called when the command is executed, with
// the current token, null if there is none, and the time; it is a pure function. It returns the new token (the engine
// sets its id and revision), or none to remove it; an error refuses the command.
struct ChangeTokenCommand {
    using Change = std::function<Result<std::optional<AccessToken>>(const AccessToken* current, DueMs now_ms)>;
    std::string id;
    Change change;
    bool keeps_admin = false;  // refused if no token would be left that can change all tokens
};

struct DescribeTokenCommand {
    std::string id;
};

// Tokens by id, in byte order, from the first after `after`.
struct ListTokensCommand {
    std::string after;
    std::uint32_t limit = 100;
};

struct TokenAnswer {
    AccessToken token;
    DueMs last_used_ms = 0;       // since the server started; filled in by the interface, not by the engine
    bool created = false;         // by this command
    std::optional<bool> removed;  // reply to a remove: whether it existed
};

struct TokenListAnswer {
    std::vector<TokenAnswer> tokens;
    bool complete = true;  // false: more follow after the last one
};

}  // namespace duewheel
