// The daemon's log: every event a line on standard error with its local time, as text or as a JSON object. Any thread.
#pragma once

#include <mutex>

#include "base/log.h"
#include "server/limits/server_options.h"

namespace duewheel {

class ServerLog final : public LogSink {
  public:
    // Writes to `descriptor`. Events below the level of the options are dropped, and so is a line that cannot be
    // written.
    explicit ServerLog(const LogOptions& options, int descriptor = 2) : options_(options), descriptor_(descriptor) {}

    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override;

  private:
    const LogOptions options_;
    const int descriptor_;
    std::mutex mutex_;  // held while a line is written, so that lines do not mix
};

}  // namespace duewheel
