#include "http_api/calls/recent_log.h"

#include <algorithm>
#include <utility>

#include "http_api/calls/json_log_line.h"
#include "shared/system_clock.h"

namespace duewheel {

RecentLog::RecentLog(LogSink& next) : next_(next), newest_(static_cast<std::uint64_t>(wall_now_ms()) * 1'000) {}

void RecentLog::write(LogLevel level, std::string_view event, std::string_view message,
                      std::span<const LogField> fields) {
    next_.write(level, event, message, fields);
    if (level < LogLevel::warning) return;
    std::string line = json_log_line(level, event, message, fields);
    // Fields may be long, such as a path; sentences are written in the source.
    if (line.size() > kLineBytesMax) line = json_log_line(level, event, message.substr(0, kLineBytesMax / 2), {});
    line = "{\"time_ms\":" + std::to_string(wall_now_ms()) + "," + line.substr(1);
    const std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back({++newest_, std::move(line)});
    if (lines_.size() > kLinesMax) lines_.pop_front();
}

std::vector<RecentLog::Line> RecentLog::lines_after(std::uint64_t number) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto first = number > newest_ ? lines_.begin()
                                        : std::find_if(lines_.begin(), lines_.end(),
                                                       [number](const Line& line) { return line.number > number; });
    return {first, lines_.end()};
}

}  // namespace duewheel
