#include "replication/topic_seed.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "journal/recovery.h"
#include "journal/segment.h"
#include "replication/position_file.h"
#include "replication/topic_record.h"

namespace duewheel {
namespace {

// Appended together.
constexpr std::size_t kBatchBytes = 1 << 20;

class Seeding {
  public:
    Seeding(KafkaAppender& appender, const TopicLog& log, std::uint64_t node, std::int64_t timeout_ms)
        : appender_(appender), log_(log), node_(node), timeout_ms_(timeout_ms) {}

    Status add(TopicRecordKind kind, std::uint64_t commit, std::string_view payload, std::uint32_t part = 0,
               std::uint32_t parts = 1) {
        values_.push_back(encode_topic_record({.kind = kind,
                                               .shard = log_.shard,
                                               .cluster = hash_of_cluster(log_.cluster),
                                               .epoch = 0,  // the offset of the claim, the first record
                                               .node = node_,
                                               .commit = commit,
                                               .part = part,
                                               .parts = parts},
                                              payload));
        bytes_ += values_.back().size();
        return bytes_ < kBatchBytes ? Status() : flush();
    }
    Status add_commit(std::uint64_t commit, std::string_view bytes) {
        const auto parts = static_cast<std::uint32_t>((bytes.size() + kTopicPartBytes - 1) / kTopicPartBytes);
        for (std::uint32_t part = 0; part < parts; ++part) {
            Status added = add(TopicRecordKind::commit, commit, bytes.substr(part * kTopicPartBytes, kTopicPartBytes),
                               part, parts);
            if (!added) return added;
        }
        return {};
    }
    Status flush() {
        const Result<std::vector<std::int64_t>> offsets = appender_.append(values_, timeout_ms_);
        if (!offsets) return offsets.error();
        for (const std::int64_t offset : *offsets) {
            if (offset != next_offset_++) return not_empty(log_);
        }
        values_.clear();
        bytes_ = 0;
        return {};
    }

    static Error not_empty(const TopicLog& log) {
        return {"topic_not_empty"_code,
                "topic " + log.topic + ", partition " + std::to_string(log.shard) +
                    ", has or had records, so a node may have acknowledged messages that this "
                    "directory lacks. Stop all nodes, and keep the data directory of each. If this "
                    "one has the newest log, delete the topic, create it again with `duewheel kafka "
                    "create-topics --log`, and run this command again"};
    }

  private:
    KafkaAppender& appender_;
    const TopicLog& log_;
    const std::uint64_t node_;
    const std::int64_t timeout_ms_;
    std::int64_t next_offset_ = 0;
    std::vector<std::string> values_;
    std::size_t bytes_ = 0;
};

// Every commit is checked on the way.
Status write_segment(FileSystem& files, const SegmentFile& segment, Seeding& seeding, TopicSeed& seed) {
    const Result<std::unique_ptr<File>> file = files.open(segment.path(), OpenMode::read);
    if (!file) return file.error();
    Status written =
        seeding.add(TopicRecordKind::segment, segment.header().before.commit, encode_segment_header(segment.header()));
    if (!written) return written;
    ++seed.segments;
    return segment.scan([&](const CommitInLog& commit) -> Status {
        std::string bytes(commit.bytes, '\0');
        const Result<std::size_t> got = (*file)->read_at(commit.offset, std::as_writable_bytes(std::span(bytes)));
        if (!got) return got.error();
        ++seed.commits;
        return seeding.add_commit(commit.totals.commit, bytes);
    });
}

}  // namespace

Result<TopicSeed> seed_topic(FileSystem& files, const std::string& directory, KafkaCluster& cluster,
                             const TopicLog& log, std::uint64_t node, std::int64_t timeout_ms,
                             const SeedProgress& progress) {
    const Result<FoundLog> found = find_log(files, directory + "/journal");
    if (!found) return found.error();
    if (found->segments.empty())
        return Error{"not_found"_code, "there is no log in " + directory + ": it contains no segment (seg-*)"};
    const auto partition = static_cast<std::int32_t>(log.shard);
    Result<std::unique_ptr<KafkaConsumer>> consumer = cluster.open_consumer();
    if (!consumer) return std::move(consumer).error();
    const Result<KafkaConsumer::Offsets> offsets = (*consumer)->offsets(log.topic, partition, timeout_ms);
    if (!offsets) return offsets.error();
    if (offsets->high != 0) return Seeding::not_empty(log);
    Result<std::unique_ptr<KafkaAppender>> appender = cluster.open_appender(log.topic, partition);
    if (!appender) return std::move(appender).error();
    // Offsets in it are those of the topic that is gone.
    PositionFile positions(files, directory);
    if (Status removed = positions.remove(); !removed) return std::move(removed).error();

    TopicSeed seed;
    std::uint64_t all = 0;
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) all += segment->header().segment_bytes;
    Seeding seeding(**appender, log, node, timeout_ms);
    const SegmentEnd end = found->segments.back()->end();
    seed.newest_commit = end.totals.commit;
    Status written =
        seeding.add(TopicRecordKind::claim, end.totals.commit, encode_claim({.link = end.link, .url = ""}));
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        if (written) written = write_segment(files, *segment, seeding, seed);
        seed.bytes += segment->header().segment_bytes;
        if (written && progress) progress(seed.bytes, all);
    }
    if (written) written = seeding.add(TopicRecordKind::release, end.totals.commit, {});
    if (written) written = seeding.flush();
    if (!written) return std::move(written).error();
    return seed;
}

}  // namespace duewheel
