// A log event as members of a JSON object, for programs that read logs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/log.h"

namespace duewheel {

// {"level":"warning","event":"index_update_blocked","message":"...","error":"..."}: fields are members like the others.
// Always valid JSON in one line: bytes that are not UTF-8 are replaced.
std::string json_log_line(LogLevel level, std::string_view event, std::string_view message,
                          std::span<const LogField> fields);

}  // namespace duewheel
