// Server time: what the engine is told.
//
// It runs on the boot clock, which counts suspends and never jumps, and is steered to the wall clock, which says what
// people mean by a time but is set, both ways, by people and daemons that err. It never goes back, neither within a run
// nor over restarts: the newest server time in the log is its floor.
//
//   the wall clock is          server time
//   within 50 ms               runs up to 500 ppm faster or slower until they agree
//   within 5 s                 runs up to a tenth faster or slower (a leap second takes ten)
//   further behind             runs a tenth slower until the wall clock has come up, and says so
//   up to 24 h ahead           goes on for a minute; if the wall clock keeps its distance, jumps to it
//   further ahead              after that minute holds, or jumps, as `on_jump` says
//
// At the start it takes the wall clock's word, but not for less than the floor, and not for more than 400 days after it
// where `on_jump` is to hold. Where it knows by the boot clock what the time is, because the run before went by the
// same one, or where that run did not believe the wall clock, it goes on as that would have (ClockStart), and watches a
// wall clock that is further ahead, or holds. A test's clock takes nobody's word but `advance`.
//
// Passive: it is told both clocks. Times beyond kServerTimeMaxMs are read as that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "message/clock_mark.h"
#include "message/message.h"
#include "message/server_time.h"

namespace duewheel {

struct ClockRules {
    ClockJump on_jump = ClockJump::hold;
    bool test = false;
};

// Both clocks as of the same moment.
struct ClockReading {
    std::int64_t wall_ns = 0;
    std::int64_t boot_ns = 0;
};

// What the data directory knows of time.
struct ClockStart {
    DueMs floor_ms = 0;  // the newest server time in the log, 0 where it has none
    // What the time is if the run before had gone on; the floor, where that was long ago by who knows how much, but the
    // wall clock was not believed. Nothing: only the wall clock knows.
    std::optional<DueMs> goes_on_at_ms;
    bool by_boot_clock = false;  // how that is known
};

// `mark` is of the data directory, `machine_run` and `boot_ns` of the machine now. A mark that the log has overtaken
// was written before server time jumped, or by another boot clock of the same name (a machine that was put back to a
// snapshot): it says nothing but whether the wall clock was doubted.
ClockStart clock_start(DueMs floor_ms, const ClockMark& mark, const std::string& machine_run, std::int64_t boot_ns);

class ServerClock {
  public:
    ServerClock(ClockRules rules, ClockReading now, ClockStart start);

    // Whole milliseconds, rounded down: nothing is due before its millisecond has come. `boot_ns`: from the last
    // reading on; earlier is taken as that.
    DueMs now_ms(std::int64_t boot_ns) const { return now_ns(boot_ns) / kMs; }
    // The same in microseconds, for what is measured.
    std::int64_t now_us(std::int64_t boot_ns) const { return now_ns(boot_ns) / 1000; }
    // From `boot_ns` until server time reads `at_ms`, if nothing else is observed before; 0 when it does already.
    std::int64_t ns_until(DueMs at_ms, std::int64_t boot_ns) const;

    // To be called with a new reading every kObserveNs, or sooner; says whether the state is another one now, or server
    // time has jumped.
    bool observe(ClockReading now);
    static constexpr std::int64_t kObserveNs = 1'000'000'000;
    // A wall clock that is further off was set.
    static constexpr DueMs kFarMs = 5'000;

    // Somebody says that the wall clock is right: server time jumps to it. False where nothing waits for that.
    bool accept(ClockReading now);
    // Only of a test's clock, and no further than kServerTimeMaxMs.
    void advance(std::int64_t by_ms, ClockReading now);

    ClockStatus status(ClockReading now) const;
    ClockState state() const { return state_; }
    // For the next start; and whether one that was left already says enough. Both as of the last observation.
    ClockMark mark(const std::string& machine_run) const;
    bool is_told_by(const ClockMark& mark, const std::string& machine_run) const;
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
