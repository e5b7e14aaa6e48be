// Values of settings from flags and environment variables: refused, or within bounds and the same after writing.
//
// The first byte selects the setting, the rest is its text.
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/error_codes.h"
#include "configuration/configuration.h"
#include "configuration/setting_text.h"
#include "fuzz/fuzz_target.h"

namespace duewheel::setting_text_fuzz {
namespace {

void judge_byte_size(std::string_view text) {
    const Result<std::int64_t> size = parse_byte_size(text);
    if (!size) return require(size.error().code == "bad_size"_code, "a size is refused with another code");
    require(*size >= 0, "a size is negative");
    const Result<std::int64_t> again = parse_byte_size(format_byte_size(*size));
    require(again.ok() && *again == *size, "a size is another after writing");
}

bool is_within(const Setting& setting, const SettingValue& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || setting.kind == SettingKind::choice) return true;
    return *number >= setting.min && *number <= setting.max && *number % setting.multiple_of == 0;
}

}  // namespace

void fuzz(std::string_view input) {
    if (input.empty() || input.size() > 300) return;
    const Setting& setting = settings()[static_cast<unsigned char>(input.front()) % settings().size()];
    const std::string_view text = input.substr(1);
    judge_byte_size(text);
    static_cast<void>(nearest_setting(text));
    static_cast<void>(nearest_flag(text));
    const Result<SettingValue> value = parse_setting(setting, text);
    Configuration by_flag;
    by_flag.take_flag(setting, text);
    require(by_flag.errors().empty() == value.ok(), "a flag has another verdict than its text");
    Configuration by_environment;
    const std::vector<std::pair<std::string, std::string>> variables = {{setting.environment(), std::string(text)}};
    by_environment.take_environment(variables);
    require(by_environment.errors().empty() == value.ok(), "a variable has another verdict than its text");
    if (!value) return require(value.error().code == "bad_setting"_code, "a setting is refused with another code");
    require(is_within(setting, *value), "a setting is out of its bounds");
    require(by_flag.of(setting).value == *value, "a flag has another value than its text");
    // A file takes UTF-8 alone; flags take what the shell gives.
    Configuration by_file;
    const std::string line = (setting.section().empty() ? "" : "[" + std::string(setting.section()) + "]\n") +
                             std::string(setting.key()) + " = " + format_setting(setting, *value);
    by_file.take_file("a.toml", line);
    if (!by_file.errors().empty()) {
        return require(by_file.errors()[0].find("invalid TOML") != std::string::npos, "a file refuses it:", line);
    }
    require(by_file.of(setting).value == *value, "a setting is another after writing:", line);
}

}  // namespace duewheel::setting_text_fuzz
