// Which records of the topic are the log: a pure function of the records in the order of their offsets.
//
// Rule: a record counts if its epoch is that of the newest claim before it, its commit follows the last one that
// counted, and the link in its footer is that commit's checksum. A record of an older epoch (of an owner that was
// replaced) and a commit that has counted already (a copy: the owner sends again what was not acknowledged in time) are
// ignored and counted. Everything else means that the topic is damaged, and nothing more is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "journal/journal.h"
#include "journal/segment_format.h"
#include "kafka/client/kafka.h"
#include "replication/topic_record.h"

namespace duewheel {

// One log in its topic.
struct TopicLog {
    std::string topic;
    std::uint32_t shard = 0;  // and partition
    std::string cluster;
};

struct ChainPosition {
    std::int64_t next_offset = 0;  // of the record to read next
    std::int64_t epoch = -1;       // -1: there was no claim yet
    std::uint64_t commit = 0;      // the last one that counted
    std::uint64_t link = 0;        // checksum of its footer

    bool operator==(const ChainPosition&) const = default;
};

class TopicChain {
  public:
    enum class Step : std::uint8_t { ignored, claimed, segment, part, committed, beat, released };

    // From the front of the topic. The first segment that counts says where the log begins.
    explicit TopicChain(TopicLog log);
    // From this position, which is one that segment_position() returned. If the next record is not that segment, then
    // the topic has changed.
    TopicChain(TopicLog log, const ChainPosition& from);

    // Takes the next record. After an error nothing more can be taken.
    // Codes: `damaged_topic`, `newer_format`; the text names topic, partition and offset.
    Result<Step> append(const KafkaRecord& record);

    // The newest claim; none after a start at a position, until the next one.
    const std::optional<Claim>& claim() const { return claim_; }
    // After `segment`: its header, and the position before it, at which a later start may begin.
    const SegmentHeader& segment() const { return *segment_; }
    const ChainPosition& segment_position() const { return segment_position_; }
    // After `committed`.
    const Commit& committed() const { return committed_; }

    bool has_begun() const { return has_begun_; }
    const ChainPosition& position() const { return position_; }
    // The records that were ignored.
    std::uint64_t ignored() const { return ignored_; }
    const TopicLog& log() const { return log_; }

    // For the owner, in place of append(): records that got the offsets that were expected. A segment comes first.
    void sent_segment(const SegmentHeader& header);
    void sent_commit(const Commit& commit, std::uint64_t link);
    void sent_to(std::int64_t next_offset) { position_.next_offset = next_offset; }

  private:
    Result<Step> take_segment(const TopicRecord& record);
    Result<Step> take_part(const TopicRecord& record);
    Result<Step> assemble();
    Error damaged(const std::string& what) const;
    Step ignore();

    TopicLog log_;
    std::uint64_t cluster_;
    ChainPosition position_;
    std::int64_t reading_ = 0;  // offset of the record that was taken last
    bool has_begun_ = false;
    std::optional<Claim> claim_;
    std::optional<SegmentHeader> segment_;
    ChainPosition segment_position_;
    bool is_closed_ = false;                         // the segment: another must follow
    std::vector<std::optional<std::string>> parts_;  // of the next commit
    Commit committed_;
    std::uint64_t ignored_ = 0;
};

}  // namespace duewheel
