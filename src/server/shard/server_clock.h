// Server time: the time that the engine gets.
//
// It runs on the boot clock, which counts suspends and never jumps, and is steered to the wall clock, which people mean
// by a time but which is set, in both directions, by people and daemons with errors. It never goes back, neither within
// a run nor over restarts: it is never before the newest server time in the log.
//
//   the wall clock is          server time
//   within 50 ms               runs up to 500 ppm faster or slower until they agree
//   within 5 s                 runs up to a tenth faster or slower (a leap second takes ten)
//   further behind             runs a tenth slower until the wall clock has caught up, and logs it
//   up to 24 h ahead           continues for a minute; if the wall clock keeps its distance, jumps to it
//   further ahead              after that minute holds, or jumps, as `on_jump` says
//
// At the start it uses the wall clock, but not for a time before that of the log, and not for one more than 400 days
// after it if `on_jump` is hold. If it knows the time from the boot clock, because the previous run used the same one,
// or if that run did not trust the wall clock, it continues as that run would have (ClockStart), and observes a wall
// clock that is further ahead, or holds. A test clock is moved only by `advance`.
//
// Passive: it gets both clocks as arguments. Times beyond kServerTimeMaxMs are treated as that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "message/message.h"
#include "message/records/clock_mark.h"
#include "message/server_time.h"

namespace duewheel {

struct ClockRules {
    ClockJump on_jump = ClockJump::hold;
    bool test = false;
};

// Both clocks at the same moment.
struct ClockReading {
    std::int64_t wall_ns = 0;
    std::int64_t boot_ns = 0;
};

// The clock state in the data directory.
struct ClockStart {
    DueMs floor_ms = 0;  // the newest server time in the log, 0 if it has none
    // The time if the previous run had continued; the newest time in the log if that was an unknown time ago and the
    // wall clock was not trusted. None: only the wall clock is known.
    std::optional<DueMs> continues_at_ms;
    bool by_boot_clock = false;  // how that is known
};

// `mark` is that of the data directory, `machine_run` and `boot_ns` those of the machine now. A mark that is older than
// the log was written before a jump of server time, or by another boot clock of the same name (a machine restored from
// a snapshot): then it only says whether the wall clock was trusted.
ClockStart clock_start(DueMs floor_ms, const ClockMark& mark, const std::string& machine_run, std::int64_t boot_ns);

class ServerClock {
  public:
    ServerClock(ClockRules rules, ClockReading now, ClockStart start);

    // Whole milliseconds, rounded down: nothing is due before its millisecond has come. `boot_ns`: not before the last
    // reading; earlier values are treated as that.
    DueMs now_ms(std::int64_t boot_ns) const { return now_ns(boot_ns) / kMs; }
    // The same rounded up, where delays count from. A test clock is advanced by whole milliseconds, after which a delay
    // of as many has passed.
    DueMs rounded_up_ms(std::int64_t boot_ns) const {
        return rules_.test ? now_ms(boot_ns) : (now_ns(boot_ns) + kMs - 1) / kMs;
    }
    // The same in microseconds, for measurements.
    std::int64_t now_us(std::int64_t boot_ns) const { return now_ns(boot_ns) / 1000; }
    // From `boot_ns` until server time is `at_ms`, if nothing else is observed before; 0 if it is already.
    std::int64_t ns_until(DueMs at_ms, std::int64_t boot_ns) const;

    // Call it with a new reading every kObserveNs, or more often; returns whether the state has changed, or server time
    // has jumped.
    bool observe(ClockReading now);
    static constexpr std::int64_t kObserveNs = 1'000'000'000;
    // The wall clock was set to a time that is further off.
    static constexpr DueMs kFarMs = 5'000;

    // An operator accepts the wall clock: server time jumps to it. False if no jump waits for that.
    bool accept(ClockReading now);
    // Only for a test clock, and no further than kServerTimeMaxMs.
    void advance(std::int64_t by_ms, ClockReading now);

    ClockStatus status(ClockReading now) const;
    ClockState state() const { return state_; }
    // For the next start; and whether an already saved one is sufficient. Both as of the last observation.
    ClockMark mark(const std::string& machine_run) const;
    bool is_saved_in(const ClockMark& mark, const std::string& machine_run) const;
    std::uint64_t jumps() const { return jumps_; }

  private:
    static constexpr std::int64_t kMs = 1'000'000;

    bool is_doubtful() const { return state_ == ClockState::quarantine || state_ == ClockState::held; }
    std::int64_t now_ns(std::int64_t boot_ns) const;
    void steer(std::int64_t ahead_ns);
    void jump_to(std::int64_t at_ns);
    ClockState watch(ClockReading now, std::int64_t ahead_ns);

    ClockRules rules_;
    ClockState state_ = ClockState::steady;
    std::uint64_t jumps_ = 0;
    // Server time is server_ns_ at boot_ns_, and runs `correction_ns_` less or more from then on, spread evenly at
    // ppm_ millionths of the time that goes by.
    std::int64_t boot_ns_ = 0;
    std::int64_t server_ns_ = 0;
    std::int64_t correction_ns_ = 0;
    std::int64_t ppm_ = 1;
    // A quarantine: since when the wall clock has kept this distance from the boot clock.
    std::int64_t watched_since_ns_ = 0;
    std::int64_t watched_offset_ns_ = 0;
};

}  // namespace duewheel
