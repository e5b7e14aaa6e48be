#include "simulation/clock_judge.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace duewheel {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kSecondNs = 1000 * kMsNs;
constexpr std::int64_t kMinuteNs = 60 * kSecondNs;
constexpr DueMs kFarMs = 5'000;
constexpr DueMs kNearMs = 50;
constexpr DueMs kDayMs = 86'400'000;
constexpr DueMs kLongAtStartMs = 400 * kDayMs;
constexpr DueMs kMarkIsOffMs = 3'000;  // where the process has had a turn since
// Both times are told in whole milliseconds, so that a distance between them may be off by one.
constexpr DueMs kRoundedMs = 1;
constexpr std::size_t kLooksKept = 200;  // a second apart, and more: enough for a minute

std::string of_ms(std::string_view what, std::int64_t ms) {
    return std::string(what) + " " + std::to_string(ms) + " ms";
}

}  // namespace

void ClockJudge::begin_stretch(std::int64_t boot_ns, DueMs server_ms) {
    is_jump_marked_ = false;
    last_ = last_look_ = since_jump_ = {boot_ns, server_ms};
}

void ClockJudge::marked(const ClockMark& mark) {
    mark_ = mark;
    is_mark_certain_ = true;
    is_jump_marked_ = true;
}

void ClockJudge::change_machine() {
    std::swap(mark_, other_mark_);
    std::swap(is_mark_certain_, is_other_mark_certain_);
    is_jump_marked_ = false;
}

void ClockJudge::lose_mark() {
    mark_ = {};
    is_mark_certain_ = true;
    is_jump_marked_ = false;
}

// Whatever the wall clock says by then: where the machine ran on, and the process had left its time, no start is later
// than the process would be.
void ClockJudge::check_goes_on(ClockReading at, const std::string& machine_run, const ClockStatus& said) {
    if (!is_jump_marked_ || machine_run.empty() || mark_.machine_run != machine_run || rules_.test) return;
    const DueMs mark_is_ahead = mark_.ahead_of_boot_ms - (last_.server_ms - last_.boot_ns / kMsNs);
    // Where time has run fast for a minute without a turn, the mark is too old: the log is far ahead of it.
    if (at.boot_ns < last_.boot_ns || mark_is_ahead > kMarkIsOffMs || mark_is_ahead < -kFarMs) return;
    const std::int64_t passed_ms = (at.boot_ns - last_.boot_ns) / kMsNs;
    const DueMs latest = last_.server_ms + passed_ms + passed_ms / 10 + kFarMs + kMarkIsOffMs + 2 * kRoundedMs;
    if (said.server_ms > latest)
        oracle_.violate("C2", of_ms("a start believes a clock set while the machine ran, by", said.server_ms - latest));
}

// And whatever the boot clock says: where the process before has left that it did not believe the wall clock, no start
// does at once.
void ClockJudge::check_doubt(ClockReading at, DueMs floor_ms, const std::string& machine_run, const ClockStatus& said) {
    if (!is_mark_certain_ || !mark_.doubted || floor_ms == 0 || rules_.test) return;
    DueMs latest = floor_ms;
    if (mark_.machine_run == machine_run) latest = std::max(latest, mark_.ahead_of_boot_ms + at.boot_ns / kMsNs);
    if (said.server_ms > latest + kFarMs)
        oracle_.violate("C2", of_ms("a start believes a clock that was doubted, by", said.server_ms - latest));
}

