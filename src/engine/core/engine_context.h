// What the parts of an engine share: options, time, the recent tier, lookups, the log, and where effects and counts go.
//
// A part gets it by reference when it is constructed, and the engine itself never. What a part needs beyond it are
// other parts, which it gets the same way and calls; none of these calls it back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/commands/lease_token.h"
#include "engine/core/batch_pipeline.h"
#include "engine/core/earlier_runs.h"
#include "engine/core/effects.h"
#include "engine/core/engine_counters.h"
#include "engine/core/engine_options.h"
#include "engine/core/engine_start.h"
#include "engine/core/lookups.h"
#include "engine/core/open_segment.h"
#include "engine/core/timer_lanes.h"
#include "engine/messages/record_cache.h"
#include "store/store.h"

namespace duewheel {

struct EngineContext {
    EngineContext(const EngineOptions& with, const EngineStart& start, RecentTier& tier);

    const EngineOptions options;
    RecentTier& recent;
    DueMs now;
    DueMs rounded_up = 0;  // now, if that is later by a finer clock
    Effects effects;
    EngineCounters counters;
    Lookups lookups;
    RecordCache cache;
    TimerLanes wheel;
    BatchPipeline batches;
    OpenSegment segment;
    EarlierRuns earlier_runs;
    LeaseSigner signer;
    std::uint64_t incarnation = 0;  // of this run
    bool started = false;           // it knows the time
    bool serving = false;           // its first commit is durable
    bool stopping = false;          // no consumer waits any more

    void reply(ReplyToken token, Reply with) {
        if (token != 0) effects.replies.push_back({token, std::move(with)});
    }
    // Whether a page may not have this size: then the command is answered.
    bool refuse_page(std::uint32_t limit, ReplyToken token);
    // The process must stop and report it.
    void fail(Error error) { effects.fatal_error = std::move(error); }
};

// A cookie of the wheel is the number of an entry, or of a waiting consumer, a schedule or a watchdog with its bit.
inline constexpr std::uint64_t kWaiterCookie = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kScheduleCookie = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kWatchdogCookie = std::uint64_t{1} << 61;

// What became of a command: it was answered or is in the batch; it waits for the next batch, or for a lookup.
enum class Verdict : std::uint8_t { settled, deferred, looking_up };

// The newest record of settings, of a token, or of the position of an input.
struct StoredConf {
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    std::uint64_t revision = 0;
    std::string value;
};

// A part of an engine: what it shares with the others under short names, and what each of them does to read commands
// and to write records.
class EnginePart {
  protected:
    explicit EnginePart(EngineContext& context);

    void reply(ReplyToken token, Reply with) const { context_.reply(token, std::move(with)); }
    // The command is answered.
    Verdict replied(const PendingCommand& pending, Reply with) const {
        return reply(pending.token, std::move(with)), Verdict::settled;
    }

    // ---- the batch in construction

    Batch& batch() { return batches_.batch(); }
    const Batch& batch() const { return batches_.batch(); }
    // Whether it may grow by `bytes`. A fresh segment takes a first commit of any size.
    bool has_room(std::size_t bytes) const;
    // True if there is no space for the record of the command: it was answered with the error.
    bool refuse_for_space(const PendingCommand& pending, Adds what) const;
    // The entry, if there is one, is in the batch from now on.
    void add(EntryNumber number, const Record& record, ReplyToken token, Reply with);
    // A record with the next version of the message; the caller sets the members that change.
    Record changed(const Entry& entry, RecordKind kind, Cause cause) const;
    // A record of settings, of a token, or of the position of an input, in place of `before`.
    void add_conf(Subject subject, std::string_view name_space, std::string_view name, std::string_view value,
                  const std::optional<StoredConf>& before, ReplyToken token, Reply with);
    // The id of its next message.
    MessageId next_id() const;

    // ---- times

    // Not early by a finer clock either.
    DueMs due_after(std::int64_t delay_ms) const {
        return delay_ms > 0 ? std::max(now_, context_.rounded_up) + delay_ms : now_;
    }
    // When a message is due, or expires.
    Result<DueMs> resolve(const When& when, const char* delay_field = "delay", const char* at_field = "due") const;
    // The outcome of a message that ended at that time is not reported any more, even if it is still stored.
    bool is_forgotten(DueMs ended_ms) const { return ended_ms != 0 && now_ - options_.keys_kept_ms > ended_ms; }
    Status check_lease_time(std::int64_t lease_ms) const;

    EngineContext& context_;
    const EngineOptions& options_;
    RecentTier& recent_;
    const DueMs& now_;
    Effects& effects_;
    EngineCounters& counters_;
    Lookups& lookups_;
    RecordCache& cache_;
    TimerLanes& wheel_;
    BatchPipeline& batches_;
    OpenSegment& segment_;
    EarlierRuns& earlier_runs_;
};

}  // namespace duewheel
