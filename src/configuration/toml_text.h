// A TOML file taken apart into its keys and values with their places: the only file that knows the parser.
//
// It knows nothing of settings. What no setting can be (dates, tables in arrays) is kept as a word for the
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

// In the order of their places; a section before what is in it.
struct TomlText {
    std::vector<TomlEntry> entries;
    // Nothing is in `entries` when the text is no TOML.
    std::string wrong;
    TomlPlace wrong_at;
};

TomlText parse_toml(std::string_view text);

}  // namespace duewheel
