// Durations as text: an accepted text gives the same value in a second implementation, and the same after it is written
// and read again.
#include <cstdint>
#include <optional>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"

namespace duewheel::duration_fuzz {
namespace {

// The plain form alone, "3d12h" and "2m0.5s": numbers with units, added up without regard to their order. Nothing where
// it is another form, no whole number of milliseconds or more than 63 bits.
std::optional<std::int64_t> add_up(std::string_view text) {
    __extension__ using Wide = __int128;
    constexpr Wide kMost = INT64_MAX;
    Wide sum = 0;
    while (!text.empty()) {
        Wide number = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
            number = number * 10 + (text[digits] - '0');
            if (number > kMost) return std::nullopt;
        }
        if (digits == 0) return std::nullopt;
        text.remove_prefix(digits);
        Wide scale = 1;
        if (text.starts_with('.')) {
            const std::size_t end = text.find_first_not_of("0123456789", 1);
            if (end == text.npos || end == 1) return std::nullopt;
            const std::size_t last = text.substr(0, end).find_last_not_of('0');
            if (last > 12) return std::nullopt;  // no unit can be divided as often
            for (std::size_t at = 1; at <= last; ++at) {
                number = number * 10 + (text[at] - '0');
                scale *= 10;
            }
            text.remove_prefix(end);
        }
        Wide unit = 0;
        const bool milliseconds = text.starts_with("ms");
        if (milliseconds) {
            unit = 1;
        } else if (!text.empty()) {
            constexpr std::string_view kUnits = "smhdw";
            constexpr std::int64_t kLengths[] = {1000, 60'000, 3'600'000, 86'400'000, 604'800'000};
            const std::size_t which = kUnits.find(text.front());
            if (which != kUnits.npos) unit = kLengths[which];
        }
        if (unit == 0) return std::nullopt;
        text.remove_prefix(milliseconds ? 2 : 1);
        if (number * unit % scale != 0) return std::nullopt;
        sum += number * unit / scale;
        if (sum > kMost) return std::nullopt;
    }
    return static_cast<std::int64_t>(sum);
}

void judge(std::string_view text, const Result<std::int64_t>& parsed) {
    if (!parsed) {
        require(parsed.error().code == "bad_duration"_code, "a duration is refused with another code");
        require(!parsed.error().message.empty(), "a refusal says nothing");
        return;
    }
    require(*parsed >= 0, "a duration is negative");
    if (text.starts_with('P')) return;
    const std::optional<std::int64_t> sum = add_up(text);
    require(sum == *parsed, "a duration was taken as another");
}

}  // namespace

void fuzz(std::string_view input) {
    const Result<std::int64_t> parsed = parse_duration(input);
    judge(input, parsed);
    if (parsed) {
        const Result<std::int64_t> again = parse_duration(format_duration(*parsed));
        require(again.ok() && *again == *parsed, "a duration is another after writing", format_duration(*parsed));
    }
    // Any number at all, taken from the bytes.
    const auto number = static_cast<std::int64_t>(InputScript(input).number() & INT64_MAX);
    const Result<std::int64_t> again = parse_duration(format_duration(number));
    require(again.ok() && *again == number, "a number is another after writing", format_duration(number));
}

}  // namespace duewheel::duration_fuzz