void ClockJudge::started(ClockReading at, DueMs floor_ms, const ClockMark& mark, const std::string& machine_run,
                         const ClockStatus& said) {
    const DueMs now = said.server_ms;
    if (floor_ms < durable_ms_)
        oracle_.violate("C1", "a start does not know how late it was when a commit was durable");
    if (now < floor_ms) oracle_.violate("C2", of_ms("a start goes back behind its log, by", floor_ms - now));
    if (now < kept_ms_) oracle_.violate("C2", of_ms("server time goes back over a clean stop, by", kept_ms_ - now));
    if (is_mark_certain_ && mark_ != mark) oracle_.violate("C1", "a start does not know what was left of the time");
    check_goes_on(at, machine_run, said);
    check_doubt(at, floor_ms, machine_run, said);
    // What would the time be without the wall clock?
    std::optional<DueMs> known;
    const bool is_same_run = !machine_run.empty() && mark.machine_run == machine_run;
    if (!rules_.test) {
        const DueMs ran_on = at.boot_ns / kMsNs + mark.ahead_of_boot_ms;
        if (is_same_run && floor_ms <= ran_on + kFarMs) {
            known = std::max(ran_on, floor_ms);
        } else {
            if (mark.doubted && floor_ms > 0) known = floor_ms;
            if (is_same_run) rare_.met(Rare::started_with_an_old_mark);
        }
    }
    const std::int64_t ahead_ns = at.wall_ns - known.value_or(floor_ms) * kMsNs;
    const bool is_long =
        (known || floor_ms > 0) && ahead_ns > (known ? kDayMs : kLongAtStartMs) * kMsNs && !rules_.test;
    const bool is_held = is_long && rules_.on_jump == ClockJump::hold;
    const bool is_watched = known && !is_held && ahead_ns > kFarMs * kMsNs;
    const DueMs expected = is_held || is_watched ? known.value_or(floor_ms) : std::max(floor_ms, said.wall_ms);
    if (now != expected) oracle_.violate("C2", of_ms("a start begins off the time that it should, by", now - expected));
    if (is_held != (said.state == ClockState::held)) oracle_.violate("X", "a start says wrongly whether it is held");
    if (is_watched != (said.state == ClockState::quarantine))
        oracle_.violate("X", "a start says wrongly whether it watches the wall clock");
    if (kept_ms_ > 0 && said.wall_ms < kept_ms_) rare_.met(Rare::time_kept_over_a_stop);
    if (said.wall_ms < floor_ms) rare_.met(Rare::started_behind_the_log);
    if (is_long && !known) rare_.met(is_held ? Rare::started_held : Rare::started_a_year_later);
    if (known && is_held) rare_.met(mark.doubted ? Rare::started_held_as_before : Rare::started_held_at_once);
    if (is_watched) rare_.met(mark.doubted ? Rare::started_watching_as_before : Rare::started_watching);
    if (known && mark.doubted && !is_held && !is_watched) rare_.met(Rare::started_with_a_clock_set_right);
    begin_stretch(at.boot_ns, now);
    state_ = said.state;
    jumps_ = said.jumps;
    watched_.clear();
    if (is_watched) watched_.push_back({at.boot_ns, at.wall_ns - at.boot_ns});
    offset_ns_ = at.wall_ns - at.boot_ns;
    left_alone_ = last_;
    left_at_ms_ = said.ahead_ms();
    was_held_ = is_held;
    kept_ms_ = 0;
    mark_ = mark;
    is_mark_certain_ = true;
    is_jump_marked_ = is_same_run && mark.ahead_of_boot_ms - (now - at.boot_ns / kMsNs) >= -kFarMs;
}

void ClockJudge::ended(DueMs durable_ms) {
    durable_ms_ = durable_ms;
}

void ClockJudge::told(std::int64_t boot_ns, DueMs server_ms) {
    if (server_ms < last_.server_ms) {
        return oracle_.violate("C2", of_ms("server time goes back, by", last_.server_ms - server_ms));
    }
    check_rate(last_, boot_ns, server_ms);
    check_rate(last_look_, boot_ns, server_ms);
    check_rate(since_jump_, boot_ns, server_ms);
    last_ = {boot_ns, server_ms};
}

void ClockJudge::check_rate(const Mark& since, std::int64_t boot_ns, DueMs server_ms) {
    const std::int64_t passed_us = (boot_ns - since.boot_ns) / 1000;
    const std::int64_t gained_us = (server_ms - since.server_ms) * 1000;
    const std::int64_t rounded_us = kRoundedMs * 1000 + 1;
    const std::int64_t tenth_us = rules_.test ? 0 : passed_us / 10;
    if (gained_us > passed_us + tenth_us + rounded_us) {
        oracle_.violate("C2", of_ms("server time runs too fast, or jumps where it must not: to", server_ms));
    } else if (gained_us < passed_us - tenth_us - rounded_us) {
        oracle_.violate("X", of_ms("server time runs too slow, to", server_ms));
    }
}

void ClockJudge::looked(ClockReading at, DueMs before_ms, const ClockStatus& said) {
    told(at.boot_ns, before_ms);
    const DueMs ahead = said.wall_ms - before_ms;
    const bool has_jumped = said.jumps != jumps_;
    if (!has_jumped && said.server_ms != before_ms)
        oracle_.violate("C2", "server time jumps at a look, and does not say so");
    if (!rules_.test) {
        check_state(ahead, has_jumped, said);
        has_jumped ? check_jump(at, ahead, said) : check_no_jump(at, ahead, said);
        check_has_met(at, has_jumped, said);
        count_state(ahead, has_jumped, said);
    } else if (has_jumped || said.state != ClockState::test) {
        oracle_.violate("X", "the clock of a test minds the wall clock");
    }
    if (has_jumped) begin_stretch(at.boot_ns, said.server_ms);
    last_look_ = {at.boot_ns, said.server_ms};
    if (said.state != ClockState::quarantine) watched_.clear();
    if (said.state == ClockState::quarantine) watched_.push_back({at.boot_ns, at.wall_ns - at.boot_ns});
    if (watched_.size() > kLooksKept) watched_.pop_front();
    state_ = said.state;
    jumps_ = said.jumps;
}

