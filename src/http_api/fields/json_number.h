// The exact value of a JSON number: binary fractions would round, and 9007199254740993.0 would silently become another
// number. Calls that accept fractions use thousandths.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

struct JsonNumber {
    bool whole = false;      // true for 1.0 and 1e3
    bool beyond = false;     // of 64 bits; `value` is then the nearest possible one
    std::int64_t value = 0;  // if it is whole
};

// `text` is a number in JSON syntax. O(size).
JsonNumber read_json_number(std::string_view text);

// The number in thousandths: 1500 for 1.5; `whole` if it has no more than three decimals.
JsonNumber read_json_thousandths(std::string_view text);

}  // namespace duewheel
