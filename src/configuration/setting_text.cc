#include "configuration/setting_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/byte_size.h"
#include "base/error_codes.h"
#include "base/thousandths.h"
#include "calendar/duration.h"
#include "calendar/text_scanner.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

using Kind = SettingKind;

// A basic string of TOML.
std::string as_toml(std::string_view text) {
    std::string quoted_text = "\"";
    for (const char c : text) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            quoted_text.append("\\u00") += kDigits[byte >> 4];
            quoted_text += kDigits[byte & 15];
            continue;
        }
        if (c == '"' || c == '\\') quoted_text += '\\';
        quoted_text += c;
    }
    return quoted_text + "\"";
}

Error wrong_kind(const Setting& setting, std::string_view text) {
    return {"bad_setting"_code, "`" + std::string(setting.name) + "`" + " must be " + kind_in_words(setting) +
                                    ", not \"" + std::string(cut_utf8(as_utf8(text), 100)) + "\""};
}

std::string number_as_text(const Setting& setting, std::int64_t number) {
    if (setting.may_be_auto && number == kAutomatic) return "auto";
    switch (setting.kind) {
        case Kind::duration:
            return format_duration(number);
        case Kind::size:
            return format_byte_size(number);
        case Kind::decimal:
            return format_thousandths(number);
        default:
            return std::to_string(number);
    }
}

Result<SettingValue> parse_number(const Setting& setting, std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size()) return wrong_kind(setting, text);
    return SettingValue(number);
}

Result<SettingValue> parse_choice(const Setting& setting, std::string_view text) {
    const auto found = std::find(setting.choices.begin(), setting.choices.end(), text);
    if (found == setting.choices.end()) return wrong_kind(setting, text);
    return SettingValue(static_cast<std::int64_t>(found - setting.choices.begin()));
}

std::vector<std::string> split_at_commas(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        parts.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
}

Result<SettingValue> parse_unchecked(const Setting& setting, std::string_view text) {
    if (setting.may_be_auto && text == "auto") return SettingValue(kAutomatic);
    switch (setting.kind) {
        case Kind::yes_or_no:
            if (text != "true" && text != "false") return wrong_kind(setting, text);
            return SettingValue(text == "true");
        case Kind::number:
            return parse_number(setting, text);
        case Kind::decimal: {
            const std::optional<std::int64_t> thousandths = parse_thousandths(text);
            if (!thousandths) return wrong_kind(setting, text);
            return SettingValue(*thousandths);
        }
        case Kind::duration: {
            const Result<std::int64_t> duration = parse_duration(text);
            if (duration) return SettingValue(*duration);
            Error wrong = wrong_kind(setting, text);
            if (!is_number(text)) wrong.message += "; " + duration.error().message;  // "write 30m"
            return wrong;
        }
        case Kind::size: {
            const Result<std::int64_t> size = parse_byte_size(text);
            if (!size) return wrong_kind(setting, text);
            return SettingValue(*size);
        }
        case Kind::text:
            return SettingValue(std::string(text));
        case Kind::texts:
            return SettingValue(split_at_commas(text));
        case Kind::choice:
            return parse_choice(setting, text);
    }
    return wrong_kind(setting, text);
}

bool has_bounds(const Setting& setting) {
    return setting.kind == Kind::number || setting.kind == Kind::decimal || setting.kind == Kind::duration ||
           setting.kind == Kind::size;
}

}  // namespace

Result<SettingValue> parse_setting(const Setting& setting, std::string_view text) {
    Result<SettingValue> value = parse_unchecked(setting, text);
    return value ? check_bounds(setting, *std::move(value)) : std::move(value);
}

Result<SettingValue> check_bounds(const Setting& setting, SettingValue value) {
    const std::string* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->empty() && !setting.may_be_empty)
        return Error{"bad_setting"_code,
                     "`" + std::string(setting.name) + "`" + " is empty; give a value or remove the setting"};
    if (!has_bounds(setting)) return value;
    const auto number = std::get<std::int64_t>(value);
    if (setting.may_be_auto && number == kAutomatic) return value;
    if (number >= setting.min && number <= setting.max && number % setting.multiple_of == 0) return value;
    return Error{"bad_setting"_code, "`" + std::string(setting.name) + "`" + " is " + number_as_text(setting, number) +
                                         "; choose " + bounds_in_words(setting)};
}

std::string format_setting(const Setting& setting, const SettingValue& value) {
    switch (setting.kind) {
        case Kind::yes_or_no:
            return std::get<bool>(value) ? "true" : "false";
        case Kind::number:
            if (const auto number = std::get<std::int64_t>(value); number != kAutomatic) return std::to_string(number);
            return as_toml("auto");
        case Kind::decimal:
            return format_thousandths(std::get<std::int64_t>(value));
        case Kind::duration:
        case Kind::size:
            return as_toml(number_as_text(setting, std::get<std::int64_t>(value)));
        case Kind::choice:
            return as_toml(setting.choices[static_cast<std::size_t>(std::get<std::int64_t>(value))]);
        case Kind::text:
            return as_toml(std::get<std::string>(value));
        case Kind::texts:
            break;
    }
    std::string list = "[";
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
        list += (list.size() == 1 ? "" : ", ") + as_toml(text);
    }
    return list + "]";
}

std::string kind_in_words(const Setting& setting) {
    switch (setting.kind) {
        case Kind::yes_or_no:
            return "true or false";
        case Kind::number:
            return setting.may_be_auto ? "a whole number, or auto" : "a whole number";
        case Kind::decimal:
            return "a number with up to 3 decimals, such as 1.5";
        case Kind::duration:
            return "a duration with a unit, such as \"30s\"";
        case Kind::size:
            return std::string("a size with the unit B, KiB, MiB or GiB, such as \"64MiB\"") +
                   (setting.may_be_auto ? ", or auto" : "");
        case Kind::text:
            return "a string";
        case Kind::texts:
            return "a list of strings, such as [\"a\", \"b\"]";
        case Kind::choice:
            return "one of " + bounds_in_words(setting);
    }
    return {};
}

std::string bounds_in_words(const Setting& setting) {
    std::string words;
    if (setting.kind == Kind::choice) {
        for (const std::string_view choice : setting.choices) {
            words += (words.empty() ? "" : choice == setting.choices.back() ? " or " : ", ") + std::string(choice);
        }
    }
    if (!has_bounds(setting)) return words;
    words = setting.may_be_auto ? "auto, or " : "";
    words += number_as_text(setting, setting.min) + " to " + number_as_text(setting, setting.max);
    if (setting.multiple_of > 1) words += ", a multiple of " + number_as_text(setting, setting.multiple_of);
    return words;
}

}  // namespace duewheel
