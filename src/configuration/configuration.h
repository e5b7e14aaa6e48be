// The settings in force: the defaults, changed by a file, then by the environment, then by flags.
//
// Nothing is passed over in silence: a key that is not known, a value of another kind, one out of range and two that
// exclude each other are errors, each with its place, what was most likely meant, and what to do. All of them are
// gathered, so that a file is mended in one go. It reads no file and no environment itself.
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
        std::string place;   // the same with the column: where an error about the value stands
    };

    Configuration();

    // What comes later wins: call them in this order. `name` is what errors call the file.
    void take_file(std::string_view name, std::string_view text);
    // NAME=value. What does not begin with DUEWHEEL_ is not looked at.
    void take_environment(std::span<const std::pair<std::string, std::string>> variables);
    void take_flag(const Setting& setting, std::string_view text);
    // After the last of them: whether the settings go together.
    void check_orders();

    // Whole lines: "duewheel.toml:3:1: ...", "DUEWHEEL_HTTP: ...", "--http: ...".
    const std::vector<std::string>& errors() const { return errors_; }
    // Variables that are no setting, but nearly: somebody may have meant one.
    const std::vector<std::string>& warnings() const { return warnings_; }

    const InForce& of(const Setting& setting) const;
    bool is_default(const Setting& setting) const { return of(setting).value == setting.default_value(); }
    // Of no use while there are errors.
    ServerOptions options() const;

  private:
    void take_entry(std::string_view file, const TomlEntry& entry);
    void take(const Setting& setting, Result<SettingValue> value, const std::string& place, std::string origin);
    void refuse(const std::string& place, const std::string& sentence);

    std::vector<InForce> in_force_;  // in the order of settings()
    std::vector<std::string> errors_;
    std::vector<std::string> warnings_;
};

// What an operator most likely meant; empty where nothing is near.
std::string nearest_setting(std::string_view name);
std::string nearest_flag(std::string_view flag);

}  // namespace duewheel
