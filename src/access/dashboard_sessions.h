// The sessions of the dashboard: each session is a random id in the cookie of a browser, and the token that it was
// begun with. A cookie that leaks is worth less than the token: it ends with the logout, with eight hours without a
// request, and with the server.
//
// Sessions are in memory only, by the hash of their id. A session keeps the hash of the secret that it was begun with,
// so that removing or rotating the token ends it (authenticate_session). Takes the time as an argument;
// single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/secret.h"
#include "base/status.h"
#include "message/access_token.h"

namespace duewheel {

struct DashboardSession {
    std::string token_id;
    SecretHash secret{};  // of the token
};

// Identifies a session without being able to continue it.
using SessionKey = SecretHash;
SessionKey session_key(std::string_view id);

class DashboardSessions {
  public:
    static constexpr std::int64_t kIdleNs = std::int64_t{8} * 3'600'000'000'000;
    // One more ends the session of this token that was unused for longest.
    static constexpr std::size_t kPerToken = 50;

    // The id of a new session: 43 letters, digits, - and _. Times are those of a monotonic clock. Fails (io_error) only
    // if the system cannot provide random bytes. O(sessions).
    Result<Secret> begin(DashboardSession session, std::int64_t now_ns);
    // Null: there is none, or not any more. Counts as a use. Valid until the next call that is not const. O(log n).
    const DashboardSession* use(const SessionKey& key, std::int64_t now_ns);
    // Returns the id of its token; empty: there was none.
    std::string end(const SessionKey& key);
    // Whether it has not been ended. Is no use, and does not end one that has been unused for long.
    bool contains(const SessionKey& key) const { return sessions_.contains(key); }

    std::size_t size() const { return sessions_.size(); }

  private:
    struct Entry {
        DashboardSession session;
        std::int64_t used_ns = 0;
    };

    std::map<SessionKey, Entry> sessions_;
};

}  // namespace duewheel
