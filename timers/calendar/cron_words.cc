// Cron rules in words, from the sets of numbers that they match.
//
//     seconds, minutes and hours   few together: times of day, "at 09:00 and 18:00"; else a frequency, "every 15
//     minutes
//                                  from 08:00 to 17:59"
//     days, weekdays, months,      "on the 1st and the last day of the month", "Monday to Friday", "in January 2027"
//     years
#include <bit>
#include <cctype>
#include <optional>
#include <vector>

#include "calendar/rule_words.h"

namespace duewheel {
namespace {

using Numbers = std::vector<unsigned>;
using Texts = std::vector<std::string>;

// Up to this many times of day are listed.
constexpr std::size_t kListed = 6;
constexpr unsigned kFirstYear = 1970;
constexpr std::uint32_t kAllDays = 0xffff'fffe;
constexpr std::uint16_t kAllMonths = 0x1ffe;
constexpr std::uint8_t kAllWeekdays = 0x7f;

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kWeekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kWeekdaysZh[] = {"周日", "周一", "周二", "周三", "周四", "周五", "周六"};
constexpr std::string_view kNth[] = {"first", "second", "third", "fourth", "fifth", "last"};
constexpr std::string_view kNthZh[] = {"第一个", "第二个", "第三个", "第四个", "第五个", "最后一个"};

void add_bits(Numbers& numbers, std::uint64_t bits, unsigned first) {
    for (; bits != 0; bits &= bits - 1) numbers.push_back(first + static_cast<unsigned>(std::countr_zero(bits)));
}

Numbers numbers_of(std::uint64_t bits) {
    Numbers numbers;
    add_bits(numbers, bits, 0);
    return numbers;
}

// Neighbours from the first to the last.
struct Run {
    unsigned first;
    unsigned last;

    unsigned size() const { return last - first + 1; }
};

std::vector<Run> runs_of(const Numbers& numbers) {
    std::vector<Run> runs;
    for (const unsigned number : numbers) {
        if (!runs.empty() && runs.back().last + 1 == number) {
            runs.back().last = number;
        } else {
            runs.push_back({number, number});
        }
    }
    return runs;
}

// The runs of a cycle, where the last number is next to the first: one that goes over the end comes last, with numbers
// from `size` on. FRI-MON is 5 to 8.
std::vector<Run> runs_of_cycle(const Numbers& numbers, unsigned first, unsigned size) {
    std::vector<Run> runs = runs_of(numbers);
    if (runs.size() > 1 && runs.front().first == first && runs.back().last == first + size - 1) {
        runs.back().last = runs.front().last + size;
        runs.erase(runs.begin());
    }
    return runs;
}

// 5 for 0, 5, 10 ... 55 of 60; none for other numbers.
std::optional<unsigned> step_of(const Numbers& numbers, unsigned size) {
    const auto count = static_cast<unsigned>(numbers.size());
    if (count < 2 || size % count != 0) return std::nullopt;
    const unsigned step = size / count;
    for (unsigned at = 0; at < count; ++at) {
        if (numbers[at] != at * step) return std::nullopt;
    }
    return step;
}

// The distance of numbers that are too many to list; none if it differs, or if they are neighbours.
std::optional<unsigned> distance_of(const Numbers& numbers) {
    if (numbers.size() <= kListed) return std::nullopt;
    const unsigned step = numbers[1] - numbers[0];
    for (std::size_t at = 1; at < numbers.size(); ++at) {
        if (numbers[at] - numbers[at - 1] != step) return std::nullopt;
    }
    return step > 1 ? std::optional(step) : std::nullopt;
}

std::string two_digits(unsigned number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
}

std::string ordinal(unsigned number) {
    const unsigned last = number / 10 % 10 == 1 ? 0 : number % 10;
    return std::to_string(number) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

// Whether the character that ends before `at` is a Chinese one of U+4E00 to U+9FFF: three bytes of UTF-8. Punctuation
// is not.
bool ends_chinese(std::string_view text, std::size_t at) {
    return at >= 3 && static_cast<unsigned char>(text[at - 3]) >= 0xe4 &&
           static_cast<unsigned char>(text[at - 3]) <= 0xe9;
}

bool starts_chinese(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]) >= 0xe4 && static_cast<unsigned char>(text[at]) <= 0xe9;
}

// With a space between Chinese characters and digits.
std::string spaced(std::string_view text) {
    std::string spaced;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_edge = at > 0 && ((is_digit(text[at]) && ends_chinese(text, at)) ||
                                        (is_digit(text[at - 1]) && starts_chinese(text, at)));
        if (is_edge) spaced += ' ';
        spaced += text[at];
    }
    return spaced;
}

