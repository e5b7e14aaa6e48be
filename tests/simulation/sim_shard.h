// The owner of one shard in the simulator: it has the same parts as the server's (server/shard/shard_parts.h) and runs
// their blocking steps in one thread, each at a moment that the seed chooses; the engine gets the result at a later
// one.
//
//     engine effects ──► commit submitted  ──► written and synced ──► result
//                    ──► lookups           ──► read               ──► result
//                    ──► closed segments   ──► sealed             ──► result     spare segments, compaction: likewise
//
// A crash destroys this object: work in progress is lost, the disk and the rows stay.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/shard/log_cleaning.h"
#include "server/shard/shard_parts.h"
#include "shared/random.h"
#include "simulation/event_hash.h"
#include "simulation/rare_states.h"
#include "simulation/sim_options.h"
#include "support/memory_rows.h"
#include "support/sim_disk.h"

namespace duewheel {

ShardOptions shard_options(const SimOptions& options, std::uint32_t zone_version);

// For a log with copies: the journal around the local one.
using ReplicateLog = std::function<std::unique_ptr<Journal>(LocalJournal&)>;

class SimShard {
  public:
    static constexpr const char* kDirectory = "/data";

    // A blocking step: the one in progress when the process died.
    enum class Step : std::uint8_t {
        none,
        commit,
        tell_commit,
        read,
        tell_answer,
        seal,
        tell_table,
        maintain_spare_segments,
        take_space,
        clean,
        tell_clean,
    };

    // Opens and recovers. All arguments must outlive this object.
    static Result<std::unique_ptr<SimShard>> open(const SimOptions& options, std::uint32_t zone_version, SimDisk& disk,
                                                  MemoryRowStorage& rows, Retention& retention, LogSink& log,
                                                  RareStates& rare, EventHash& hash, const ReplicateLog& replicate = {},
                                                  const std::string& directory = kDirectory);

    Engine& engine() { return parts_->engine(); }
    const ShardParts& parts() const { return *parts_; }
    ShardParts& parts() { return *parts_; }

    // Runs an iteration of the engine at this server time, and executes its effects.
    void turn(DueMs now);
    void submit(Command command, ReplyToken token, SharedLimits limits = nullptr) {
        engine().submit(std::move(command), token, std::move(limits));
    }

    // Runs one of the outstanding steps, chosen at random by weight; false if there is none.
    bool run_step(Random& random);

    // Replies for clients since the last call.
    std::vector<ReplyEffect> take_replies() { return std::exchange(replies_, {}); }

    // Fatal error: the process must die now. The step in progress shows where.
    const std::optional<Error>& fatal_error() const { return fatal_error_; }
    Step step() const { return step_; }
    // A commit is in progress, or durable and not yet reported to the engine.
    bool commit_under_way() const { return commit_.has_value(); }
    bool commit_is_durable() const { return commit_durable_; }
    // The occurrences that recurring messages created, in the commit in progress.
    std::uint64_t occurrences_under_way() const { return commit_ ? occurrences_ : 0; }
    std::uint64_t runs_under_way() const { return commit_ ? runs_ : 0; }
    // The commit was attempted, and there was no space for its segment.
    bool commit_waits_for_space() const { return commit_ && commit_waits_; }
    // The least space that was reported to the engine since the last call.
    LogSpace take_least_space() { return std::exchange(least_space_, parts_->log_space()); }
    bool is_full() const { return parts_->space().is_full(); }
    // Nothing is in progress and nothing waits.
    bool is_quiet() const;
    // Cleaning begins no step while it rests. Where outcomes are kept long it would never end by itself: in segments of
    // a few blocks, each carry of one takes a block and more than it frees.
    void rest_cleaning(bool rests) { cleaning_rests_ = rests; }
    // False if there was no space for it, or after a fatal error.
    bool save_clock_mark(const ClockMark& mark);
    // As save_clock_mark(): how far the log reaches, at a clean stop.
    bool save_end();
    // The server does this every few seconds.
    void tend() { maintenance_wanted_ = true; }
    const LogCleaning& cleaning() const { return *cleaning_; }

  private:
    struct Choice {
        Step step = Step::none;
        std::uint32_t weight = 0;
    };

    static constexpr ReplyTokens kCleaning{128};

    SimShard(const SimOptions& options, RareStates& rare, EventHash& hash)
        : options_(options), rare_(rare), hash_(hash) {}

    void carry_out(Effects effects);
    void count_commit(const Commit& commit);
    void tell(const Commit& commit) const;
    void tell(const char* what, std::uint64_t first = 0, std::uint64_t second = 0) const;
    std::vector<Choice> choices() const;
    void run(Step step, Random& random);
    void run_commit();
    void run_read(Random& random);
    void run_seal();
    void run_tend_space();
    void run_tell_space();
    void see_space();
    void run_clean();
    void next_clean();

    const SimOptions& options_;
    RareStates& rare_;
    EventHash& hash_;
    std::unique_ptr<ShardParts> parts_;
    std::optional<LogCleaning> cleaning_;

    std::optional<Commit> commit_;
    std::uint64_t occurrences_ = 0;  // in the commit, of recurring messages
    std::uint64_t runs_ = 0;         // and of schedules
    bool commit_durable_ = false;
    bool commit_waits_ = false;
    std::deque<Lookup> lookups_;
    std::deque<Answer> answers_;
    bool may_seal_ = true;
    std::deque<SegmentNumber> sealed_;
    bool maintenance_wanted_ = true;
    std::optional<SpaceReading> space_seen_;
    LogSpace least_space_ = LogSpace::enough;
    LogCleaning::Step clean_ = LogCleaning::Step::none;
    bool cleaning_rests_ = false;
    std::optional<LogCleaning::Found> found_;
    std::vector<ReplyEffect> replies_;
    std::optional<Error> fatal_error_;
    Step step_ = Step::none;
};

}  // namespace duewheel
