// The settings in force: the defaults, changed by a file, then by the environment, then by flags.
//
// Errors are never ignored: an unknown key, a value of another type, one out of range, and values that exclude each
// other are errors, each with its location, the probable intention, and what to do. All of them are collected, so that
// a file can be corrected in one go. This class reads no file and no environment itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configuration/setting.h"

namespace duewheel {

struct TomlEntry;

class Configuration {
  public:
    struct InForce {
        SettingValue value;
        std::string origin;  // "default", "duewheel.toml:3", "DUEWHEEL_HTTP", "--http"
        std::string place;   // the same with the column: the location for errors about the value
    };

    Configuration();

    // Later calls override earlier ones: call them in this order. `name` is the name of the file in errors.
    void take_file(std::string_view name, std::string_view text);
    // NAME=value. Variables that do not start with DUEWHEEL_ are ignored.
    void take_environment(std::span<const std::pair<std::string, std::string>> variables);
    void take_flag(const Setting& setting, std::string_view text);
    // After the last of them: checks that the settings are consistent.
    void check_orders();

    // Whole lines: "duewheel.toml:3:1: ...", "DUEWHEEL_HTTP: ...", "--http: ...".
    const std::vector<std::string>& errors() const { return errors_; }
    // Variables that are nearly a setting, and were probably meant as one.
    const std::vector<std::string>& warnings() const { return warnings_; }

    const InForce& of(const Setting& setting) const;
    bool is_default(const Setting& setting) const { return of(setting).value == setting.default_value(); }
    // Undefined while there are errors.
    ServerOptions options() const;

  private:
    void take_entry(std::string_view file, const TomlEntry& entry);
    void set(const Setting& setting, Result<SettingValue> value, const std::string& place, std::string origin);
    void refuse(const std::string& place, const std::string& sentence);

    std::vector<InForce> in_force_;  // in the order of settings()
    std::vector<std::string> errors_;
    std::vector<std::string> warnings_;
};

// The setting that was probably meant; nothing if none is near.
std::optional<std::string> nearest_setting(std::string_view name);
std::optional<std::string> nearest_flag(std::string_view flag);
// The end of an error about an unknown name: "; did you mean `--data`? See `duewheeld --help`", or only the second.
std::string see_help(const std::optional<std::string>& meant);

}  // namespace duewheel