std::string joined(const Texts& texts, std::string_view between) {
    std::string all;
    for (const std::string& text : texts) {
        if (text.empty()) continue;
        if (!all.empty()) all += between;
        all += text;
    }
    return all;
}

class CronWords {
  public:
    CronWords(const CronFields& fields, Language language) : fields_(fields), zh_(language == Language::zh) {}

    std::string text() const {
        const Time time = this->time();
        std::string date = this->date();
        if (date.empty() && time.is_of_day) date = say("every day", "每天");
        if (zh_) return spaced(joined({date, time.text}, time.is_of_day ? " " : "，"));
        std::string words = joined({time.text, date}, date.starts_with("on ") ? " " : ", ");
        words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
        return words;
    }

  private:
    // A time of day, or how often.
    struct Time {
        std::string text;
        bool is_of_day;
    };

    std::string say(std::string_view en, std::string_view zh) const { return std::string(zh_ ? zh : en); }

    // "1, 2 and 3"
    std::string list(const Texts& texts) const { return list(texts, zh_ ? "和" : "and"); }
    std::string list(const Texts& texts, std::string_view last) const {
        const std::string before_last = zh_ ? std::string(last) : " " + std::string(last) + " ";
        std::string all;
        for (std::size_t at = 0; at < texts.size(); ++at) {
            if (at > 0) all += at + 1 == texts.size() ? before_last : say(", ", "、");
            all += texts[at];
        }
        return all;
    }

    // "5, 20 and 40", "5 to 40", "0 to 56 in steps of 7".
    std::string number_list(const Numbers& numbers) const {
        const auto name_of = [](unsigned number) { return std::to_string(number); };
        const std::optional<unsigned> distance = distance_of(numbers);
        if (!distance) return list(ranges(runs_of(numbers), name_of));
        const std::string step = std::to_string(*distance);
        return range(name_of(numbers.front()), name_of(numbers.back())) +
               say(" in steps of " + step, "（步长 " + step + "）");
    }

    std::string range(const std::string& first, const std::string& last) const {
        return first + say(" to ", "至") + last;
    }

    // The name of each number; of three neighbours and more, a range.
    template <class NameOf>
    Texts ranges(const std::vector<Run>& runs, NameOf&& name_of) const {
        Texts texts;
        for (const Run run : runs) {
            if (run.size() > 2) {
                texts.push_back(range(name_of(run.first), name_of(run.last)));
                continue;
            }
            for (unsigned number = run.first; number <= run.last; ++number) texts.push_back(name_of(number));
        }
        return texts;
    }

    // ---- the time of day

    Time time() const {
        const Numbers seconds = numbers_of(fields_.seconds);
        const Numbers minutes = numbers_of(fields_.minutes);
        const Numbers hours = numbers_of(fields_.hours);
        if (seconds.size() * minutes.size() * hours.size() <= kListed) {
            const std::string times = list(times_of_day(hours, minutes, seconds));
            return {say("at " + times, times), true};
        }
        if (zh_)
            return {joined({hours_zh(hours, minutes), minutes_zh(minutes, seconds), seconds_zh(seconds)}, "，"), false};
        return {joined({seconds_en(seconds), minutes_en(minutes, seconds), hours_en(hours, minutes)}, " "), false};
    }

    static Texts times_of_day(const Numbers& hours, const Numbers& minutes, const Numbers& seconds) {
        Texts times;
        for (const unsigned hour : hours) {
            for (const unsigned minute : minutes) {
                for (const unsigned second : seconds) {
                    times.push_back(two_digits(hour) + ":" + two_digits(minute));
                    if (seconds.size() > 1 || second > 0) times.back() += ":" + two_digits(second);
                }
            }
        }
        return times;
    }

    static bool is_zero(const Numbers& numbers) { return numbers.size() == 1 && numbers[0] == 0; }

    // "minute 5", "minutes 5 and 20"
    std::string counted(std::string_view unit, const Numbers& numbers) const {
        return std::string(unit) + (numbers.size() == 1 ? " " : "s ") + number_list(numbers);
    }

    std::string seconds_en(const Numbers& seconds) const {
        if (is_zero(seconds)) return "";
        const std::optional<unsigned> step = step_of(seconds, 60);
        if (!step) return "at " + counted("second", seconds);
        return *step == 1 ? "every second" : "every " + std::to_string(*step) + " seconds";
    }

