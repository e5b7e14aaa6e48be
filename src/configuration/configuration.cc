#include "configuration/configuration.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error_codes.h"
#include "configuration/setting_text.h"
#include "configuration/toml_text.h"
#include "shared/nearest_name.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr char kByDefault[] = "default";  // the origin and the place of a setting that is not set
constexpr std::size_t kNameBytesShown = 100;
constexpr std::size_t kSlipsMax = 3;
// Decimals beyond this are out of the bounds of every setting; below it a double holds thousandths this precisely.
constexpr double kThousandthsMax = 1e9;
constexpr double kRoundingErrorMax = 1e-6;
// Variables of the command line and of the daemon's file, which are not settings.
constexpr std::string_view kOtherVariables[] = {"DUEWHEEL_SERVER",     "DUEWHEEL_CA_FILE",  "DUEWHEEL_TOKEN",
                                                "DUEWHEEL_TOKEN_FILE", "DUEWHEEL_INSECURE", "DUEWHEEL_CONFIG"};

// Flags of other servers for the same purpose as one of ours.
struct ForeignFlag {
    std::string_view name;
    std::string_view ours;
};
constexpr ForeignFlag kForeignFlags[] = {{"--port", "--http HOST:PORT"},   {"-p", "--http HOST:PORT"},
                                         {"--host", "--http HOST:PORT"},   {"--bind", "--http HOST:PORT"},
                                         {"--addr", "--http HOST:PORT"},   {"--address", "--http HOST:PORT"},
                                         {"--listen", "--http HOST:PORT"}, {"--dir", "--data DIRECTORY"}};

std::string quoted(std::string_view name) {
    return "`" + std::string(cut_utf8(as_utf8(name), kNameBytesShown)) + "`";
}

// The content of a file may be hostile, and an error that quotes it is shown on a terminal.
std::string one_line(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte != 0x7f) {
            line += c;
        } else {
            line.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 15]});
        }
    }
    return line;
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    return std::optional<std::string>(nearest_name(name, names));
}

std::size_t place_of(const Setting& setting) {
    return static_cast<std::size_t>(&setting - settings().data());
}

bool is_section(std::string_view name) {
    return std::any_of(settings().begin(), settings().end(),
                       [&](const Setting& setting) { return !name.empty() && setting.section() == name; });
}

std::optional<std::string> nearest_section(std::string_view name) {
    std::vector<std::string> known;
    for (const Setting& setting : settings()) {
        if (!setting.section().empty()) known.emplace_back(setting.section());
    }
    return nearest(name, known);
}

std::string unknown_setting(std::string_view name) {
    return "unknown setting " + quoted(name) + see_help(nearest_setting(name));
}

// A file distinguishes kinds of values: a number in quotes is not a number.
Result<SettingValue> value_in_file(const Setting& setting, const TomlValue& value) {
    const auto wrong = [&](std::string_view found) {
        return Error{"bad_setting"_code,
                     quoted(setting.name) + " must be " + kind_in_words(setting) + ", not " + std::string(found)};
    };
    if (const auto* other = std::get_if<TomlOther>(&value)) return wrong(other->what);
    if (std::holds_alternative<TomlSection>(value)) return wrong("a section");
    if (const bool* yes = std::get_if<bool>(&value)) {
        if (setting.kind != SettingKind::yes_or_no) return wrong(*yes ? "true" : "false");
        return SettingValue(*yes);
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        if (setting.kind == SettingKind::decimal) return parse_setting(setting, std::to_string(*number));
        if (setting.kind != SettingKind::number) return wrong("the number " + std::to_string(*number));
        return check_bounds(setting, SettingValue(*number));
    }
    if (const double* decimal = std::get_if<double>(&value)) {
        if (setting.kind != SettingKind::decimal) return wrong("a decimal number");
        const double thousandths = *decimal * 1000;
        const bool is_valid = thousandths >= 0 && thousandths < kThousandthsMax &&
                              std::abs(thousandths - std::round(thousandths)) < kRoundingErrorMax;
        if (!is_valid) {
            char shown[32];
            std::snprintf(shown, sizeof shown, "%.9g", *decimal);
            return wrong(shown);
        }
        return check_bounds(setting, SettingValue(static_cast<std::int64_t>(std::round(thousandths))));
    }
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        if (setting.kind != SettingKind::texts) return wrong("a list");
        return SettingValue(*texts);
    }
    const auto& text = std::get<std::string>(value);
    const bool bare = setting.kind == SettingKind::yes_or_no || setting.kind == SettingKind::number ||
                      setting.kind == SettingKind::decimal || setting.kind == SettingKind::texts;
    if (bare && !(setting.may_be_auto && text == "auto"))
        return wrong("the string \"" + std::string(cut_utf8(text, kNameBytesShown)) + "\"");
    return parse_setting(setting, text);
}

}  // namespace

std::string see_help(const std::optional<std::string>& meant) {
    return "; " + (meant ? did_you_mean(*meant) + " See" : "see") + " `duewheeld --help`";
}

std::optional<std::string> nearest_setting(std::string_view name) {
    std::vector<std::string> known;
    for (const Setting& setting : settings()) known.emplace_back(setting.name);
    // Without the section, suggest the setting with this key.
    for (const Setting& setting : settings()) {
        if (setting.key() == name.substr(name.rfind('.') + 1)) return std::string(setting.name);
    }
    return nearest(name, known);
}

