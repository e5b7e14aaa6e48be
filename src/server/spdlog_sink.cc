#include "server/spdlog_sink.h"

#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

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

SpdlogSink::SpdlogSink(LogLevel least)
    : logger_(std::make_unique<spdlog::logger>("duewheel", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
    logger_->set_level(spdlog_level(least));
    logger_->flush_on(spdlog::level::debug);
}

SpdlogSink::~SpdlogSink() = default;

void SpdlogSink::write(LogLevel level, std::string_view event, std::string_view message,
                       std::span<const LogField> fields) {
    const std::string line = log_line(level, event, message, fields);
    logger_->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace duewheel
