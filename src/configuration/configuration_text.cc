#include "configuration/configuration_text.h"

#include "configuration/setting_text.h"

namespace duewheel {
namespace {

// Calls `begin` before the first setting of each section except the nameless one, and `each` for every setting.
template <class Begin, class Each>
void for_each_setting(Begin begin, Each each) {
    std::string_view section;
    for (const Setting& setting : settings()) {
        if (setting.section() != section) begin(section = setting.section());
        each(setting);
    }
}

std::string comment_of(const Setting& setting) {
    const std::string bounds = bounds_in_words(setting);
    return "# " + std::string(setting.sentence) + (bounds.empty() ? "" : " Choose " + bounds + ".") + "\n";
}

std::string section_head(std::string_view section) {
    return "\n[" + std::string(section) + "]\n";
}

std::string assignment(const Setting& setting, const SettingValue& value) {
    return std::string(setting.key()) + " = " + format_setting(setting, value);
}

// In a table of Markdown a bar would end the cell.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '|') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

std::string settings_in_force(const Configuration& configuration) {
    std::string page = "# The settings of duewheeld in force. The comment behind each value names its origin.\n";
    for_each_setting([&](std::string_view section) { page += section_head(section); },
                     [&](const Setting& setting) {
                         const Configuration::InForce& in_force = configuration.of(setting);
                         page += "\n" + comment_of(setting) + assignment(setting, in_force.value) + "  # " +
                                 in_force.origin + "\n";
                     });
    return page;
}

std::string example_file() {
    std::string page =
        "# Every setting of duewheeld with its default. Pass this file with --config or DUEWHEEL_CONFIG. To change a\n"
        "# setting, remove the # in front of it.\n";
    for_each_setting([&](std::string_view section) { page += section_head(section); },
                     [&](const Setting& setting) {
                         page += "\n" + comment_of(setting) + "#" + assignment(setting, setting.default_value()) + "\n";
                     });
    return page;
}

std::string settings_tables() {
    constexpr std::string_view kHead = "\n| key | flag | default | range | meaning |\n|---|---|---|---|---|\n";
    std::string page = "### Top level\n" + std::string(kHead);
    for_each_setting(
        [&](std::string_view section) { page += "\n### [" + std::string(section) + "]\n" + std::string(kHead); },
        [&](const Setting& setting) {
            const std::string value = format_setting(setting, setting.default_value());
            page += "| `" + std::string(setting.key()) + "` | `" + setting.flag() + "` | `" + cell(value) + "` | " +
                    bounds_in_words(setting) + " | " + cell(setting.sentence) + " |\n";
        });
    return page;
}

std::string help_of(const Setting& setting) {
    const std::string bounds = bounds_in_words(setting);
    return std::string(setting.sentence) + " (" + format_setting(setting, setting.default_value()) +
           (bounds.empty() ? "" : "; " + bounds) + ")";
}

}  // namespace duewheel
