// The use of tokens since the server started: when each was last used, and how much of its rate limits is used up.
//
// Rates are token buckets with a burst of one second, kept as the time at which the bucket will be full again (GCRA):
//
//     10 requests a second: each moves that time on by 100 ms; one that would move it beyond a second from now is
//     refused. A request larger than the bucket passes when the bucket is full.
//
// Takes the time as an argument; single-threaded. Only tokens that have been used take memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "message/access_token.h"

namespace duewheel {

class TokenActivity {
  public:
    // A request with a body of `bytes`, at `now_ns` by a monotonic clock. 0: it is admitted and counted. Otherwise the
    // milliseconds after which it would be admitted; then it is not counted.
    std::int64_t admit(const AccessToken& token, std::size_t bytes, std::int64_t now_ns);
    void note_use(std::string_view id, std::int64_t server_ms);

    // 0: not since the server started.
    std::int64_t last_used_ms(std::string_view id) const;
    // The token was removed.
    void forget(std::string_view id);

  private:
    struct Use {
        std::int64_t last_used_ms = 0;
        std::int64_t requests_full_ns = 0;
        std::int64_t bytes_full_ns = 0;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
    };

    Use& use_of(std::string_view id);

    std::unordered_map<std::string, Use, Hash, std::equal_to<>> uses_;
};

}  // namespace duewheel
