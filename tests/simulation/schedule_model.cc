#include "simulation/schedule_model.h"

#include <algorithm>

#include "message/zone_cache.h"

namespace duewheel {
namespace {

// Excluded times that are stepped over before a rule counts as one that has no more.
constexpr int kClosedTimesMost = 40'000;

Instant instant(DueMs at_ms) {
    return Instant(std::chrono::milliseconds(at_ms));
}

}  // namespace

Result<Zone> simulated_zone(std::uint32_t version, std::string_view name) {
    constexpr std::string_view kNeighbours[][3] = {
        {"America/New_York", "America/Chicago", "America/Halifax"},
        {"Australia/Lord_Howe", "Australia/Brisbane", "Pacific/Auckland"},
        {"Europe/Oslo", "Europe/London", "Europe/Helsinki"},
    };
    static ZoneCache shelf;  // a file is read for each that is not on it, in each of thousands of runs
    for (const auto& neighbours : kNeighbours) {
        if (neighbours[0] == name) return shelf.find(neighbours[version % 3]);
    }
    return shelf.find(name);
}

std::string simulated_zone_data(std::uint32_t version) {
    return "simulated " + std::to_string(version);
}

std::optional<TimesModel> TimesModel::make(const TimesRule& rule, std::uint32_t zone_version) {
    const Result<Zone> zone = rule.zone.empty() ? Zone::utc() : simulated_zone(zone_version, rule.zone);
    const Result<ExclusionCalendar> closed = ExclusionCalendar::parse(rule.closed);
    if (!zone || !closed) return std::nullopt;
    TimesModel model(rule, *zone, *closed);
    if (rule.kind == TimesKind::cron) {
        const Result<CronRule> cron = CronRule::parse(rule.text);
        if (!cron) return std::nullopt;
        const DaylightPolicy policy{rule.skips_gaps ? SkippedTime::skip : SkippedTime::shift,
                                    rule.repeats_folds ? RepeatedTime::both : RepeatedTime::first};
        model.cron_.emplace(*cron, *zone, policy, *closed);
    } else if (rule.kind != TimesKind::every) {
        const std::string text = rule.kind == TimesKind::at ? "R1/" + rule.text + "/P1D" : rule.text;
        const Result<RepeatingInterval> interval = RepeatingInterval::parse(text, *zone);
        if (!interval) return std::nullopt;
        model.interval_ = *interval;
    } else if (rule.every_ms < 1) {
        return std::nullopt;
    }
    return model;
}

std::optional<DueMs> TimesModel::following(DueMs after_ms, DueMs from_ms) const {
    if (cron_ || interval_) {
        const std::optional<Instant> found =
            cron_ ? cron_->next(instant(after_ms)) : interval_->next(instant(after_ms));
        return found ? std::optional<DueMs>(found->time_since_epoch().count()) : std::nullopt;
    }
    // The first one is at the start, or a rest after the put; the n-th n rests later.
    const DueMs first = rule_.start_ms != 0 ? rule_.start_ms : from_ms + rule_.every_ms;
    const std::int64_t rests = after_ms < first ? 0 : (after_ms - first) / rule_.every_ms + 1;
    return first + rests * rule_.every_ms;
}

bool TimesModel::is_closed(DueMs at_ms) const {
    if (cron_ || closed_.empty()) return false;  // an expression knows its days itself
    const auto local = interval_ ? interval_->local_time(instant(at_ms)) : zone_.local(instant(at_ms));
    const auto day = std::chrono::floor<std::chrono::days>(local);
    return closed_.excludes(std::chrono::year_month_day(day));
}

std::optional<DueMs> TimesModel::next(DueMs after_ms, DueMs from_ms) const {
    DueMs after = rule_.start_ms != 0 ? std::max(after_ms, rule_.start_ms - 1) : after_ms;
    for (int tries = 0; tries < kClosedTimesMost; ++tries) {
        const std::optional<DueMs> found = following(after, from_ms);
        if (!found || instant(*found) >= kCalendarEnd) return std::nullopt;
        if (rule_.end_ms != 0 && *found > rule_.end_ms) return std::nullopt;
        if (!is_closed(*found)) return found;
        after = *found;
    }
    return std::nullopt;
}

// Where clocks show by now what they showed then, or are not asked, there is nothing to pass twice.
std::optional<DueMs> TimesModel::next_after_change(DueMs decided_ms, std::int64_t ahead_ms, DueMs from_ms) const {
    const std::int64_t jump_ms = this->ahead_ms(decided_ms) - ahead_ms;
    const bool is_of_whole_hours = jump_ms % 3'600'000 == 0 && jump_ms > -86'400'000 && jump_ms < 86'400'000;
    const bool asks_clocks =
        cron_ ? !(is_of_whole_hours && cron_->rule().every_hour()) : interval_ && interval_->goes_by_clocks();
    std::optional<DueMs> found = next(std::max(decided_ms, from_ms), from_ms);
    if (decided_ms <= from_ms || jump_ms == 0 || !asks_clocks) return found;
    const DueMs shown = decided_ms + ahead_ms;
    constexpr std::int64_t kTwoDaysMs = 2LL * 86'400'000;  // no clocks are put back so far
    while (found && *found < decided_ms + kTwoDaysMs && *found + this->ahead_ms(*found) <= shown) {
        found = next(*found, from_ms);
    }
    return found;
}

std::int64_t TimesModel::ahead_ms(DueMs at_ms) const {
    return std::chrono::milliseconds(zone_.offset_at(instant(at_ms))).count();
}

// The clocks that show it have just been put forward, over a local time that the rule says.
bool TimesModel::is_shifted(DueMs at_ms) const {
    const auto local = zone_.local(instant(at_ms));
    if (interval_) return interval_->goes_by_clocks() && interval_->local_time(instant(at_ms)) != local;
    return cron_ && !cron_->rule().matches(std::chrono::floor<std::chrono::seconds>(local));
}

bool TimesModel::is_second_pass(DueMs at_ms) const {
    return zone_.instant_of(zone_.local(instant(at_ms))) != instant(at_ms);
}

ClockNote TimesModel::note(DueMs at_ms) const {
    constexpr std::int64_t kQuarterMs = 900'000;
    if (is_shifted(at_ms)) return ClockNote::shifted;
    if (is_second_pass(at_ms)) return ClockNote::second_pass;
    // Clocks show it once more, as much later as they are put back by.
    for (std::int64_t back = kQuarterMs; back <= 96 * kQuarterMs; back += kQuarterMs) {
        if (zone_.local(instant(at_ms + back)) == zone_.local(instant(at_ms))) return ClockNote::first_pass;
    }
    return ClockNote::none;
}

bool TimesModel::may_be_left_out(DueMs at_ms, std::string_view why) const {
    const auto is_closed_at = [&](DueMs at) {
        const auto day = std::chrono::floor<std::chrono::days>(zone_.local(instant(at)));
        return closed_.excludes(std::chrono::year_month_day(day));
    };
    // What the end of a gap stands for would have been on the day on which clocks were put forward.
    if (why == "closed_day")
        return is_closed(at_ms) || is_closed_at(at_ms) || (is_shifted(at_ms) && is_closed_at(at_ms - 1));
    if (why == "skipped_time") return rule_.skips_gaps && is_shifted(at_ms);
    return why == "repeated_time" && !rule_.repeats_folds && is_second_pass(at_ms);
}

TimesRule without_policies(TimesRule rule) {
    rule.closed.clear();
    rule.skips_gaps = false;
    rule.repeats_folds = rule.kind == TimesKind::cron;
    return rule;
}

// ---- numbers

bool RuleStretch::has(std::uint64_t place) const {
    while (known_.size() < place && !is_whole_) {
        const std::optional<DueMs> next = times_.next(known_.empty() ? from_ms_ : known_.back(), from_ms_);
        if (next) {
            known_.push_back(*next);
        } else {
            is_whole_ = true;
        }
    }
    return known_.size() >= place;
}

std::optional<DueMs> RuleStretch::time(std::uint64_t number) const {
    const bool is_outside = number < first_run_ || (rule_.times != 0 && number > rule_.times);
    if (is_outside || !has(number - first_run_ + 1)) return std::nullopt;
    return known_[number - first_run_];
}

std::uint64_t RuleStretch::number_after(DueMs then) const {
    while (!is_whole_ && known_.size() < kCountMost && (known_.empty() || known_.back() <= then)) {
        static_cast<void>(has(known_.size() + 1));
    }
    const auto behind = std::upper_bound(known_.begin(), known_.end(), then);
    const std::uint64_t number = first_run_ + static_cast<std::uint64_t>(behind - known_.begin());
    return rule_.times == 0 ? number : std::min(number, std::max(first_run_, rule_.times + 1));
}

std::uint64_t RuleStretch::place_of(const TimesModel& times, DueMs at_ms, DueMs from_ms) {
    DueMs at = from_ms;
    for (std::uint64_t place = 1; place <= kCountMost; ++place) {
        const std::optional<DueMs> next = times.next(at, from_ms);
        if (!next || *next > at_ms) return 0;
        if (*next == at_ms) return place;
        at = *next;
    }
    return 0;
}

bool SchedulePut::may_be_at(DueMs at) const {
    return std::any_of(tries.begin(), tries.end(), [at](const Try& one) { return one.may_be_at(at); });
}

bool SchedulePut::has_time(DueMs at) const {
    return std::any_of(times.begin(), times.end(),
                       [at](const TimesModel& model) { return model.next(at - 1, at - 1) == at; });
}

bool SchedulePut::was_never_taken() const {
    return std::all_of(tries.begin(), tries.end(), [](const Try& one) { return one.was_refused; });
}

bool SchedulePut::may_have_been_lost() const {
    return std::any_of(tries.begin(), tries.end(), [](const Try& one) { return one.was_lost; });
}

const RuleStretch* ScheduleLife::stretch_of(std::uint64_t number) const {
    const RuleStretch* found = nullptr;
    for (const RuleStretch& stretch : stretches) {
        if (stretch.first_run() <= number) found = &stretch;
    }
    return found;
}

}  // namespace duewheel