    std::string minutes_en(const Numbers& minutes, const Numbers& seconds) const {
        const bool is_first = is_zero(seconds);
        const std::optional<unsigned> step = step_of(minutes, 60);
        if (!step) return (is_first ? "at " : "of ") + counted("minute", minutes);
        if (*step > 1) {
            return is_first ? "every " + std::to_string(*step) + " minutes" : "of every " + ordinal(*step) + " minute";
        }
        if (is_first) return "every minute";
        return step_of(seconds, 60) ? "" : "of every minute";
    }

    std::string hours_en(const Numbers& hours, const Numbers& minutes) const {
        const bool is_certain_minute = !step_of(minutes, 60);
        const std::optional<unsigned> step = step_of(hours, 24);
        if (step == 1U) return is_certain_minute ? "of every hour" : "";
        if (step) {
            return is_certain_minute ? "every " + std::to_string(*step) + " hours"
                                     : "in every " + ordinal(*step) + " hour";
        }
        const std::vector<Run> runs = runs_of_cycle(hours, 0, 24);
        if (runs.size() > 3) return (is_certain_minute ? "of " : "in ") + counted("hour", hours);
        return (is_certain_minute ? "of every hour " : "") + list(hour_ranges(runs));
    }

    Texts hour_ranges(const std::vector<Run>& runs) const {
        Texts texts;
        for (const Run run : runs) {
            const std::string first = two_digits(run.first) + ":00";
            const std::string last = two_digits(run.last % 24) + ":59";
            texts.push_back(zh_ ? first + " 至 " + last : "from " + first + " to " + last);
        }
        return texts;
    }

    std::string seconds_zh(const Numbers& seconds) const {
        if (is_zero(seconds)) return "";
        const std::optional<unsigned> step = step_of(seconds, 60);
        if (!step) return "第" + number_list(seconds) + "秒";
        return *step == 1 ? "每秒" : "每" + std::to_string(*step) + "秒";
    }

    std::string minutes_zh(const Numbers& minutes, const Numbers& seconds) const {
        const std::optional<unsigned> step = step_of(minutes, 60);
        if (!step) return "第" + number_list(minutes) + "分";
        if (*step > 1) return "每" + std::to_string(*step) + "分钟";
        return !is_zero(seconds) && step_of(seconds, 60) ? "" : "每分钟";
    }

    std::string hours_zh(const Numbers& hours, const Numbers& minutes) const {
        const std::optional<unsigned> step = step_of(hours, 24);
        if (step == 1U) return step_of(minutes, 60) ? "" : "每小时";
        if (step) return "每" + std::to_string(*step) + "小时";
        const std::vector<Run> runs = runs_of_cycle(hours, 0, 24);
        return runs.size() > 3 ? "第" + number_list(hours) + "时" : list(hour_ranges(runs));
    }

    // ---- the date

    std::string date() const {
        const bool has_days = fields_.days != kAllDays;
        const bool has_weekdays = fields_.weekdays != kAllWeekdays;
        // If either is sufficient, one that always matches makes the other one say nothing.
        const bool has_neither = fields_.either && !(has_days && has_weekdays);
        const Texts days = has_days && !has_neither ? days_of_month() : Texts();
        const bool shows_weekdays = has_weekdays && !has_neither;
        const std::string months = fields_.months == kAllMonths ? "" : month_list();
        const std::string years = fields_.years ? number_list(year_numbers()) : "";
        return zh_ ? date_zh(days, shows_weekdays, months, years) : date_en(days, shows_weekdays, months, years);
    }

    std::string date_en(const Texts& days, bool shows_weekdays, const std::string& months,
                        const std::string& years) const {
        const std::string in_months = months.empty() ? "" : "in " + months;
        const std::string of_months = months.empty() ? "of the month" : "of " + months;
        const std::string in_years = years.empty() ? "" : months.empty() ? "in " + years : years;
        if (days.empty()) {
            if (!shows_weekdays) return joined({in_months, in_years}, " ");
            const std::string when = list(weekdays());
            return joined({is_range_of_weekdays() ? when : "on " + when, has_nth() ? of_months : in_months, in_years},
                          " ");
        }
        const std::string when = "on " + list(days);
        if (!shows_weekdays) return joined({when, of_months, in_years}, " ");
        if (fields_.either) return joined({when, "of the month and on", list(weekdays()), in_months, in_years}, " ");
        return joined({when, of_months, in_years}, " ") + ", if it is " + list(weekdays("a "), "or");
    }