// Which word belongs to which distance.
void ClockJudge::check_state(DueMs ahead_ms, bool has_jumped, const ClockStatus& said) {
    const ClockState state = said.state;
    const bool is_watched = state == ClockState::quarantine || state == ClockState::held;
    const bool is_far_ahead = ahead_ms > kFarMs + kRoundedMs;
    const bool is_far_behind = ahead_ms < -kFarMs - kRoundedMs;
    const bool is_within = std::abs(ahead_ms) < kFarMs - kRoundedMs;
    if (is_far_ahead && !is_watched && !has_jumped)
        oracle_.violate("X", of_ms("nothing is said of a clock ahead by", ahead_ms));
    if (is_far_behind && state != ClockState::slow)
        oracle_.violate("X", of_ms("nothing is said of a clock behind by", -ahead_ms));
    if (is_within && is_watched)
        oracle_.violate("X", of_ms("a clock is watched that is ahead by no more than", ahead_ms));
    const bool may_be_slow =
        is_far_behind || !is_within || (state_ == ClockState::slow && ahead_ms < -kNearMs + kRoundedMs);
    if (state == ClockState::slow && !may_be_slow) oracle_.violate("X", of_ms("it says slow at", ahead_ms));
}

// For a minute, as seen at looks: since one that is so long ago it was always ahead, and never a second off.
bool ClockJudge::kept_its_distance(ClockReading at) const {
    const std::int64_t offset = at.wall_ns - at.boot_ns;
    for (const Look& first : watched_) {
        if (at.boot_ns - first.boot_ns < kMinuteNs) return false;
        bool kept = std::abs(offset - first.offset_ns) <= kSecondNs;
        for (const Look& look : watched_) {
            if (look.boot_ns > first.boot_ns) kept = kept && std::abs(look.offset_ns - first.offset_ns) <= kSecondNs;
        }
        if (kept) return true;
    }
    return false;
}

// For a minute, and entirely.
bool ClockJudge::was_left_alone(ClockReading at) const {
    for (auto look = watched_.rbegin(); look != watched_.rend(); ++look) {
        if (look->offset_ns != at.wall_ns - at.boot_ns) return false;
        if (at.boot_ns - look->boot_ns >= kMinuteNs) return true;
    }
    return false;
}

void ClockJudge::check_jump(ClockReading at, DueMs ahead_ms, const ClockStatus& said) {
    if (ahead_ms < kFarMs)
        oracle_.violate("C2", of_ms("server time jumps to a clock that is ahead by no more than", ahead_ms));
    if (!kept_its_distance(at))
        oracle_.violate("C2", "server time jumps to a clock that has not kept its distance for a minute");
    const bool is_beyond = ahead_ms > kDayMs + kRoundedMs;
    if (is_beyond && rules_.on_jump == ClockJump::hold)
        oracle_.violate("C2", of_ms("it should be held, and jumps by", ahead_ms));
    if (said.server_ms != said.wall_ms)
        oracle_.violate("X", of_ms("after a jump the clock is still ahead, by", said.ahead_ms()));
    if (said.jumps != jumps_ + 1) oracle_.violate("X", "a jump is not counted once");
    if (is_beyond) rare_.met(Rare::clock_believed_by_the_rule);
    rare_.met(was_held_ ? Rare::clock_held_then_believed_nearer : Rare::clock_believed_after_a_minute);
}

void ClockJudge::check_no_jump(ClockReading at, DueMs ahead_ms, const ClockStatus& said) {
    const bool is_beyond = ahead_ms > kDayMs + kRoundedMs && rules_.on_jump == ClockJump::hold;
    const bool may_be_beyond = ahead_ms > kDayMs - kRoundedMs && rules_.on_jump == ClockJump::hold;
    const bool may_be_held = may_be_beyond && (state_ == ClockState::held || kept_its_distance(at));
    const bool is_left_alone = was_left_alone(at);
    if (said.state == ClockState::held && !may_be_held) {
        oracle_.violate("X", of_ms("it is held and should not be, ahead by", ahead_ms));
    }
    if (state_ == ClockState::held && is_beyond && said.state != ClockState::held) {
        oracle_.violate("X", of_ms("it is held no more, though ahead by", ahead_ms));
    }
    if (!is_left_alone || said.state == ClockState::steady) return;
    if (is_beyond && said.state != ClockState::held)
        oracle_.violate("X", of_ms("it does not say that it is held, at", ahead_ms));
    const bool may_be_believed =
        ahead_ms > kFarMs + kRoundedMs && (ahead_ms < kDayMs - kRoundedMs || rules_.on_jump == ClockJump::accept);
    if (may_be_believed)
        oracle_.violate("X", of_ms("a minute is over, and it does not jump to a clock ahead by", ahead_ms));
}

