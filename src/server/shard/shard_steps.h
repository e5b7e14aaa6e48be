// The blocking steps of a running shard (shard_parts.h, log_cleaning.h), each on a thread of its own. A step returns as
// a function posted to the loop.
//
//     CommitStep     writes and syncs, one commit at a time
//     LookupStep     reads from index and log
//     CleaningStep   finds what must be relocated, and deletes segments
//     SealStep       builds the tables of full segments
//     PatrolStep     verifies old segments
//
// All except the jobs themselves is for the loop's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/histogram.h"
#include "engine/core/effects.h"
#include "server/shard/clock_watch.h"
#include "server/shard/commit_delay.h"
#include "server/shard/log_cleaning.h"
#include "server/shard/shard_context.h"
#include "server/shard/worker.h"

namespace duewheel {

class CommitStep {
  public:
    CommitStep(const ShardContext& context, ClockWatch& clock) : context_(context), clock_(clock) {}

    void begin(Commit commit);
    // Decides whether commands wait for the next batch (commit_delay.h).
    void delay_batch(std::int64_t now_ns);
    const CommitDelay& delay() const { return delay_; }
    // From passing on a commit until it is durable.
    const Histogram& durations_us() const { return us_; }

  private:
    void end(Commit commit, std::int64_t start_ns);

    const ShardContext& context_;
    ClockWatch& clock_;
    CommitDelay delay_;
    Histogram us_;
    Worker worker_{"dw-commit"};  // last: its thread ends before what its jobs use
};

class CleaningStep {
  public:
    // Gets the replies to its commands from `sinks`.
    CleaningStep(const ShardContext& context, ReplySinks& sinks)
        : context_(context), cleaning_(context.parts, sinks.add([this](ReplyToken, Reply reply) { receive(reply); })) {}

    // Runs the next step, if there is one now.
    void go_on();
    // Lookups were answered.
    void answered() {
        if (cleaning_.waits_for_answers()) go_on();
    }
    const LogCleaning& cleaning() const { return cleaning_; }

  private:
    void receive(const Reply& reply);

    const ShardContext& context_;
    LogCleaning cleaning_;
    Worker worker_{"dw-clean"};  // beside the sealer, which is busy for a second with each segment
};

class LookupStep {
  public:
    LookupStep(const ShardContext& context, ClockWatch& clock, CleaningStep& cleaning)
        : context_(context), clock_(clock), cleaning_(cleaning) {}

    // In small parts, so that the first results need not wait for the last and few of them are in memory at once.
    void begin(std::vector<Lookup> lookups);
    const Histogram& durations_us() const { return us_; }

  private:
    void begin_some(std::vector<Lookup> lookups);

    const ShardContext& context_;
    ClockWatch& clock_;
    CleaningStep& cleaning_;
    Histogram us_;
    Worker worker_{"dw-read"};
};

class SealStep {
  public:
    SealStep(const ShardContext& context, CleaningStep& cleaning) : context_(context), cleaning_(cleaning) {}

    // Seals all full segments. If the disk is full, retries after the other jobs of the thread: compaction may free
    // space. Puts wait meanwhile.
    void begin();
    const Histogram& durations_us() const { return us_; }

  private:
    const ShardContext& context_;
    CleaningStep& cleaning_;
    std::atomic<bool> queued_{false};  // at most one job: those that wait for space do not pile up
    bool wait_logged_ = false;         // used by the jobs
    Histogram us_;
    Worker worker_{"dw-seal"};
};

class PatrolStep {
  public:
    explicit PatrolStep(const ShardContext& context) : context_(context) {}

    // Reads old segments once after the start, which did not read them: one at a time with a pause, to reduce the load.
    void begin_once();

  private:
    const ShardContext& context_;
    bool begun_ = false;
    Worker worker_{"dw-patrol"};
};

}  // namespace duewheel
