// A setting's value as text, and what may stand there, in words.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "configuration/setting.h"

namespace duewheel {

// From a flag or an environment variable: "true" or "false", a number, a duration or size with its unit, a choice, a
// text; texts are separated by commas. Code: bad_setting; the sentence does not name where the text came from.
Result<SettingValue> parse_setting(const Setting& setting, std::string_view text);

// The value unless it is outside of the setting's bounds, or an empty text. Code: bad_setting.
Result<SettingValue> check_bounds(const Setting& setting, SettingValue value);

// As it is written in a configuration file: 7, true, "30s", ["a", "b"].
std::string format_setting(const Setting& setting, const SettingValue& value);

// "a duration such as \"30s\"", "a whole number": what a setting of this kind looks like in a file.
std::string kind_in_words(const Setting& setting);

// "1s to 1h", "1MiB to 1GiB, a multiple of 1MiB", "text or json"; empty where everything is allowed.
std::string bounds_in_words(const Setting& setting);

}  // namespace duewheel
