#include "server/process/server_log.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <unistd.h>

#include "http_api/calls/json_log_line.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

// "2027-01-01T06:00:00.000+00:00"
std::string local_time_text(InstantMs instant) {
    const std::time_t seconds = instant / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 32> whole{};
    std::strftime(whole.data(), whole.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    const long offset_minutes = parts.tm_gmtoff / 60;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s.%03d%c%02ld:%02ld", whole.data(), static_cast<int>(instant % 1000),
                  offset_minutes < 0 ? '-' : '+', std::labs(offset_minutes) / 60, std::labs(offset_minutes) % 60);
    return text.data();
}

}  // namespace

void ServerLog::write(LogLevel level, std::string_view event, std::string_view message,
                      std::span<const LogField> fields) {
    if (level < options_.level) return;
    std::string line = local_time_text(wall_now_ms());
    if (options_.format == LogFormat::json) {
        // The time is the first member.
        line = "{\"time\":\"" + line + "\"," + json_log_line(level, event, message, fields).substr(1) + '\n';
    } else {
        line += ' ' + log_line(level, event, message, fields) + '\n';
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string_view left = line;
    while (!left.empty()) {
        const ssize_t put = ::write(descriptor_, left.data(), left.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        left.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace duewheel
