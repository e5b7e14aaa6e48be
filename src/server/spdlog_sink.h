// The daemon's log: every event a line on standard error with its time, written by spdlog. Any thread.
#pragma once

#include <memory>

#include "base/log.h"
#include "server/server_options.h"

namespace spdlog {
class logger;
}

namespace duewheel {

class SpdlogSink final : public LogSink {
  public:
    explicit SpdlogSink(const LogOptions& options);
    ~SpdlogSink() override;

    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override;

  private:
    const LogFormat format_;
    std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace duewheel
