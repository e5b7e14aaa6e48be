// Excluded days as text: all bytes except the last nine are the text. Whether it is accepted, and what it excludes, is
// compared with a second implementation that checks entry by entry without merging ranges: the same texts are refused,
// at the same line, and the same days are excluded. No schedule fires on an excluded day.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include <duewheel/cron_schedule.h>
#include <duewheel/exclusion_calendar.h>

namespace duewheel::exclusion_fuzz {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// One entry of the text; only one of the three kinds is set.
struct Entry {
    std::optional<unsigned> weekday;                      // 0 is Sunday
    std::optional<std::pair<unsigned, unsigned>> yearly;  // month and day
    std::optional<std::pair<sys_days, sys_days>> range;

    bool names(year_month_day date) const {
        if (weekday) return std::chrono::weekday(sys_days(date)).c_encoding() == *weekday;
        if (yearly) return unsigned{date.month()} == yearly->first && unsigned{date.day()} == yearly->second;
        return sys_days(date) >= range->first && sys_days(date) <= range->second;
    }
};

bool has_form(std::string_view text, std::string_view form) {
    if (text.size() != form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == '9' ? !is_digit : text[i] != form[i]) return false;
    }
    return true;
}

unsigned number_at(std::string_view text, std::size_t at, std::size_t length) {
    return static_cast<unsigned>(std::stoul(std::string(text.substr(at, length))));
}

unsigned days_of(unsigned year, unsigned month) {
    constexpr std::array<unsigned, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return kDays[month - 1] + (month == 2 && leap);
}

std::optional<sys_days> date_of(std::string_view text) {
    const unsigned year = number_at(text, 0, 4);
    const unsigned month = number_at(text, 5, 2);
    const unsigned day = number_at(text, 8, 2);
    if (month < 1 || month > 12 || day < 1 || day > days_of(year, month)) return std::nullopt;
    return sys_days(std::chrono::year(static_cast<int>(year)) / std::chrono::month(month) / std::chrono::day(day));
}

std::optional<Entry> read_entry(std::string_view text) {
    Entry entry;
    if (text.size() == 3) {
        std::string name(text);
        for (char& letter : name) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
        const std::size_t at = std::string_view("SUNMONTUEWEDTHUFRISAT").find(name);
        if (at != std::string_view::npos && at % 3 == 0) entry.weekday = static_cast<unsigned>(at / 3);
        return entry.weekday ? std::optional(entry) : std::nullopt;
    }
    if (has_form(text, "99-99")) {
        const unsigned month = number_at(text, 0, 2);
        const unsigned day = number_at(text, 3, 2);
        if (month < 1 || month > 12 || day < 1 || day > days_of(2000, month)) return std::nullopt;
        entry.yearly = {month, day};
        return entry;
    }
    const bool is_range = has_form(text, "9999-99-99..9999-99-99");
    if (!is_range && !has_form(text, "9999-99-99")) return std::nullopt;
    const std::optional<sys_days> first = date_of(text);
    const std::optional<sys_days> last = is_range ? date_of(text.substr(12)) : first;
    if (!first || !last || *last < *first || *last - *first > days(400 * 366)) return std::nullopt;
    entry.range = {*first, *last};
    return entry;
}

struct Reading {
    std::vector<Entry> entries;
    std::size_t refused_line = 0;  // 0: the whole text is taken
};

Reading read(std::string_view text) {
    Reading reading;
    std::size_t line = 1;
    std::string entry;
    bool in_comment = false;
    const auto end_entry = [&] {
        if (entry.empty() || reading.refused_line != 0) return;
        const std::optional<Entry> taken = read_entry(entry);
        if (taken) reading.entries.push_back(*taken);
        if (!taken) reading.refused_line = line;
        entry.clear();
    };
    for (const char letter : text) {
        if (letter == '\n' || letter == '#' || letter == ' ' || letter == '\t' || letter == '\r') {
            end_entry();
            in_comment = letter != '\n' && (in_comment || letter == '#');
            line += letter == '\n';
        } else if (!in_comment) {
            entry.push_back(letter);
        }
    }
    end_entry();
    return reading;
}

void judge_refusal(const Error& error, std::size_t line) {
    require(error.code == "bad_exclusion"_code, "it is refused with another code", name_of(error.code));
    require(error.message.starts_with("line " + std::to_string(line) + ", column "), "it is refused at another line",
            error.message);
    require(error.message.ends_with("."), "a refusal has another form", error.message);
}

void judge_date(const ExclusionCalendar& calendar, const Reading& reading, sys_days day) {
    const year_month_day date(day);
    const bool named = std::any_of(reading.entries.begin(), reading.entries.end(),
                                   [&](const Entry& entry) { return entry.names(date); });
    require(calendar.excludes(date) == named, "a day is excluded that no entry names, or the other way round");
    const std::uint32_t month = calendar.days_in(date.year() / date.month());
    require((month >> unsigned{date.day()} & 1) == named, "the month says something else than the day");
}

}  // namespace

void fuzz(std::string_view input) {
    const std::size_t script_bytes = std::min<std::size_t>(input.size(), 9);
    InputScript script(input.substr(input.size() - script_bytes));
    const std::string_view text = input.substr(0, input.size() - script_bytes);
    const Reading reading = read(text);
    const Result<ExclusionCalendar> calendar = ExclusionCalendar::parse(text);
    require(calendar.ok() == (reading.refused_line == 0), "a text is taken that is none, or the other way round");
    if (!calendar) return judge_refusal(calendar.error(), reading.refused_line);
    require(calendar->empty() == reading.entries.empty(), "only a text without entries excludes nothing");

    const days somewhere(static_cast<int>(script.number() % 157'000));
    for (int beside = -2; beside <= 2; ++beside) {
        judge_date(*calendar, reading, sys_days(somewhere + days(beside)));
        for (const Entry& entry : reading.entries) {
            if (!entry.range || entry.range->first < sys_days(days(-700'000))) continue;
            judge_date(*calendar, reading, entry.range->first + days(beside));
            judge_date(*calendar, reading, entry.range->second + days(beside));
        }
    }

    const CronSchedule noon(*CronRule::parse("0 12 * * *"), Zone::utc(), {}, *calendar);
    if (const std::optional<Instant> due = noon.next(sys_days(somewhere))) {
        const auto day = std::chrono::floor<days>(*due);
        require(!calendar->excludes(year_month_day(day)), "a schedule fires on an excluded day");
        // Whatever was omitted was excluded.
        for (sys_days left_out = sys_days(somewhere); left_out < day && left_out < sys_days(somewhere) + days(40);
             left_out += days(1)) {
            require(calendar->excludes(year_month_day(left_out)), "a schedule leaves out a day that is open");
        }
    }
}

}  // namespace duewheel::exclusion_fuzz