std::optional<std::string> nearest_flag(std::string_view flag) {
    for (const ForeignFlag& foreign : kForeignFlags) {
        if (foreign.name == flag) return std::string(foreign.ours);
    }
    // Suggest a setting for its whole name even if its flag is shorter.
    for (const Setting& setting : settings()) {
        std::string whole = "--" + std::string(setting.name);
        std::replace_if(
            whole.begin(), whole.end(), [](char c) { return c == '.' || c == '_'; }, '-');
        if (whole == flag) return setting.flag();
    }
    std::vector<std::string> known = {"--config", "--print-config", "--help", "--version"};
    for (const Setting& setting : settings()) {
        known.push_back(setting.flag());
        if (flag.starts_with("--") && known.back().ends_with(flag.substr(1))) return known.back();
    }
    return nearest(flag, known);
}

Configuration::Configuration() {
    for (const Setting& setting : settings()) in_force_.push_back({setting.default_value(), kByDefault, kByDefault});
}

const Configuration::InForce& Configuration::of(const Setting& setting) const {
    return in_force_[place_of(setting)];
}

void Configuration::refuse(const std::string& place, const std::string& sentence) {
    errors_.push_back(one_line(place + ": " + sentence + "."));
}

void Configuration::set(const Setting& setting, Result<SettingValue> value, const std::string& place,
                        std::string origin) {
    if (!value) return refuse(place, value.error().message);
    in_force_[place_of(setting)] = {*std::move(value), std::move(origin), place};
}

void Configuration::take_file(std::string_view name, std::string_view text) {
    const std::string file(name);
    const TomlText toml = parse_toml(text);
    if (!toml.wrong.empty()) {
        return refuse(file + ":" + std::to_string(toml.wrong_at.line) + ":" + std::to_string(toml.wrong_at.column),
                      "invalid TOML: " + toml.wrong);
    }
    std::string unknown_section;
    for (const TomlEntry& entry : toml.entries) {
        // One error for an unknown section, not one for each of its keys.
        if (!unknown_section.empty() && entry.name.starts_with(unknown_section)) continue;
        const bool section = std::holds_alternative<TomlSection>(entry.value);
        if (section && find_setting(entry.name) == nullptr && !is_section(entry.name)) {
            unknown_section = entry.name + ".";
        }
        take_entry(file, entry);
    }
}

void Configuration::take_entry(std::string_view file, const TomlEntry& entry) {
    const std::string line = std::string(file) + ":" + std::to_string(entry.key.line);
    const std::string key_place = line + ":" + std::to_string(entry.key.column);
    const bool section = std::holds_alternative<TomlSection>(entry.value);
    if (const Setting* setting = find_setting(entry.name)) {
        const std::string place =
            section ? key_place
                    : std::string(file) + ":" + std::to_string(entry.at.line) + ":" + std::to_string(entry.at.column);
        return set(*setting, value_in_file(*setting, entry.value), place, line);
    }
    if (is_section(entry.name)) {
        if (section) return;
        return refuse(key_place, quoted(entry.name) + " is a section; write [" + entry.name +
                                     "] on a line of its own and its settings below it");
    }
    if (section) {
        return refuse(key_place, "unknown section " + quoted(entry.name) + see_help(nearest_section(entry.name)));
    }
    refuse(key_place, unknown_setting(entry.name));
}

void Configuration::take_environment(std::span<const std::pair<std::string, std::string>> variables) {
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("DUEWHEEL_")) continue;
        if (std::find(std::begin(kOtherVariables), std::end(kOtherVariables), name) != std::end(kOtherVariables)) {
            continue;
        }
        std::vector<std::string> known;
        const Setting* found = nullptr;
        for (const Setting& setting : settings()) {
            known.push_back(setting.environment());
            if (known.back() == name) found = &setting;
        }
        if (found != nullptr) {
            set(*found, parse_setting(*found, value), name, name);
            continue;
        }
        // Other programs of the project have variables of their own; warn only about a likely misspelling.
        const std::optional<std::string> meant = nearest(name, known);
        if (!meant || edit_distance(name, *meant) > kSlipsMax) continue;
        warnings_.push_back("Unknown variable " + quoted(name) + "; " + did_you_mean(*meant));
    }
}

void Configuration::take_flag(const Setting& setting, std::string_view text) {
    set(setting, parse_setting(setting, text), setting.flag(), setting.flag());
}

void Configuration::check_orders() {
    for (const SettingOrder& order : setting_orders()) {
        const Setting& smaller = *find_setting(order.smaller);
        const Setting& larger = *find_setting(order.larger);
        if (of(smaller).value <= of(larger).value) continue;
        const InForce& to_blame = of(is_default(smaller) ? larger : smaller);
        const auto setting_text = [&](const Setting& setting) {
            return quoted(setting.name) + " = " + format_setting(setting, of(setting).value);
        };
        refuse(to_blame.place, setting_text(smaller) + " is greater than " + setting_text(larger) + "; " +
                                   std::string(order.reason) + ". Change one of them");
    }
}

ServerOptions Configuration::options() const {
    ServerOptions options;
    for (const Setting& setting : settings()) {
        // Some of the defaults depend on other settings.
        if (of(setting).origin != kByDefault) setting.write(options, of(setting).value);
    }
    return options;
}

}  // namespace duewheel
