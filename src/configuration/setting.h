// The table of all settings. Flags, environment variables, the keys of the configuration file, the daemon's help, the
// example file and docs/configuration.md are generated from it.
//
// The default of a setting is not written here: it is the value in a default-constructed ServerOptions. Settings that
// are limits come from the table of limits (server/limits/limit.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/limits/limit.h"
#include "server/limits/server_options.h"

namespace duewheel {

enum class SettingKind : std::uint8_t { yes_or_no, number, decimal, duration, size, text, texts, choice };

// bool for yes_or_no; an integer for a number, thousandths of a decimal, milliseconds, bytes, or the index of a choice;
// a string; strings.
using SettingValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>>;

// A number or size that the server chooses at its start.
inline constexpr std::int64_t kAutomatic = INT64_MIN;

struct Setting {
    std::string_view name;  // in the file: "http.idle_timeout" is `idle_timeout` in the section [http]
    SettingKind kind = SettingKind::text;
    std::string_view sentence;
    // The range of numbers, decimals (in thousandths), durations and sizes, both ends included.
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t multiple_of = 1;
    std::span<const std::string_view> choices{};
    std::string_view own_flag{};  // if the rule below gives a clumsy one
    bool may_be_empty = false;    // of texts
    bool may_be_auto = false;     // of numbers and sizes: "auto", which is kAutomatic
    // A limit is read and written through its table; others by these functions.
    const Limit* limit = nullptr;
    SettingValue (*get)(const ServerOptions&) = nullptr;
    void (*set)(ServerOptions&, const SettingValue&) = nullptr;

    SettingValue read(const ServerOptions& options) const;
    void write(ServerOptions& options, const SettingValue& value) const;
    std::string_view section() const;  // "http", "kafka.in"; empty for settings outside of all sections
    std::string_view key() const;      // "idle_timeout"
    std::string flag() const;          // "--http-idle-timeout"
    std::string environment() const;   // "DUEWHEEL_HTTP_IDLE_TIMEOUT"
    SettingValue default_value() const { return read(ServerOptions{}); }
};

// In the order of the documentation, section by section; those outside of all sections first.
std::span<const Setting> settings();

// Null if there is none.
const Setting* find_setting(std::string_view name);

// A pair of settings whose values must be in this order.
struct SettingOrder {
    std::string_view smaller;
    std::string_view larger;
    std::string_view reason;
};
std::span<const SettingOrder> setting_orders();

}  // namespace duewheel
