#include "simulation/sim_nodes.h"

#include <utility>

#include "base/error_codes.h"
#include "replication/topic_front.h"

namespace duewheel {
namespace {

constexpr std::int64_t kTopicTimeoutMs = 1'000;
// An owner waits as long as the brokers are away, unless its process ends meanwhile.
constexpr std::uint32_t kWaitsOnPerMillion = 930'000;

}  // namespace

SimNodes::SimNodes(const SimOptions& options, SimLogTopic& topic, LogSink& log, RareStates& rare, EventHash& hash)
    : options_(options), topic_(topic), log_(log), rare_(rare), hash_(hash), random_(options.seed * 13 + 7) {
    replace(storage_);
}

// A machine with an empty disk.
void SimNodes::replace(SimStorage& storage) {
    storage.rows = std::make_unique<MemoryRowStorage>();
    storage.disk = std::make_unique<SimDisk>(random_.next());
    storage.is_new = true;
}

Result<std::unique_ptr<SimNodes::Standby>> SimNodes::open(SimStorage& storage) {
    if (Status made = storage.disk->make_directories(SimShard::kDirectory); !made) return std::move(made).error();
    auto standby = std::make_unique<Standby>(options_, storage, log_);
    const ShardOptions shard = shard_options(options_, 1);
    TopicCopyOptions copy;
    copy.log = SimLogTopic::log_of(options_.shard);
    copy.directory = SimShard::kDirectory;
    copy.journal.segment_bytes = shard.engine.segment_bytes;
    copy.journal.spare_count = shard.spare_segments;
    copy.journal.reserve_count = shard.reserve_segments;
    copy.journal.identity = shard.identity;
    Result<std::unique_ptr<TopicCopy>> opened = TopicCopy::open(*storage.disk, topic_.kafka(), copy);
    if (!opened) return std::move(opened).error();
    standby->copy = *std::move(opened);
    return standby;
}

// Whether it has read everything.
Result<bool> SimNodes::step(Standby& standby) {
    const std::uint64_t before = standby.copy->local_commit();
    const Result<TopicCopy::Progress> progress = standby.copy->follow(kTopicTimeoutMs);
    if (!progress) return progress.error();
    if (progress->starts_again) {
        rare_.met(Rare::standby_began_again);
        standby.index.close();
        standby.has_caught_up = false;
    }
    if (standby.copy->local_commit() > before) rare_.met(Rare::standby_copied_commits);
    const Result<std::int64_t> lag = standby.copy->lag(kTopicTimeoutMs);
    if (!lag) return lag.error();
    standby.has_caught_up |= *lag == 0;
    if (standby.copy->local() == nullptr) return *lag == 0;
    const std::uint64_t sealed = standby.index.segments_sealed();
    const Result<bool> kept = standby.index.step(*standby.copy->local(), standby.has_caught_up);
    if (standby.index.segments_sealed() > sealed) rare_.met(Rare::standby_sealed_a_segment);
    if (!kept) return kept.error();
    return *lag == 0;
}

Status SimNodes::follow() {
    Status done;
    if (!standby_) {
        Result<std::unique_ptr<Standby>> opened = open(storage_);
        if (opened) standby_ = *std::move(opened);
        if (!opened) done = opened.error();
    }
    if (done) {
        if (const Result<bool> stepped = step(*standby_); !stepped) done = stepped.error();
    }
    if (done || may_be_tried_again(done.error())) return {};
    standby_.reset();
    if (done.error().code != "copy_too_old"_code) return done;
    rare_.met(Rare::standby_began_again);
    replace(storage_);
    return {};
}

Status SimNodes::catch_up(Standby& standby) {
    for (;;) {
        const Result<bool> has_all = step(standby);
        if (has_all && *has_all) return {};
        if (!has_all && !may_be_tried_again(has_all.error())) return has_all.error();
    }
}

void SimNodes::exchange(SimStorage& own) {
    std::swap(own, storage_);
    next_ = std::exchange(standby_, nullptr);
    rare_.met(Rare::takeover);
}

// Between its last look at the end of the topic and its claim others may write. So a node that has caught up once
// claims without another look, too.
Result<TopicChain> SimNodes::claim(SimStorage& own) {
    for (bool looks = random_.chance(500'000);; looks = true) {
        Status ready;
        if (!next_) {
            Result<std::unique_ptr<Standby>> opened = open(own);
            if (opened) next_ = *std::move(opened);
            if (!opened) ready = opened.error();
        }
        if (ready && (looks || !next_->has_caught_up)) ready = catch_up(*next_);
        if (ready) {
            const std::uint64_t node = options_.shard * 1'000'000 + ++processes_;
            Result<TopicChain> chain = next_->copy->claim(node, "http://node-" + std::to_string(node), kTopicTimeoutMs);
            if (chain) return chain;
            if (chain.error().code == "log_fenced"_code) rare_.met(Rare::claim_overtaken);
            ready = chain.error();
        }
        if (may_be_tried_again(ready.error()) || ready.error().code == "log_fenced"_code) continue;
        next_.reset();
        if (ready.error().code != "copy_too_old"_code) return ready.error();
        rare_.met(Rare::standby_began_again);
        replace(own);
    }
}

Result<ReplicateLog> SimNodes::take_over(SimStorage& own) {
    const Result<TopicChain> chain = claim(own);
    next_.reset();
    if (!chain) return chain.error();
    hash_.add(static_cast<std::uint64_t>(chain->position().epoch));
    hash_.add(chain->position().commit);
    return ReplicateLog([this, &own, chain = *chain](LocalJournal& local) -> std::unique_ptr<Journal> {
        auto journal = std::make_unique<ReplicatedJournal>(
            topic_.kafka(), local, PositionFile(*own.disk, SimShard::kDirectory), chain, processes_,
            [this](std::int64_t) { return random_.chance(kWaitsOnPerMillion); });
        journal_ = journal.get();
        return journal;
    });
}

void SimNodes::trim(const LocalJournal& local, FileSystem& files) {
    TopicFront front(topic_.kafka(), SimLogTopic::log_of(options_.shard), PositionFile(files, SimShard::kDirectory));
    const auto deleted = [](const Result<std::int64_t>& begins) { return begins && *begins > 0; };
    if (deleted(front.advance_to(local.catalog().snapshot().front()->header(), kTopicTimeoutMs))) {
        rare_.met(Rare::front_of_the_topic_deleted);
    }
}

void SimNodes::count_owner() {
    const ReplicationCounters counters = journal_->counters();
    if (counters.appenders_recreated > 0) rare_.met(Rare::commit_sent_again);
    if (counters.gaps_read > 0) rare_.met(Rare::commit_among_other_records);
    if (counters.ignored > 0) rare_.met(Rare::record_of_the_topic_ignored);
}

Status SimNodes::compare(const Totals& totals) {
    for (int tries = 0; !standby_; ++tries) {
        if (Status done = follow(); !done) return done;
        if (tries == 10) return Error{"kafka_unavailable"_code, "the standby node cannot be started"};
    }
    Status done = catch_up(*standby_);
    if (!done && done.error().code == "copy_too_old"_code) {
        standby_.reset();
        replace(storage_);
        rare_.met(Rare::standby_began_again);
        return compare(totals);
    }
    if (!done) return done;
    const LocalJournal* local = standby_->copy->local();
    if (local == nullptr || local->totals() != totals) {
        return Error{"damaged_log"_code, "the log of the standby node adds up to something else"};
    }
    return {};
}

}  // namespace duewheel
