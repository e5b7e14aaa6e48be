// Tells the operator what clients do not see the reason of: that they have to wait for a connection, because as many
// are open as may be or the process has no file descriptor left; and that they were cut, because of answers they did
// not read.
//
// At most one line of a kind in ten seconds: such states last, and are met again by every client. Told the time.
#pragma once

#include <cstdint>

#include "base/log.h"
#include "net/http_limits.h"

namespace duewheel {

class ConnectionWatch {
  public:
    explicit ConnectionWatch(LogSink& log) : log_(log) {}

    // To be called after each turn; quick where nothing was paused.
    void look(const HttpCounters& counters, std::int64_t now_ns);

  private:
    struct Kind {
        std::uint64_t told = 0;  // of the counter, by the last line
        std::int64_t next_line_ns = 0;

        // Whether there is something to tell, and it may be told now.
        bool due(std::uint64_t count, std::int64_t now_ns);
    };

    LogSink& log_;
    Kind full_;
    Kind no_files_;
    Kind cut_;
};

}  // namespace duewheel
