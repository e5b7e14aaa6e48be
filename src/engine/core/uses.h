// What a part of an engine uses of the things that all parts share. Its base names them, and its constructor takes
// them:
//
//     class HistoryPages : Uses<EngineOptions, RecentTier, Lookups> {
//       public:
//         HistoryPages(const Uses& uses, OpenViews& open) : Uses(uses), open_(open) {}
//
// It has them under the names below, and cannot touch anything else. The engine passes its EngineContext, which has
// all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

#include "engine/commands/delivery.h"
#include "engine/commands/lease_token.h"
#include "engine/core/batch_pipeline.h"
#include "engine/core/earlier_runs.h"
#include "engine/core/effects.h"
#include "engine/core/engine_counters.h"
#include "engine/core/engine_options.h"
#include "engine/core/lookups.h"
#include "engine/core/open_segment.h"
#include "engine/core/pending_command.h"
#include "engine/core/timer_lanes.h"
#include "engine/messages/record_cache.h"
#include "store/store.h"

namespace duewheel {

// The time as an argument of the newest call.
struct ServerTime {
    DueMs now = 0;
    DueMs rounded_up = 0;  // now, if that is later by a finer clock
};

struct RunState {
    std::uint64_t incarnation = 0;  // of this run
    bool started = false;           // it knows the time
    bool serving = false;           // its first commit is durable
    bool stopping = false;          // no consumer waits any more
};

// A reference, under its name in parts.
template <class Thing>
struct Use;

// References to these things. Copied from anything that uses them, and perhaps more.
template <class... Things>
struct Uses : Use<Things>... {
    explicit Uses(Use<Things>... things) : Use<Things>(things)... {}
    template <class From>
    requires(std::derived_from<From, Use<Things>>&&...) Uses(const From& from) : Use<Things>(from)... {}
};

template <>
struct Use<EngineOptions> {
    const EngineOptions& options_;
};
template <>
struct Use<RecentTier> {
    RecentTier& recent_;
};
template <>
struct Use<ServerTime> {
    const ServerTime& time_;
    const DueMs& now_ = time_.now;
};
template <>
struct Use<EngineCounters> {
    EngineCounters& counters_;
};
template <>
struct Use<Lookups> {
    Lookups& lookups_;
};
template <>
struct Use<RecordCache> {
    RecordCache& cache_;
};
template <>
struct Use<TimerLanes> {
    TimerLanes& wheel_;
};
template <>
struct Use<BatchPipeline> {
    BatchPipeline& batches_;
};
template <>
struct Use<OpenSegment> {
    OpenSegment& segment_;
};
template <>
struct Use<EarlierRuns> {
    EarlierRuns& earlier_runs_;
};
template <>
struct Use<Leases> {
    Leases& leases_;  // only Lifecycle adds and removes some
};
template <>
struct Use<LeaseSigner> {
    const LeaseSigner& signer_;
};
template <>
struct Use<RunState> {
    RunState& run_;
};
template <>
struct Use<Effects> {
    void reply(ReplyToken token, Reply with) const {
        if (token != 0) effects_.replies.push_back({token, std::move(with)});
    }
    // The command is answered.
    Verdict replied(const PendingCommand& pending, Reply with) const {
        return reply(pending.token, std::move(with)), Verdict::settled;
    }
    // The process must stop and report it.
    void fail(Error error) const { effects_.fatal_error = std::move(error); }

    Effects& effects_;
};

// What times commands may ask for, and how long outcomes are reported.
class TimeRules {
  public:
    explicit TimeRules(const Uses<EngineOptions, ServerTime>& uses) : uses_(uses) {}

    // Not early by a finer clock either.
    DueMs due_after(std::int64_t delay_ms) const {
        const ServerTime& time = uses_.time_;
        return delay_ms > 0 ? std::max(time.now, time.rounded_up) + delay_ms : time.now;
    }
    // When a message is due, or expires.
    Result<DueMs> resolve(const When& when, const char* delay_field = "delay", const char* at_field = "due") const;
    // The outcome of a message that ended at that time is not reported any more, even if it is still stored.
    bool is_forgotten(DueMs ended_ms) const {
        return ended_ms != 0 && uses_.now_ - uses_.options_.keys_kept_ms > ended_ms;
    }
    Status check_lease_time(std::int64_t lease_ms) const;
    // How long a request may wait.
    Status check_wait_time(std::int64_t wait_ms) const;

  private:
    Uses<EngineOptions, ServerTime> uses_;
};
template <>
struct Use<TimeRules> : TimeRules {
    using TimeRules::TimeRules;
};

}  // namespace duewheel
