// A log sink that records its events, for tests of what operators are told.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace duewheel {

class RecordingLog final : public LogSink {
  public:
    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override {
        const std::lock_guard guard(mutex_);
        events_.emplace_back(event);
        lines_.push_back(log_line(level, event, message, fields));
    }

    // In the order they came.
    std::vector<std::string> lines() const {
        const std::lock_guard guard(mutex_);
        return lines_;
    }
    // Whether an event of exactly this name came.
    bool holds(std::string_view event) const {
        const std::lock_guard guard(mutex_);
        return std::find(events_.begin(), events_.end(), event) != events_.end();
    }
    // How often an event of exactly this name came.
    std::size_t count(std::string_view event) const {
        const std::lock_guard guard(mutex_);
        return static_cast<std::size_t>(std::count(events_.begin(), events_.end(), event));
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> events_;  // guarded by mutex_
    std::vector<std::string> lines_;   // guarded by mutex_
};

}  // namespace duewheel
