#include "calendar/rule_words.h"

#include <cstdint>
#include <iterator>

namespace duewheel {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Unit {
    std::string_view en;
    std::string_view zh;
    bool has_measure_word = false;  // between a number and this unit
};

struct Count {
    std::int64_t count;
    Unit unit;
};

constexpr std::string_view kMeasureWord = "个";

// "Every hour", "Every 1 hour 30 minutes". Counts of 0 are omitted.
template <std::size_t kSize>
std::string every(const Count (&counts)[kSize], Language language) {
    const bool zh = language == Language::zh;
    std::string words;
    int units = 0;
    const Unit* one = nullptr;  // the last unit that has the count 1
    for (const Count& part : counts) {
        if (part.count == 0) continue;
        ++units;
        one = part.count == 1 ? &part.unit : nullptr;
        words += ' ' + std::to_string(part.count) + ' ';
        if (zh && part.unit.has_measure_word) words += kMeasureWord;
        words += zh ? part.unit.zh : part.unit.en;
        if (!zh && part.count != 1) words += 's';
    }
    if (units == 1 && one != nullptr) return zh ? "每" + std::string(one->zh) : "Every " + std::string(one->en);
    return (zh ? "每" : "Every") + words;
}

std::string every(const Period& period, Language language) {
    milliseconds left = period.time;
    const auto take = [&left](auto unit) {
        const auto whole = std::chrono::floor<decltype(unit)>(left);
        left -= whole;
        return static_cast<std::int64_t>(whole.count());
    };
    const std::int64_t months = period.months.count();
    const std::int64_t whole_days = period.days.count();
    const bool is_weeks = whole_days % 7 == 0;
    const Count counts[] = {{months / 12, {"year", "年"}},
                            {months % 12, {"month", "月", true}},
                            {is_weeks ? whole_days / 7 : 0, {"week", "周"}},
                            {is_weeks ? 0 : whole_days, {"day", "天"}},
                            {take(hours()), {"hour", "小时"}},
                            {take(minutes()), {"minute", "分钟"}},
                            {take(seconds()), {"second", "秒"}},
                            {left.count(), {"millisecond", "毫秒"}}};
    return every(counts, language);
}

// 2027-01-01T06:00:00+01:00 with a space instead of the T.
std::string clock_text(std::string_view text) {
    std::string shown(text);
    if (shown.size() > 10 && (shown[10] == 'T' || shown[10] == 't')) shown[10] = ' ';
    return shown;
}

}  // namespace

std::string words_of(milliseconds interval, Language language) {
    const days whole = std::chrono::floor<days>(interval);
    return every(Period{.days = whole, .time = interval - whole}, language);
}

std::string words_of(const RepeatingInterval& interval, std::string_view text, Language language) {
    const std::size_t start = text.find('/') + 1;
    const std::string_view first = text.substr(start, text.find('/', start) - start);
    if (interval.count() == 1) return words_of_one(first, language);
    const std::string period = every(interval.period(), language);
    const std::string times = interval.count() ? std::to_string(*interval.count()) : "";
    if (language == Language::zh) {
        return period + "，从 " + clock_text(first) + " 起" + (times.empty() ? "" : "，共 " + times + " 次");
    }
    return period + " from " + clock_text(first) + (times.empty() ? "" : ", " + times + " times");
}

std::string words_of_one(std::string_view time, Language language) {
    return (language == Language::zh ? "一次，" : "Once, at ") + clock_text(time);
}

}  // namespace duewheel
