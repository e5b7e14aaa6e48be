#include "server/spdlog_sink.h"

#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "server/json_log_line.h"

namespace duewheel {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

}  // namespace

SpdlogSink::SpdlogSink(const LogOptions& options)
    : format_(options.format),
      logger_(std::make_unique<spdlog::logger>("duewheel", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
    // In JSON the time is one more member, before those of the event.
    logger_->set_pattern(format_ == LogFormat::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z",%v)"
                                                    : "%Y-%m-%dT%H:%M:%S.%e%z %v");
    logger_->set_level(spdlog_level(options.level));
    logger_->flush_on(spdlog::level::debug);
}

SpdlogSink::~SpdlogSink() = default;

void SpdlogSink::write(LogLevel level, std::string_view event, std::string_view message,
                       std::span<const LogField> fields) {
    if (!logger_->should_log(spdlog_level(level))) return;
    const bool json = format_ == LogFormat::json;
    const std::string line =
        json ? json_log_line(level, event, message, fields) : log_line(level, event, message, fields);
    const std::string_view shown = std::string_view(line).substr(json ? 1 : 0);  // the brace stands before the time
    logger_->log(spdlog_level(level), spdlog::string_view_t(shown.data(), shown.size()));
}

}  // namespace duewheel
