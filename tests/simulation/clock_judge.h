// Compares server time with its promises (docs/http_api.md, "Server time"), using only what can be observed: both
// clocks, the server time, and what the server reports about the wall clock. It does not know how the server
// calculates, and records itself what the clocks have shown.
//
//   - Server time never goes back: within a run, below what was durable before a restart, or below what was reported
//     before a clean stop.
//   - It never runs more than a tenth faster or slower than the boot clock, except in jumps.
//   - It jumps only at a start, when an operator accepts or advances the clock, or when the wall clock has kept its
//     distance for a minute; for more than a day ahead also only if the rule for jumps accepts it.
//   - When it may jump, it does; when it must not, it reports that it is held.
//   - A start in the same boot of the machine continues as the previous process would have, as far as the wall clock is
//     ahead of it; a start in another boot does the same from its log, if that process did not trust the wall clock.
//   - If the wall clock is left alone, server time reaches it: a second of distance takes ten, and the last 50 ms 100.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "server/shard/server_clock.h"
#include "simulation/oracle.h"
#include "simulation/rare_states.h"

namespace duewheel {

class ClockJudge {
  public:
    ClockJudge(ClockRules rules, Oracle& oracle, RareStates& rare) : rules_(rules), oracle_(oracle), rare_(rare) {}

    // A process has started on a log with this newest time, and knows the clock state that the previous process left.
    void started(ClockReading at, DueMs floor_ms, const ClockMark& mark, const std::string& machine_run,
                 const ClockStatus& said);
    // The process has ended: its last durable commit had this time.
    void ended(DueMs durable_ms);
    // It stopped cleanly, and was requested before that to save this time.
    void stopped(DueMs told_ms) { kept_ms_ = told_ms; }

    // The clock state for the next start: may have changed from now on, and is durably this one.
    void marking() { is_mark_certain_ = false; }
    void marked(const ClockMark& mark);

    // The next process runs on the other machine: with its mark, which says nothing of this machine's clock.
    void change_machine();
    // The next process has no mark: its disk is new.
    void lose_mark();

    // A client reads the server's time.
    void told(std::int64_t boot_ns, DueMs server_ms);
    // The server has read the wall clock; `before_ms` is the server time just before that.
    void looked(ClockReading at, DueMs before_ms, const ClockStatus& said);
    // Just after the wall clock was read.
    void accepted(bool taken, const ClockStatus& said);
    void advanced(std::int64_t by_ms, ClockReading at, const ClockStatus& said);

  private:
    struct Mark {
        std::int64_t boot_ns = 0;
        DueMs server_ms = 0;
    };
    // While the wall clock is in doubt and read often.
    struct Look {
        std::int64_t boot_ns = 0;
        std::int64_t offset_ns = 0;  // of the wall clock from the boot clock
    };

    void check_goes_on(ClockReading at, const std::string& machine_run, const ClockStatus& said);
    void check_doubt(ClockReading at, DueMs floor_ms, const std::string& machine_run, const ClockStatus& said);
    void begin_stretch(std::int64_t boot_ns, DueMs server_ms);
    void check_rate(const Mark& since, std::int64_t boot_ns, DueMs server_ms);
    void check_state(DueMs ahead_ms, bool has_jumped, const ClockStatus& said);
    void check_jump(ClockReading at, DueMs ahead_ms, const ClockStatus& said);
    void check_no_jump(ClockReading at, DueMs ahead_ms, const ClockStatus& said);
    void check_has_met(ClockReading at, bool has_jumped, const ClockStatus& said);
    bool kept_its_distance(ClockReading at) const;
    bool was_left_alone(ClockReading at) const;
    void count_state(DueMs ahead_ms, bool has_jumped, const ClockStatus& said);

    const ClockRules rules_;
    Oracle& oracle_;
    RareStates& rare_;
    DueMs durable_ms_ = 0;
    DueMs kept_ms_ = 0;
    ClockMark mark_;  // the newest that is durable
    bool is_mark_certain_ = true;
    ClockMark other_mark_;  // likewise, on the other machine
    bool is_other_mark_certain_ = true;
    bool is_jump_marked_ = false;  // since the process last jumped, or started
    Mark last_;                    // of the reported time
    Mark last_look_;               // of the time when the wall clock was read
    Mark since_jump_;              // or since the start
    ClockState state_ = ClockState::steady;
    std::uint64_t jumps_ = 0;
    std::deque<Look> watched_;
    std::int64_t offset_ns_ = 0;  // at the previous reading
    Mark left_alone_;             // since when the wall clock has been left alone; and its distance then
    std::int64_t left_at_ms_ = 0;
    bool was_held_ = false;  // since it was last steady
};

}  // namespace duewheel
