// Keeps the newest warnings and errors of the log, for clients that follow it, and passes all events on.
//
// A line has a number. Numbers begin with the wall clock in microseconds, so that those of a later process are larger:
// a client that resumes after a restart names the last line that it has, and gets all newer ones.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace duewheel {

class RecentLog final : public LogSink {
  public:
    static constexpr std::size_t kLinesMax = 100;
    static constexpr std::size_t kLineBytesMax = 2'048;

    struct Line {
        std::uint64_t number = 0;
        std::string json;  // {"time_ms":...,"level":"warning","event":...,"message":..., and the fields}
    };

    // `next` outlives this.
    explicit RecentLog(LogSink& next);

    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override;

    // Those with a larger number, in order; of a number that was not issued yet, all. Any thread.
    std::vector<Line> lines_after(std::uint64_t number) const;

  private:
    LogSink& next_;
    mutable std::mutex mutex_;
    std::deque<Line> lines_;  // guarded by mutex_
    std::uint64_t newest_;    // guarded by mutex_
};

}  // namespace duewheel
