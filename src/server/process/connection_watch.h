// Logs problems whose reason clients cannot see: that they must wait for a connection, because the maximum number is
// open or the process has no file descriptor left; and that they were disconnected because of responses that they did
// not read.
//
// At most one line of a kind in ten seconds, because such states last. Takes the time as an argument.
#pragma once

#include <cstdint>

#include "base/log.h"
#include "net/http/http_limits.h"

namespace duewheel {

class ConnectionWatch {
  public:
    explicit ConnectionWatch(LogSink& log) : log_(log) {}

    // Call it after each iteration; fast if nothing was paused.
    void check(const HttpCounters& counters, std::int64_t now_ns);

  private:
    struct Kind {
        std::uint64_t logged = 0;  // of the counter, at the last line
        std::int64_t next_line_ns = 0;

        // Whether there is something to log, and enough time has passed.
        bool due(std::uint64_t count, std::int64_t now_ns);
    };

    LogSink& log_;
    Kind full_;
    Kind no_files_;
    Kind cut_;
};

}  // namespace duewheel