    std::string date_zh(const Texts& days, bool shows_weekdays, const std::string& months,
                        const std::string& years) const {
        std::string when = list(days);
        if (shows_weekdays) {
            if (!days.empty()) when += fields_.either ? "以及" : "且为";
            when += list(weekdays(), days.empty() || fields_.either ? "和" : "或");
        }
        const bool is_monthly = months.empty() && (!days.empty() || (shows_weekdays && has_nth()));
        return joined({years.empty() ? "" : years + "年", months, (is_monthly ? "每月" : "") + when}, "");
    }

    bool has_nth() const {
        std::uint8_t all = fields_.last_weekdays;
        for (const std::uint8_t nth : fields_.nth_weekdays) all = static_cast<std::uint8_t>(all | nth);
        return all != 0;
    }

    std::vector<Run> weekday_runs() const { return runs_of_cycle(numbers_of(fields_.weekdays), 0, 7); }

    bool is_range_of_weekdays() const {
        const std::vector<Run> runs = weekday_runs();
        return !has_nth() && runs.size() == 1 && runs[0].size() > 2;
    }

    // `article` comes before a single weekday that has no "the".
    Texts weekdays(std::string_view article = "") const {
        const auto name_of = [this](unsigned day) {
            return std::string(zh_ ? kWeekdaysZh[day % 7] : kWeekdays[day % 7]);
        };
        Texts texts;
        for (const Run run : weekday_runs()) {
            for (const std::string& text : ranges({run}, name_of)) {
                texts.push_back((zh_ || run.size() > 2 ? "" : std::string(article)) + text);
            }
        }
        for (std::size_t nth = 0; nth < std::size(kNth); ++nth) {
            const bool is_last = nth == fields_.nth_weekdays.size();
            for (const unsigned day : numbers_of(is_last ? fields_.last_weekdays : fields_.nth_weekdays[nth])) {
                texts.push_back(zh_ ? std::string(kNthZh[nth]) + name_of(day)
                                    : "the " + std::string(kNth[nth]) + " " + name_of(day));
            }
        }
        return texts;
    }

    std::string month_list() const {
        const auto name_of = [this](unsigned month) {
            const unsigned at = (month - 1) % 12;
            return zh_ ? std::to_string(at + 1) + " 月" : std::string(kMonths[at]);
        };
        return list(ranges(runs_of_cycle(numbers_of(fields_.months), 1, 12), name_of));
    }

    Numbers year_numbers() const {
        Numbers years;
        for (unsigned word = 0; word < fields_.years->size(); ++word) {
            add_bits(years, (*fields_.years)[word], kFirstYear + 64 * word);
        }
        return years;
    }

    std::string day_name(unsigned day) const { return zh_ ? std::to_string(day) + "日" : "the " + ordinal(day); }

    std::string day_before_last(unsigned before) const {
        if (before == 0) return say("the last day", "最后一天");
        return zh_ ? "倒数第" + std::to_string(before + 1) + "天" : "the " + ordinal(before + 1) + " last day";
    }

    std::string nearest_to(const std::string& day) const {
        return zh_ ? "离" + day + "最近的工作日" : "the working day nearest to " + day;
    }

    Texts days_of_month() const {
        const Numbers numbers = numbers_of(fields_.days);
        Texts texts;
        if (const std::optional<unsigned> step = distance_of(numbers)) {
            const std::string all = range(day_name(numbers.front()), day_name(numbers.back()));
            texts.push_back(zh_ ? all + "每" + std::to_string(*step) + "天"
                                : "every " + ordinal(*step) + " day from " + all);
        } else {
            texts = ranges(runs_of(numbers), [this](unsigned day) { return day_name(day); });
        }
        for (const unsigned before : numbers_of(fields_.days_before_last)) texts.push_back(day_before_last(before));
        for (const unsigned day : numbers_of(fields_.nearest)) texts.push_back(nearest_to(day_name(day)));
        for (const unsigned before : numbers_of(fields_.nearest_before_last)) {
            texts.push_back(before == 0 ? say("the last working day", "最后一个工作日")
                                        : nearest_to(day_before_last(before)));
        }
        return texts;
    }

    const CronFields& fields_;
    bool zh_;
};

}  // namespace

std::string words_of(const CronRule& rule, Language language) {
    return CronWords(rule.fields(), language).text();
}

}  // namespace duewheel
