// The clocks of the simulated machine and, over them, the server clock, called as in server/shard/shard.cc: it reads
// the wall clock every few seconds, or each second while it is in doubt, and sleeps until a millisecond of server time.
//
// Operators and daemons set the wall clock ahead, back and right again; it drifts, and is wrong at a start; machines
// are suspended; an operator accepts a held clock. The run determines how much server time is to pass, and this class
// moves both clocks until it has: usually to the exact nanosecond at which the requested millisecond begins.
//
// Server time ends in the year 2200. A later due time is reached without the clocks: from then on time is only counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/shard/server_clock.h"
#include "shared/random.h"
#include "simulation/clock_judge.h"
#include "simulation/oracle.h"
#include "simulation/rare_states.h"
#include "simulation/sim_options.h"

namespace duewheel {

class SimClock {
  public:
    SimClock(const SimOptions& options, Oracle& oracle, RareStates& rare);

    // A process begins on a log that is this late, with what the one before left of its time; the clocks go on.
    void start(DueMs floor_ms, const ClockMark& mark);
    void process_ends(DueMs durable_ms);
    // The last one was told to stop, and has told this time to nobody later than it was asked to keep it.
    void process_stops(DueMs told_ms);

    // Server time, of the process or of the last one.
    DueMs now() const { return now_ms_; }
    // A turn begins.
    void look();
    // What is to be left for the next start now; each later by chance, as it is done beside the turns. It is in the
    // balance from then on until it is durable.
    std::optional<ClockMark> mark_wanted();
    // The same when the process is told to stop: it looks at the wall clock once more.
    std::optional<ClockMark> last_mark_wanted();
    void marked(const ClockMark& mark);

    // Server time goes on, while the process looks at the wall clock now and then; to a time that has come: not at all.
    void go_on_by(DueMs ms) { go_on_to(now() + ms); }
    void go_on_to(DueMs at_ms);
    // In one step: the machine was suspended, or the clock of a test is advanced.
    void leap_by(DueMs ms);
    // While there is no process.
    void be_down_for(DueMs ms) { pass(ms * kMsNs); }
    void set_wall_back_by(DueMs ms) { wall_ns_ -= ms * kMsNs; }
    // One that is put back to a snapshot has the name that it had then.
    void machine_starts() {
        other_is_ahead_ns_ += boot_ns_;
        boot_ns_ = random_.between(kMsNs, 60'000 * kMsNs);
        other_is_ahead_ns_ -= boot_ns_;
        if (!random_.chance(100'000)) ++machine_runs_;
    }

    // The next process runs on the other machine, with clocks and marks of its own, or on one without a mark.
    void change_machine();
    void lose_mark() { judge_.lose_mark(); }

    // Something may happen to the wall clock, or be done about it.
    void disturb();
    void disturb_while_down();
    // From now on nothing does.
    void calm();

  private:
    static constexpr std::int64_t kMsNs = 1'000'000;

    ClockReading reading() const { return {wall_ns_, boot_ns_}; }
    std::string machine_run() const { return has_named_runs_ ? "run-" + std::to_string(machine_runs_) : ""; }
    std::optional<ClockMark> mark_now();
    bool is_beyond() const { return beyond_ms_ != 0; }
    bool has(Fault fault) const { return options_.has(fault) && !is_calm_; }
    bool is_watched() const;
    void read();
    void pass(std::int64_t ns, std::int64_t drift_ppm = 0);
    void observe();
    void sleep_until(DueMs at_ms);
    void accept();
    void wait_a_minute();
    void set_wall(std::int64_t ahead_ns);
    void set_right();
    bool may_go_on_by(std::int64_t ns) const;
    bool is_bearable(std::int64_t ahead_ns) const;
    std::int64_t draw_ahead();
    std::int64_t draw_behind();

    const SimOptions& options_;
    const ClockRules rules_;
    RareStates& rare_;
    Oracle& oracle_;
    ClockJudge judge_;
    Random random_;
    std::int64_t wall_ns_;
    std::int64_t boot_ns_;
    std::int64_t drift_ppm_ = 0;
    std::optional<ServerClock> clock_;  // of the process
    std::int64_t look_at_ns_ = 0;       // of the boot clock
    std::int64_t told_at_ns_ = -1;      // likewise
    ClockMark mark_;                    // as the process knows
    std::uint64_t machine_runs_ = 1;
    // State of the other machine.
    std::int64_t other_is_ahead_ns_ = 2'000'000'000'000;
    std::uint64_t other_machine_runs_ = 1'000'001;
    const bool has_named_runs_;
    DueMs now_ms_;  // what it says, or said last
    DueMs beyond_ms_ = 0;
    bool is_calm_ = false;
};

}  // namespace duewheel
