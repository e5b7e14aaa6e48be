#include "replication/topic_copy.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kReadRecords = 1'000;
constexpr std::int64_t kOffsetsTimeoutMs = 10'000;
// The epoch of no owner: readers ignore the record.
constexpr std::int64_t kNoEpoch = -1;

}  // namespace

TopicCopy::TopicCopy(FileSystem& files, KafkaCluster& cluster, const TopicCopyOptions& options, TopicChain chain)
    : files_(files),
      cluster_(cluster),
      options_(options),
      position_(files, options.directory),
      chain_(std::move(chain)) {}

Result<std::unique_ptr<TopicCopy>> TopicCopy::open(FileSystem& files, KafkaCluster& cluster,
                                                   const TopicCopyOptions& options) {
    std::unique_ptr<TopicCopy> made(new TopicCopy(files, cluster, options, TopicChain(options.log)));
    if (Status opened = made->open_local(); !opened) return std::move(opened).error();
    Result<std::unique_ptr<KafkaConsumer>> consumer = cluster.open_consumer();
    if (!consumer) return std::move(consumer).error();
    made->consumer_ = *std::move(consumer);
    const auto partition = static_cast<std::int32_t>(options.log.shard);
    const Result<KafkaConsumer::Offsets> offsets =
        made->consumer_->offsets(options.log.topic, partition, kOffsetsTimeoutMs);
    if (!offsets) return offsets.error();
    const Result<std::vector<ChainPosition>> stored = made->position_.read();
    if (!stored) return stored.error();
    // A position of a log that was replaced, or of a topic that was created again, says nothing.
    const auto usable = std::find_if(stored->rbegin(), stored->rend(), [&](const ChainPosition& each) {
        return each.next_offset >= offsets->low && each.next_offset <= offsets->high &&
               each.commit <= made->local_commit();
    });
    std::int64_t from = offsets->low;
    if (usable != stored->rend()) {
        made->chain_ = TopicChain(options.log, *usable);
        from = usable->next_offset;
        made->is_resuming_ = true;
    }
    if (Status assigned = made->consumer_->assign(options.log.topic, partition, from); !assigned) {
        return std::move(assigned).error();
    }
    made->is_assigned_ = true;
    return made;
}

Status TopicCopy::open_local() {
    const std::string directory = options_.directory + "/journal";
    const Result<std::vector<std::string>> names = files_.list(directory);
    if (!names && names.error().code != "not_found"_code) return names.error();
    const bool has_segment = names && std::any_of(names->begin(), names->end(), [](const std::string& name) {
                                 return sequence_of_segment_name(name) != 0;
                             });
    is_first_copy_ = !has_segment;
    if (!has_segment) return {};
    Result<std::unique_ptr<LocalJournal>> opened = LocalJournal::open(files_, directory, options_.journal);
    if (!opened) return std::move(opened).error();
    local_ = *std::move(opened);
    return check_shard(local_->identity(), options_.journal.identity, options_.directory);
}

Result<TopicCopy::Progress> TopicCopy::follow(std::int64_t timeout_ms) {
    if (!is_assigned_) {
        if (Status assigned = read_on(); !assigned) return std::move(assigned).error();
    }
    const Result<std::vector<KafkaRecord>> records = consumer_->poll(kReadRecords, timeout_ms);
    if (!records) {
        // After an error of the partition the consumer has ended to read it.
        is_assigned_ = is_assigned_ && records.error().field.empty();
        if (records.error().code != "position_trimmed"_code) return records.error();
        return start_again(too_old("offset " + std::to_string(chain_.position().next_offset)));
    }
    Progress progress{.records = records->size()};
    for (const KafkaRecord& record : *records) {
        const Result<TopicChain::Step> step = chain_.append(record);
        if (std::exchange(is_resuming_, false) && (!step || *step != TopicChain::Step::segment)) {
            if (Status started = read_from_front(); !started) return std::move(started).error();
            return progress;
        }
        if (!step) return step.error();
        if (Status applied = apply(*step); !applied) {
            if (applied.error().code == "copy_too_old"_code) return start_again(std::move(applied).error());
            return std::move(applied).error();
        }
        if (*step == TopicChain::Step::ignored) continue;
        progress.is_alive = true;
        progress.is_released = *step == TopicChain::Step::released;
    }
    return progress;
}

// After what the chain has taken.
Status TopicCopy::read_on() {
    const auto partition = static_cast<std::int32_t>(options_.log.shard);
    const std::int64_t next = chain_.position().next_offset;
    if (Status ended = consumer_->unassign(options_.log.topic, partition); !ended) return ended;
    Status assigned = consumer_->assign(options_.log.topic, partition, next > 0 ? next : KafkaConsumer::kBeginning);
    is_assigned_ = assigned.ok();
    return assigned;
}

