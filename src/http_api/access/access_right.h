// What a request that stays open depends on: it may go on as long as the token that admitted it is as it was then. A
// token that was removed, rotated, changed in any other way or has expired ends it, and so does a client certificate or
// an old secret whose time is over, and the end of the dashboard's session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "access/authentication.h"
#include "base/status.h"
#include "shared/instant.h"

namespace duewheel {

struct AccessRight {
    std::string token_id;  // empty: it needs none
    std::uint64_t token_revision = 0;
    InstantMs until_ms = Principal::kAlways;  // by server time
    std::optional<SessionKey> session{};      // of the dashboard, if that is what identifies the client

    static AccessRight of(const Principal& principal);
    // Whether the request may go on at `now_ms`. A session counts as long as it has not been ended: none is unused for
    // long while a request of it is open. Codes: bad_token, token_expired.
    Status check(const TokenDirectory& tokens, const DashboardSessions& sessions, InstantMs now_ms) const;
};

}  // namespace duewheel
