#include "simulation/sim_clock.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace duewheel {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMinuteNs = 60 * kSecondNs;
constexpr std::int64_t kHourNs = 60 * kMinuteNs;
constexpr std::int64_t kDayNs = 24 * kHourNs;
constexpr std::int64_t kYearNs = 366 * kDayNs;
constexpr std::int64_t kSlewedNs = 5 * kSecondNs;
// Beyond that time is only counted: a clock that is ahead by years, or runs a tenth slower, still has its nanoseconds.
constexpr DueMs kCountedMs = kServerTimeMaxMs - 3LL * 366 * 86'400'000;
// There a wall clock stands still: one that is ahead by two centuries would leave the range of nanoseconds in a long
// sleep (seed 2030). To the server, everything beyond kServerTimeMaxMs is the same.
constexpr std::int64_t kWallMostNs = kServerTimeMaxMs * 1'000'000 + kYearNs;
// A process that sleeps for longer than so many looks may as well be suspended.
constexpr int kLooksOfASleep = 64;
// As much server time may go by anywhere, whatever else a run does.
constexpr std::int64_t kShortNs = 10 * kMinuteNs;

}  // namespace

SimClock::SimClock(const SimOptions& options, Oracle& oracle, RareStates& rare)
    : options_(options),
      rules_{options.on_clock_jump, options.test_clock},
      rare_(rare),
      oracle_(oracle),
      judge_(rules_, oracle, rare),
      random_(options.seed * 7 + 3),
      wall_ns_(options.start_ms * kMsNs),
      boot_ns_(random_.between(kMsNs, kHourNs)),
      has_named_runs_(random_.chance(950'000)),
      now_ms_(options.start_ms) {}

// Kept, because it is asked for much more often than it changes.
void SimClock::read() {
    if (clock_) now_ms_ = std::max(clock_->now_ms(boot_ns_), beyond_ms_);
}

// ---- the process

void SimClock::start(DueMs floor_ms, const ClockMark& mark) {
    const ClockStart start = clock_start(floor_ms, mark, machine_run(), boot_ns_);
    // A machine that was down for centuries: it starts where its clocks are not counted.
    const DueMs latest = std::max<DueMs>(wall_ns_ / kMsNs, start.continues_at_ms.value_or(0));
    if (latest >= kCountedMs && !is_beyond()) beyond_ms_ = std::max(now(), floor_ms);
    // Not by a leap that this run could not bear: then somebody sees to it before.
    if (const std::int64_t ahead = wall_ns_ - now() * kMsNs; !is_beyond() && ahead > 0 && !may_go_on_by(ahead)) {
        const std::int64_t held_from = start.continues_at_ms ? kDayNs + kMinuteNs : 401 * kDayNs;
        const std::int64_t ahead_of_known = wall_ns_ - start.continues_at_ms.value_or(floor_ms) * kMsNs;
        const bool is_held = rules_.on_jump == ClockJump::hold && ahead_of_known > held_from;
        const bool is_known = start.continues_at_ms || floor_ms > 0;
        if (!is_held || !is_known || rules_.test) wall_ns_ = now() * kMsNs + random_.between(0, kSlewedNs);
    }
    clock_.emplace(rules_, reading(), start);
    mark_ = mark;
    look_at_ns_ = boot_ns_ + (is_watched() ? kSecondNs : 0);
    read();
    if (!is_beyond()) judge_.started(reading(), floor_ms, mark, machine_run(), clock_->status(reading()));
}

// The boot clocks of the two go on together. Their wall clocks are not quite the same.
void SimClock::change_machine() {
    boot_ns_ += other_is_ahead_ns_;
    other_is_ahead_ns_ = -other_is_ahead_ns_;
    std::swap(machine_runs_, other_machine_runs_);
    told_at_ns_ = -1;
    wall_ns_ += random_.between(-kSecondNs, kSecondNs);
    judge_.change_machine();
}

std::optional<ClockMark> SimClock::mark_wanted() {
    return random_.chance(300'000) ? mark_now() : std::nullopt;
}

std::optional<ClockMark> SimClock::last_mark_wanted() {
    if (is_beyond()) return std::nullopt;
    observe();
    return mark_now();
}

std::optional<ClockMark> SimClock::mark_now() {
    if (is_beyond() || rules_.test || clock_->is_saved_in(mark_, machine_run())) return std::nullopt;
    judge_.marking();
    return clock_->mark(machine_run());
}

void SimClock::marked(const ClockMark& mark) {
    mark_ = mark;
    judge_.marked(mark);
}

void SimClock::process_ends(DueMs durable_ms) {
    if (!clock_) return;
    if (is_beyond()) durable_ms = 0;
    judge_.ended(durable_ms);
    clock_.reset();
}

void SimClock::process_stops(DueMs told_ms) {
    if (!is_beyond()) judge_.stopped(told_ms);
}

bool SimClock::is_watched() const {
    return clock_->state() == ClockState::quarantine;
}

void SimClock::look() {
    if (is_beyond()) return;
    if (boot_ns_ >= look_at_ns_) return observe();
    if (boot_ns_ != told_at_ns_) judge_.told(boot_ns_, now());
    told_at_ns_ = boot_ns_;
}

void SimClock::observe() {
    const DueMs before = now();
    const ClockState state_before = clock_->state();
    const std::uint64_t jumps_before = clock_->jumps();
    const bool is_news = clock_->observe(reading());
    read();
    if (is_news != (clock_->state() != state_before || clock_->jumps() != jumps_before)) {
        oracle_.violate("X", "the clock does not say whether something has changed");
    }
    judge_.looked(reading(), before, clock_->status(reading()));
    look_at_ns_ = boot_ns_ + (is_watched() ? kSecondNs : random_.between(1, 10) * kSecondNs);
}

// ---- time goes by

void SimClock::pass(std::int64_t ns, std::int64_t drift_ppm) {
    boot_ns_ += ns;
    const std::int64_t passed_ns = ns + ns / 1'000 * drift_ppm / 1'000;
    wall_ns_ += std::min(passed_ns, std::max<std::int64_t>(kWallMostNs - wall_ns_, 0));
    read();
}

void SimClock::go_on_to(DueMs at_ms) {
    if (at_ms <= now()) return;
    if (is_beyond() || at_ms >= kCountedMs) {
        now_ms_ = beyond_ms_ = at_ms;
        return;
    }
    sleep_until(at_ms);
    if (random_.chance(100'000)) pass(random_.between(0, kMsNs - 1), drift_ppm_);  // a timer that is late
}

// To the nanosecond, unless it is late already: a look made server time jump.
void SimClock::sleep_until(DueMs at_ms) {
    for (int looks = 0; now() < at_ms; ++looks) {
        const std::int64_t wanted = clock_->ns_until(at_ms, boot_ns_);
        const std::int64_t until_look = std::max<std::int64_t>(look_at_ns_ - boot_ns_, 1);
        const bool looks_first = until_look < wanted && looks < kLooksOfASleep;
        pass(looks_first ? until_look : wanted, looks < kLooksOfASleep ? drift_ppm_ : 0);
        if (!looks_first && (now() != at_ms || clock_->now_ms(boot_ns_ - 1) >= at_ms)) {
            oracle_.violate("X", "the clock says wrongly how long to sleep");
        }
        if (boot_ns_ >= look_at_ns_) observe();
        if (oracle_.violated()) return;
    }
}

void SimClock::leap_by(DueMs ms) {
    if (is_beyond() || now() + ms >= kCountedMs) return;
    if (rules_.test) {
        judge_.told(boot_ns_, now());
        clock_->advance(ms, reading());
        read();
        return judge_.advanced(ms, reading(), clock_->status(reading()));
    }
    switch (clock_->state()) {
        case ClockState::quarantine:
            rare_.met(Rare::suspended_while_watched);
            break;
        case ClockState::held:
            rare_.met(Rare::suspended_when_held);
            break;
        case ClockState::slow:
            rare_.met(Rare::suspended_while_slow);
            break;
        default:
            rare_.met(Rare::suspended);
            break;
    }
    pass(ms * kMsNs);
}

// ---- what is done to the wall clock, and about it

// Whether so much server time may go by at once: where time does not jump there may be what comes again and again in no
// time.
bool SimClock::may_go_on_by(std::int64_t ns) const {
    const std::int64_t scale_ms = 2 * std::max(options_.due_scale_ms, options_.lease_scale_ms);
    if (now() + ns / kMsNs >= kCountedMs) return false;
    return ns <= kShortNs || ns / kMsNs <= scale_ms || options_.has(Fault::clock_jump);
}

// A wall clock that is so far ahead would be believed, and a run in which time does not jump has to be spared that.
bool SimClock::is_bearable(std::int64_t ahead_ns) const {
    constexpr std::int64_t kNeverBelievedNs = kDayNs + kMinuteNs;
    const bool is_held = ahead_ns > kNeverBelievedNs && rules_.on_jump == ClockJump::hold;
    return is_held || rules_.test || may_go_on_by(ahead_ns);
}

// As much again on each step of the scale: where it is slewed, believed after a minute, held, and more than a start
// believes.
std::int64_t SimClock::draw_ahead() {
    constexpr std::int64_t kScales[] = {50 * kMsNs, kSlewedNs, kMinuteNs, kHourNs, kDayNs, 30 * kDayNs, 2 * kYearNs};
    const std::int64_t ahead = random_.between(0, kScales[random_.below(std::size(kScales))]);
    return is_bearable(ahead) ? ahead : ahead % kSlewedNs;
}

std::int64_t SimClock::draw_behind() {
    constexpr std::int64_t kScales[] = {50 * kMsNs, kSlewedNs, 2 * kMinuteNs, 3 * kHourNs};
    return random_.between(0, kScales[random_.below(std::size(kScales))]);
}

void SimClock::set_wall(std::int64_t ahead_ns) {
    const std::int64_t server_ns = now() * kMsNs;
    if (ahead_ns > 0 && !is_bearable(ahead_ns)) return;
    wall_ns_ = server_ns + ahead_ns;
}

void SimClock::set_right() {
    drift_ppm_ = 0;
    set_wall(random_.chance(500'000) ? 0 : random_.between(-20 * kMsNs, 20 * kMsNs));
}

void SimClock::disturb() {
    if (is_beyond() || is_calm_) return;
    const bool may_be_wrong = has(Fault::wall_ahead) || has(Fault::wall_back) || has(Fault::wall_drift);
    if (!may_be_wrong || !random_.chance(200'000)) return;
    constexpr std::int64_t kDrifts[] = {-150'000, -3'000, -300, 40, 400, 3'000, 150'000};
    switch (random_.below(8)) {
        case 0:
        case 1:
            if (has(Fault::wall_ahead)) set_wall(draw_ahead());
            return;
        case 2:
            if (has(Fault::wall_back)) set_wall(-draw_behind());
            return;
        case 3:
            if (has(Fault::wall_drift)) drift_ppm_ = kDrifts[random_.below(std::size(kDrifts))];
            return;
        case 4:
            return random_.chance(500'000) ? set_right() : accept();
        default:
            return wait_a_minute();
    }
}

// While something comes of it. The very second at which a minute is over, or one beside it.
void SimClock::wait_a_minute() {
    if (clock_->state() == ClockState::test || clock_->state() == ClockState::held) return;
    if (clock_->state() == ClockState::steady && !random_.chance(200'000)) return;
    const bool is_long = clock_->state() != ClockState::quarantine && random_.chance(300'000);
    const std::int64_t ns = is_long ? 4 * kMinuteNs : random_.between(57, 62) * kSecondNs;
    const std::int64_t until = boot_ns_ + ns;
    while (boot_ns_ < until && !oracle_.violated()) {
        pass(std::clamp<std::int64_t>(look_at_ns_ - boot_ns_, 1, until - boot_ns_), drift_ppm_);
        if (boot_ns_ >= look_at_ns_) observe();
    }
}

void SimClock::accept() {
    const std::int64_t ahead_ns = wall_ns_ - now() * kMsNs;
    if (ahead_ns > 0 && !may_go_on_by(ahead_ns)) return;
    observe();
    const bool taken = clock_->accept(reading());
    read();
    judge_.accepted(taken, clock_->status(reading()));
}

// A start finds it so.
void SimClock::disturb_while_down() {
    if (is_beyond() || !random_.chance(400'000)) return;
    if (has(Fault::wall_ahead) && random_.chance(500'000)) {
        set_wall(draw_ahead());
    } else if (has(Fault::wall_back)) {
        set_wall(-draw_behind());
    }
}

void SimClock::calm() {
    if (!is_beyond()) set_right();
    is_calm_ = true;
}

}  // namespace duewheel