// The topic has something else at the stored position: it was created again, or lost its end.
Status TopicCopy::read_from_front() {
    chain_ = TopicChain(options_.log);
    return read_on();
}

Error TopicCopy::explain(Error copy_too_old) {
    const std::int64_t next = chain_.position().next_offset;
    const Result<KafkaConsumer::Offsets> offsets =
        consumer_->offsets(options_.log.topic, static_cast<std::int32_t>(options_.log.shard), kOffsetsTimeoutMs, next);
    if (!offsets || next <= offsets->high) return copy_too_old;
    return went_back("ends at offset " + std::to_string(offsets->high) + ", but this node has read up to " +
                     std::to_string(next - 1) + ": the cluster has lost records, or the topic was created again");
}

// A first copy is a part of what the topic had, and the owner has removed it from its own log: nothing is lost with it.
Result<TopicCopy::Progress> TopicCopy::start_again(Error trimmed) {
    if (!is_first_copy_) return trimmed;
    const Result<KafkaConsumer::Offsets> offsets =
        consumer_->offsets(options_.log.topic, static_cast<std::int32_t>(options_.log.shard), kOffsetsTimeoutMs);
    if (!offsets) return offsets.error();
    if (offsets->low < chain_.position().next_offset) return trimmed;  // the topic was created again
    if (Status discarded = discard_local(); !discarded) return std::move(discarded).error();
    if (Status started = read_from_front(); !started) return std::move(started).error();
    return Progress{.starts_again = true};
}

Status TopicCopy::apply(TopicChain::Step step) {
    if (step == TopicChain::Step::segment) return begin_segment();
    if (step != TopicChain::Step::committed) return {};
    const Commit& commit = chain_.committed();
    if (!local_) return Error{"copy_too_old"_code, "the topic begins in the middle of a segment"};
    if (commit.totals.commit > local_commit()) return local_->commit(commit);
    return commit.totals.commit == local_commit() ? check_same(chain_.position().link) : Status();
}

Status TopicCopy::begin_segment() {
    const SegmentHeader& header = chain_.segment();
    const std::string where = "partition " + std::to_string(options_.log.shard) + " of topic " + options_.log.topic;
    if (Status same = check_shard(header.identity, options_.journal.identity, where); !same) return same;
    if (local_ && local_commit() == 0 && header.before.commit == 0) {
        if (local_->catalog().snapshot().back()->header() == header) return {};
        if (Status discarded = discard_local(); !discarded) return discarded;
    }
    if (local_ && local_->identity().instance != header.identity.instance) return other_log();
    if (local_ && header.before.commit > local_commit()) {
        return too_old("commit " + std::to_string(local_commit() + 1));
    }
    if (!local_) {
        JournalOptions journal = options_.journal;
        journal.front = header;
        Result<std::unique_ptr<LocalJournal>> created =
            LocalJournal::open(files_, options_.directory + "/journal", journal);
        if (!created) return std::move(created).error();
        local_ = *std::move(created);
    } else if (header.before.commit == local_commit()) {
        if (Status same = check_same(header.link); !same) return same;
        const SegmentRoom room = local_->room();
        if (room.closed) {
            if (Status begun = local_->follow(header); !begun) return begun;
        }
    }
    const std::uint64_t front = local_->catalog().snapshot().front()->header().before.commit;
    Status written = position_.add(chain_.segment_position(), front);
    return written || written.error().code == "no_space"_code ? Status() : written;
}

// Whether the last commit of the local log has this link.
Status TopicCopy::check_same(std::uint64_t link) const {
    return local_->catalog().snapshot().back()->end().link == link ? Status() : Status(forked());
}

Status TopicCopy::discard_local() {
    local_.reset();
    if (Status removed = position_.remove(); !removed) return removed;
    return files_.remove_tree(options_.directory + "/journal");
}

Result<std::int64_t> TopicCopy::lag(std::int64_t timeout_ms) {
    const Result<KafkaConsumer::Offsets> offsets =
        consumer_->offsets(options_.log.topic, static_cast<std::int32_t>(options_.log.shard), timeout_ms);
    if (!offsets) return offsets.error();
    const std::int64_t next = std::max(chain_.position().next_offset, offsets->low);
    if (offsets->high <= next) is_first_copy_ = false;
    return std::max<std::int64_t>(0, offsets->high - next);
}

