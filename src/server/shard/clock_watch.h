// The clock of a running shard (server_clock.h): gives the engine its time, observes the wall clock every second, logs
// what an operator must know about it, and keeps the state in the data directory that the next start needs.
//
// For the loop's thread. It reads the clocks of the system.
#pragma once

#include <cstdint>
#include <string>

#include "server/shard/server_clock.h"
#include "server/shard/shard_context.h"
#include "server/shard/worker.h"

namespace duewheel {

class ClockWatch {
  public:
    // Logs how server time starts. `saver` writes the state. Both outlive it.
    ClockWatch(const ShardContext& context, Worker& saver, ClockRules rules);

    // Commands that arrive before the iteration count from now, not from the last iteration, which may be minutes ago.
    void set_engine_time();
    void observe_if_due();
    // The changes since the last observation matter to the next start.
    void observe_at_stop();
    // Saves the state if the saved one is outdated. The next start must not trust a wall clock that this run does not
    // trust, or that is set while no server runs. If there is no space, it is tried again at the next observation.
    void save();

    ClockStatus status() const;
    // An operator accepts the wall clock. False if no jump waits for that.
    bool accept();
    // Only for a test clock.
    void advance(std::int64_t by_ms);

    std::int64_t now_us() const;
    std::int64_t ns_until(DueMs at_ms) const;
    // The wall clock is ahead, and is trusted if that lasts.
    bool is_in_quarantine() const { return clock_.state() == ClockState::quarantine; }
    bool is_saving() const { return is_saving_; }

  private:
    void observe();
    void log_start();
    void log_state();

    const ShardContext& context_;
    Worker& saver_;
    const std::string machine_run_;
    const ClockStart start_;
    ServerClock clock_;
    std::int64_t observe_at_ns_ = 0;  // of the boot clock
    ClockState logged_state_ = ClockState::steady;
    std::uint64_t logged_jumps_ = 0;
    ClockMark mark_;  // in the data directory
    bool is_saving_ = false;
    bool wait_logged_ = false;
};

}  // namespace duewheel