// At a tenth, and the last bit at 500 millionths.
void ClockJudge::check_has_met(ClockReading at, bool has_jumped, const ClockStatus& said) {
    constexpr std::int64_t kLastBitNs = 100 * kSecondNs;
    const std::int64_t offset = at.wall_ns - at.boot_ns;
    const bool is_watched = said.state == ClockState::quarantine || said.state == ClockState::held;
    if (offset != offset_ns_ || has_jumped || is_watched) {
        offset_ns_ = offset;
        left_alone_ = {at.boot_ns, said.server_ms};
        left_at_ms_ = said.ahead_ms();
        return;
    }
    const std::int64_t needed_ns = (std::abs(left_at_ms_) + kRoundedMs) * kMsNs * 10 + kLastBitNs;
    if (at.boot_ns - left_alone_.boot_ns < needed_ns) return;
    if (left_at_ms_ != 0) rare_.met(Rare::clock_met);
    if (std::abs(said.ahead_ms()) > kRoundedMs || said.state != ClockState::steady) {
        oracle_.violate("X", of_ms("a clock that was left alone is not met: it is ahead by", said.ahead_ms()));
    }
}

void ClockJudge::count_state(DueMs ahead_ms, bool has_jumped, const ClockStatus& said) {
    if (std::abs(ahead_ms) > kNearMs && std::abs(ahead_ms) < kFarMs) rare_.met(Rare::clock_slewed);
    if (std::abs(ahead_ms) > kRoundedMs && std::abs(ahead_ms) < kNearMs) rare_.met(Rare::clock_slewed_finely);
    const ClockState before = state_;
    const bool stays_watched = said.state == ClockState::quarantine && before == ClockState::quarantine;
    if (stays_watched && std::abs(watched_.back().offset_ns - offset_ns_) > kSecondNs) {
        rare_.met(Rare::clock_set_again_while_watched);
    }
    if (said.state == before) return;
    if (said.state == ClockState::slow) rare_.met(Rare::clock_slow);
    if (said.state == ClockState::quarantine) rare_.met(Rare::clock_watched);
    if (said.state == ClockState::held) rare_.met(Rare::clock_held);
    if (said.state == ClockState::held) was_held_ = true;
    if (said.state == ClockState::quarantine) return;
    if (before == ClockState::quarantine && !has_jumped && said.state != ClockState::held) {
        rare_.met(Rare::clock_set_right_while_watched);
    }
    if (before == ClockState::held) rare_.met(Rare::clock_held_then_set_right);
    if (before == ClockState::slow && said.state == ClockState::steady) rare_.met(Rare::clock_caught_up_with);
    if (said.state != ClockState::held) was_held_ = false;
}

void ClockJudge::accepted(bool taken, const ClockStatus& said) {
    const bool was_held = state_ == ClockState::held;
    const bool waits = was_held || state_ == ClockState::quarantine;
    if (taken != waits) return oracle_.violate("X", "an accept is taken, or not, as it should not be");
    if (!taken) {
        rare_.met(Rare::clock_accept_refused);
        if (said.jumps != jumps_ || said.state != state_)
            oracle_.violate("X", "an accept that is refused changes something");
        return;
    }
    rare_.met(was_held ? Rare::clock_accepted_when_held : Rare::clock_accepted_while_watched);
    if (said.server_ms != said.wall_ms || said.state != ClockState::steady || said.jumps != jumps_ + 1) {
        oracle_.violate("X", "an accept does not make server time the wall clock's");
    }
    begin_stretch(last_look_.boot_ns, said.server_ms);
    left_alone_ = last_look_;
    left_at_ms_ = 0;
    watched_.clear();
    state_ = said.state;
    jumps_ = said.jumps;
    was_held_ = false;
}

void ClockJudge::advanced(std::int64_t by_ms, ClockReading at, const ClockStatus& said) {
    rare_.met(Rare::test_clock_advanced);
    if (said.server_ms != last_.server_ms + by_ms)
        oracle_.violate("C2", "the clock of a test is not advanced as it was told");
    begin_stretch(at.boot_ns, said.server_ms);
    jumps_ = said.jumps;
}

}  // namespace duewheel
