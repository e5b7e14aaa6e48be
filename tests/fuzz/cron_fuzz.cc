// Cron expressions as text, and their times: the first line is the rule, the bytes after it are the instant and the
// zone. A refusal is one sentence with a column inside the text. For an accepted rule, next and previous must agree,
// must be matches of the rule or the end of a gap, and must not skip a match.
#include <cstdint>
#include <string>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include <duewheel/cron_schedule.h>

namespace duewheel::cron_fuzz {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

void judge_refusal(std::string_view text, const Error& error) {
    require(error.code == "bad_cron"_code, "a rule is refused with another code");
    const std::string_view message = error.message;
    require(message.starts_with("column ") && message.ends_with("."), "a refusal has another form", message);
    const std::size_t column = std::stoul(std::string(message.substr(7)));
    require(column >= 1 && column <= text.size() + 1, "a refusal points outside of the text", message);
}

const Zone& zone_of(unsigned choice) {
    static const Zone kZones[] = {Zone::utc(), *Zone::load("Europe/Oslo"), *Zone::load("Australia/Lord_Howe"),
                                  *Zone::load("Pacific/Apia")};
    return kZones[choice % 4];
}

LocalSecond shown(const Zone& zone, Instant instant) {
    return std::chrono::floor<seconds>(zone.local(instant));
}

// Whether clocks have shown before what they show at an instant.
bool is_second_pass(const Zone& zone, Instant instant) {
    return zone.instant_of(zone.local(instant)) < instant;
}

bool ends_gap(const Zone& zone, Instant instant) {
    return zone.offset_at(instant) > zone.offset_at(instant - 1s);
}

void judge_firing(const CronSchedule& schedule, Instant due) {
    require(due >= kCalendarBegin && due < kCalendarEnd, "a firing lies outside of the calendar");
    require(due.time_since_epoch() % 1000ms == 0ms, "a firing is no whole second");
    const Zone& zone = schedule.zone();
    const bool named = schedule.rule().matches(shown(zone, due));
    const bool late = schedule.policy().skipped == SkippedTime::shift && ends_gap(zone, due);
    require(named || late, "a firing is not what the rule says");
    if (named && !schedule.rule().every_hour() && schedule.policy().repeated == RepeatedTime::first) {
        require(!is_second_pass(zone, due), "a repeated time fires in its second pass");
    }
}

// No second of a stretch without firings is one that the rule means.
void judge_silence(const CronSchedule& schedule, Instant after, Instant before, InputScript& script) {
    for (int look = 0; look < 20; ++look) {
        const std::int64_t length = (before - after) / 1s;
        if (length < 2) return;
        // Near either end, where an error by one would be.
        const std::int64_t near = static_cast<std::int64_t>(script.number() % 5000) % (length - 1) + 1;
        const Instant instant =
            std::chrono::floor<seconds>(look % 2 == 0 ? after + seconds(near) : before - seconds(near));
        if (instant <= after || instant >= before) continue;
        const bool named = schedule.rule().matches(shown(schedule.zone(), instant));
        const bool passed =
            schedule.policy().repeated == RepeatedTime::first && is_second_pass(schedule.zone(), instant);
        require(!named || passed, "a firing was passed over");
    }
}

void judge_rule(const CronRule& rule, InputScript script) {
    const Zone& zone = zone_of(script.byte());
    const unsigned policy = script.byte();
    const CronSchedule schedule(
        rule, zone,
        {policy & 1 ? SkippedTime::skip : SkippedTime::shift, policy & 2 ? RepeatedTime::both : RepeatedTime::first});
    const auto span = static_cast<std::uint64_t>((kCalendarEnd - kCalendarBegin).count());
    const Instant from = kCalendarBegin + milliseconds(static_cast<std::int64_t>(script.number() % span));
    const std::optional<Instant> next = schedule.next(from);
    const std::optional<Instant> previous = schedule.previous(from);
    if (next) {
        require(*next > from, "the next firing is not later");
        judge_firing(schedule, *next);
        require(schedule.previous(*next + 1ms) == next, "the way back does not find the next firing");
        require(schedule.next(*next - 1ms) == next, "the next firing is another from nearby");
    }
    if (previous) {
        require(*previous < from, "the previous firing is not earlier");
        judge_firing(schedule, *previous);
        require(schedule.next(*previous - 1ms) == previous, "the way forward does not find the previous firing");
    }
    if (next && previous && *previous != from) {
        const std::optional<Instant> over = schedule.next(*previous);
        require(over == next || over == from, "next and previous see other firings");
    }
    judge_silence(schedule, from, next.value_or(kCalendarEnd), script);
}

}  // namespace

void fuzz(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view text = input.substr(0, end);
    const Result<CronRule> rule = CronRule::parse(text);
    if (!rule) {
        judge_refusal(text, rule.error());
        return;
    }
    require(rule->text() == text, "a rule is not shown as it was written");
    judge_rule(*rule, InputScript(input.substr(std::min(end + 1, input.size()))));
}

}  // namespace duewheel::cron_fuzz
