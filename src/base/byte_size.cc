#include "base/byte_size.h"

#include <charconv>
#include <limits>

#include "base/error_codes.h"

namespace duewheel {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t bytes;
};

constexpr Unit kUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

Error bad_size() {
    return {"bad_size"_code, "a size is a whole number with the unit B, KiB, MiB or GiB, such as 64MiB"};
}

}  // namespace

Result<std::int64_t> parse_byte_size(std::string_view text) {
    std::int64_t number = 0;
    if (text.empty() || text.front() < '0' || text.front() > '9') return bad_size();
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc()) return bad_size();
    const std::string_view unit_name(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const Unit& unit : kUnits) {
        if (unit.name != unit_name) continue;
        if (number > std::numeric_limits<std::int64_t>::max() / unit.bytes) return bad_size();
        return number * unit.bytes;
    }
    return bad_size();
}

std::string format_byte_size(std::int64_t bytes) {
    for (const Unit& unit : kUnits) {
        if (bytes != 0 && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes).append(unit.name);
    }
    return "0B";
}

}  // namespace duewheel