std::string TopicCopy::encode(TopicRecordKind kind, std::int64_t epoch, std::uint64_t node,
                              std::string_view payload) const {
    return encode_topic_record({.kind = kind,
                                .shard = options_.log.shard,
                                .cluster = hash_of_cluster(options_.log.cluster),
                                .epoch = epoch,
                                .node = node,
                                .commit = local_commit(),
                                .part = 0,
                                .parts = 1},
                               payload);
}

// Returns the offset.
Result<std::int64_t> TopicCopy::append(const std::string& value, std::int64_t timeout_ms) {
    Result<std::unique_ptr<KafkaAppender>> appender =
        cluster_.open_appender(options_.log.topic, static_cast<std::int32_t>(options_.log.shard));
    if (!appender) return std::move(appender).error();
    const Result<std::vector<std::int64_t>> offset = (*appender)->append({value}, timeout_ms);
    if (!offset) return offset.error();
    if (offset->front() >= chain_.position().next_offset) return offset->front();
    return went_back("ends at offset " + std::to_string(offset->front()) + ", but this node has read up to " +
                     std::to_string(chain_.position().next_offset - 1) +
                     ": the cluster has lost records, or the topic was created again");
}

Result<TopicCopy::Progress> TopicCopy::read_to(std::int64_t offset, std::int64_t timeout_ms) {
    Progress all;
    while (chain_.position().next_offset <= offset) {
        const Result<Progress> progress = follow(timeout_ms);
        if (!progress) return progress.error();
        if (progress->records == 0) return Error{"kafka_unavailable"_code, "the own record cannot be read"};
        all.records += progress->records;
        if (!progress->is_alive) continue;
        all.is_alive = true;
        all.is_released = progress->is_released;
    }
    return all;
}

Result<TopicCopy::Progress> TopicCopy::probe(std::uint64_t node, std::int64_t timeout_ms) {
    const Result<std::int64_t> offset = append(encode(TopicRecordKind::beat, kNoEpoch, node, {}), timeout_ms);
    return offset ? read_to(*offset, timeout_ms) : Result<Progress>(offset.error());
}

Result<TopicChain> TopicCopy::claim(std::uint64_t node, const std::string& url, std::int64_t timeout_ms) {
    // A claim would make a new topic one that had records, and those are not rebuilt.
    if (chain_.position().epoch < 0 && local_commit() > 0) {
        return went_back("has no log, and " + options_.directory + " has one with commits up to " +
                         std::to_string(local_commit()) + ": the topic is new, or was deleted");
    }
    const std::uint64_t link = local_ ? local_->catalog().snapshot().back()->end().link : 0;
    const std::string claim = encode(TopicRecordKind::claim, 0, node, encode_claim({.link = link, .url = url}));
    const Result<std::int64_t> offset = append(claim, timeout_ms);
    if (!offset) return offset.error();
    if (const Result<Progress> read = read_to(*offset, timeout_ms); !read) return read.error();
    if (chain_.position().epoch != *offset) {
        return Error{"log_fenced"_code, "another node claimed the log at the same time"};
    }
    if (local_commit() > chain_.position().commit) {
        return went_back("has commits up to " + std::to_string(chain_.position().commit) + ", and " +
                         options_.directory + " has commits up to " + std::to_string(local_commit()) +
                         ": the cluster has lost records");
    }
    local_.reset();
    return chain_;
}

Error TopicCopy::too_old(const std::string& lacked) const {
    return {"copy_too_old"_code, "the local log ends at commit " + std::to_string(local_commit()) + ", and topic " +
                                     options_.log.topic + " no longer has " + lacked +
                                     ", which follows it: the owner has removed it since. Move " + options_.directory +
                                     " away; the next start copies the log from the topic"};
}

Error TopicCopy::went_back(const std::string& how) const {
    return {"log_went_back"_code,
            "topic " + options_.log.topic + ", partition " + std::to_string(options_.log.shard) + ", " + how +
                ". Stop all nodes of this shard, keep their directories, and rebuild the topic from "
                "the one with the newest log: `duewheel kafka reseed --data DIR`"};
}

Error TopicCopy::other_log() const {
    return {"log_forked"_code, "the log in " + options_.directory + " is another one than that in topic " +
                                   options_.log.topic +
                                   ": the directory or kafka.cluster is not that of this node. Correct it, or move the "
                                   "directory away; the next start copies the log from the topic"};
}

Error TopicCopy::forked() const {
    return {"log_forked"_code,
            "commit " + std::to_string(local_commit()) + " of the local log in " + options_.directory +
                " is another one than that in topic " + options_.log.topic +
                ": this node was owner while the topic lost its records. Move the directory away; the "
                "next start copies the log from the topic"};
}

}  // namespace duewheel
