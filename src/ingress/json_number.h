// What a JSON number says, exactly: binary fractions round, and 9007199254740993.0 would have become another number
// before anybody could object. Where a call takes fractions it counts thousandths.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

struct JsonNumber {
    bool whole = false;      // 1.0 and 1e3 are
    bool beyond = false;     // of 64 bits; `value` is then the nearest that there is
    std::int64_t value = 0;  // where it is whole
};

// `text` is a number by JSON's grammar. O(size).
JsonNumber read_json_number(std::string_view text);

// As many thousandths as the number has: 1500 for 1.5; `whole` where it has no more than three decimals.
JsonNumber read_json_thousandths(std::string_view text);

}  // namespace duewheel
