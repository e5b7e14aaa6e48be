#include "server/shard/clock_watch.h"

#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr DueMs kLongAwayMs = 86'400'000;

// Reads both clocks at the same moment, as nearly as possible: a thread may be preempted between any two readings.
ClockReading read_clocks() {
    constexpr std::int64_t kNearNs = 50'000;
    constexpr int kChecks = 4;
    ClockReading reading;
    for (int check = 0; check < kChecks; ++check) {
        const std::int64_t before_ns = boot_now_ns();
        reading.wall_ns = wall_now_ns();
        reading.boot_ns = boot_now_ns();
        if (reading.boot_ns - before_ns < kNearNs) break;
    }
    return reading;
}

}  // namespace

ClockWatch::ClockWatch(const ShardContext& context, Worker& saver, ClockRules rules)
    : context_(context),
      saver_(saver),
      machine_run_(machine_run()),
      start_(clock_start(context.engine().totals().server_time_ms, context.parts.clock_mark(), machine_run_,
                         boot_now_ns())),
      clock_(rules, read_clocks(), start_),
      mark_(context.parts.clock_mark()) {
    log_start();
    log_state();
}

void ClockWatch::set_engine_time() {
    const std::int64_t boot_ns = boot_now_ns();
    context_.engine().set_time(clock_.now_ms(boot_ns), clock_.rounded_up_ms(boot_ns));
    context_.parts.expire_by(context_.engine().now());
}

void ClockWatch::observe_if_due() {
    if (boot_now_ns() >= observe_at_ns_) observe();
}

void ClockWatch::observe() {
    const ClockReading now = read_clocks();
    observe_at_ns_ = now.boot_ns + ServerClock::kObserveNs;
    if (clock_.observe(now)) log_state();
    save();
}

void ClockWatch::observe_at_stop() {
    wait_logged_ = false;
    observe();
}

std::int64_t ClockWatch::now_us() const {
    return clock_.now_us(boot_now_ns());
}

std::int64_t ClockWatch::ns_until(DueMs at_ms) const {
    return clock_.ns_until(at_ms, boot_now_ns());
}

// A start that accepts a large jump from the wall clock alone cannot be undone, so it is logged; so is a decision
// against the boot clock, because one of the two clocks was set or restarted.
void ClockWatch::log_start() {
    const ClockStatus now = status();
    if (now.state == ClockState::test) return;
    if (start_.by_boot_clock && now.server_ms < *start_.continues_at_ms - ServerClock::kFarMs) {
        context_.log.warning(
            "clock_set_back",
            "The wall clock was set back while the server was down. Server time starts from the wall clock, or "
            "from the newest time in the log if that is later.",
            {{"server_time_ms", now.server_ms}, {"boot_clock_ms", *start_.continues_at_ms}});
    }
    if (start_.floor_ms == 0 || start_.by_boot_clock) return;
    if (now.server_ms - start_.floor_ms < kLongAwayMs) return;
    context_.log.warning(
        "clock_gap_at_start",
        "Server time starts more than a day after the newest time in the log, at the wall clock's time. Messages "
        "that became due in between are due now.",
        {{"newest_log_ms", start_.floor_ms}, {"server_time_ms", now.server_ms}});
}

void ClockWatch::save() {
    if (clock_.is_saved_in(mark_, machine_run_)) return;
    if (clock_.state() == ClockState::test || std::exchange(is_saving_, true)) return;
    // The job may run when this has ended, but nothing that it posts does.
    saver_.run([this, &context = context_, mark = clock_.mark(machine_run_)] {
        const Status left = context.parts.save_clock_mark(mark);
        if (!left && left.error().code != "no_space"_code) context.on_fatal_error(left.error());
        context.loop.post([this, mark, left] {
            is_saving_ = false;
            if (left) {
                mark_ = mark;
                return save();  // the clock has changed meanwhile
            }
            if (std::exchange(wait_logged_, true)) return;
            context_.log.warning("clock_state_write_blocked",
                                 "The disk is full: the clock state cannot be saved. The write is retried.",
                                 {{"error", left.error().message}});
        });
    });
}

// Logs each state once, when it is entered, and each jump.
void ClockWatch::log_state() {
    const ClockStatus now = status();
    if (now.jumps != logged_jumps_) {
        logged_jumps_ = now.jumps;
        context_.log.warning("clock_jumped",
                             "Server time jumped ahead. Messages that became due in between are due now.",
                             {{"server_time_ms", now.server_ms}});
    }
    if (now.state == logged_state_) return;
    const ClockState before = std::exchange(logged_state_, now.state);
    switch (now.state) {
        case ClockState::steady:
            if (before == ClockState::slow || before == ClockState::quarantine || before == ClockState::held) {
                context_.log.info("clock_in_sync", "Server time and the wall clock agree again.");
            }
            break;
        case ClockState::slow:
            context_.log.warning(
                "clock_behind",
                "The wall clock is behind server time. Server time never goes back: it runs a tenth slower "
                "until the wall clock catches up.",
                {{"behind_ms", -now.ahead_ms()}});
            break;
        case ClockState::quarantine:
            context_.log.warning(
                "clock_ahead",
                "The wall clock is ahead of server time. If that lasts a minute, server time follows a jump of up "
                "to a day; a longer jump is handled by the setting clock.on_jump.",
                {{"ahead_ms", now.ahead_ms()}});
            break;
        case ClockState::held:
            context_.log.warning(
                "clock_jump_held",
                "The wall clock jumped too far ahead, and server time continues without it. If the wall clock is "
                "right, run `duewheel clock accept`; otherwise correct the wall clock.",
                {{"ahead_ms", now.ahead_ms()}});
            break;
        case ClockState::test:
            context_.log.warning(
                "test_clock_in_use",
                "The server runs with a test clock: server time ignores the wall clock and moves only by "
                "`duewheel clock advance`.");
            break;
    }
}

ClockStatus ClockWatch::status() const {
    return clock_.status(read_clocks());
}

bool ClockWatch::accept() {
    const bool accepted = clock_.accept(read_clocks());
    log_state();
    save();
    return accepted;
}

void ClockWatch::advance(std::int64_t by_ms) {
    clock_.advance(by_ms, read_clocks());
    logged_jumps_ = clock_.jumps();
    context_.log.info("test_clock_advanced", "The test clock was advanced.", {{"by_ms", by_ms}});
}

}  // namespace duewheel
