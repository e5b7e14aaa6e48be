// Rules in words, for people who check whether a rule means what they want: `30 2 * * MON-FRI` is "At 02:30, Monday to
// Friday".
//
// Words say the whole rule and nothing else: no zone, no closed days, no bounds, which are shown next to it. They are
// written from what the rule matches and not from its text, so rules that mean the same have the same words. They are
// for people: no program should parse them, and they may change with any version.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <duewheel/cron_rule.h>
#include <duewheel/repeating_interval.h>

namespace duewheel {

enum class Language : bool { en, zh };

// All are pure, and O(length of the result), which is up to some kilobytes for a rule of many items.
std::string words_of(const CronRule& rule, Language language);
// A fixed interval of at least a millisecond: "Every 1 hour 30 minutes".
std::string words_of(std::chrono::milliseconds every, Language language);
// `text` is the text of `interval`, for its start, which is shown as it was written: "Every month from 2026-01-31
// 09:00:00, 5 times".
std::string words_of(const RepeatingInterval& interval, std::string_view text, Language language);
// One time, as it was written: "Once, at 2027-01-01 06:00:00".
std::string words_of_one(std::string_view time, Language language);

}  // namespace duewheel
