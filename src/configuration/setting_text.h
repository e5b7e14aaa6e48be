// The value of a setting as text, and a description of valid values.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "configuration/setting.h"

namespace duewheel {

// From a flag or an environment variable: "true" or "false", a number, a duration or size with its unit, a choice, a
// string; strings are separated by commas. Code: bad_setting; the message does not contain the origin of the text.
Result<SettingValue> parse_setting(const Setting& setting, std::string_view text);

// The value, unless it is out of range or an empty string. Code: bad_setting.
Result<SettingValue> check_bounds(const Setting& setting, SettingValue value);

// In the syntax of a configuration file: 7, true, "30s", ["a", "b"].
std::string format_setting(const Setting& setting, const SettingValue& value);

// "a duration such as \"30s\"", "a whole number": the form of values of this setting in a file.
std::string kind_in_words(const Setting& setting);

// "1s to 1h", "1MiB to 1GiB, a multiple of 1MiB", "text or json"; empty if all values are valid.
std::string bounds_in_words(const Setting& setting);

}  // namespace duewheel
