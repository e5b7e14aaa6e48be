// Instants as text: an accepted text gives the same instant as the calendar of the standard library, and the same after
// it is written and read again.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"

namespace duewheel::instant_fuzz {
namespace {

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
    int number = 0;
    for (const char digit : text.substr(at, digits)) number = number * 10 + (digit - '0');
    return number;
}

// The instant that a text names which was found to be one: its fields stand where RFC 3339 puts them.
std::int64_t reckoned(std::string_view text) {
    const std::chrono::year_month_day date(std::chrono::year(number_at(text, 0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number_at(text, 5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number_at(text, 8, 2))));
    require(date.ok(), "a day that there is not was taken");
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    std::int64_t seconds =
        days * 86'400 + number_at(text, 11, 2) * 3600 + number_at(text, 14, 2) * 60 + number_at(text, 17, 2);
    std::size_t at = 19;
    std::int64_t milliseconds = 0;
    if (text[at] == '.') {
        bool more = false;
        int index = 100;
        for (++at; text[at] >= '0' && text[at] <= '9'; ++at, index /= 10) {
            milliseconds += index * (text[at] - '0');
            more |= index == 0 && text[at] != '0';
        }
        if (more) ++milliseconds;
    }
    if (text[at] == '+' || text[at] == '-') {
        const std::int64_t offset = number_at(text, at + 1, 2) * 3600 + number_at(text, at + 4, 2) * 60;
        seconds += text[at] == '+' ? -offset : offset;
    }
    return seconds * 1000 + milliseconds;
}

void judge_round_trip(InstantMs instant) {
    const std::string text = format_instant(instant);
    const Result<InstantMs> again = parse_instant(text);
    require(again.ok() && *again == instant, "an instant is another after writing", text);
}

}  // namespace

void fuzz(std::string_view input) {
    const Result<InstantMs> parsed = parse_instant(input);
    if (parsed) {
        require(*parsed >= 0 && *parsed <= kLastInstant, "an instant lies outside of what is accepted");
        require(reckoned(input) == *parsed, "an instant was taken as another");
        judge_round_trip(*parsed);
    } else {
        require(parsed.error().code == "bad_instant"_code, "an instant is refused with another code");
    }
    const auto number =
        static_cast<InstantMs>(InputScript(input).number() % (static_cast<std::uint64_t>(kLastInstant) + 1));
    judge_round_trip(number);
    require(!parse_instant(std::to_string(number)).ok(), "a number without a unit was taken");
}

}  // namespace duewheel::instant_fuzz
