// Parses a TOML file into its keys and values with their locations. The only file that uses the parser library.
//
// It does not know the settings. Values of other types (dates, tables in arrays) are kept as a description for the
// error message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace duewheel {

// Lines and columns count from 1, columns in characters.
struct TomlPlace {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

struct TomlSection {};
// "a date or time", "a list of values other than strings"
struct TomlOther {
    std::string_view what;
};
using TomlValue =
    std::variant<TomlSection, bool, std::int64_t, double, std::string, std::vector<std::string>, TomlOther>;

struct TomlEntry {
    std::string name;  // with dots: "http.idle_timeout"
    TomlPlace key;
    TomlPlace at;  // of the value
    TomlValue value;
};

// In the order of their locations; a section before its content.
struct TomlText {
    std::vector<TomlEntry> entries;
    // `entries` is empty if the text is not valid TOML.
    std::string wrong;
    TomlPlace wrong_at;
};

TomlText parse_toml(std::string_view text);

}  // namespace duewheel
