// Deletes the front of a log's topic, so that the topic stays as small as the log of its owner.
//
// A segment that the owner has removed from its disk is needed by no node: what it still needed of it was relocated,
// durably and in the topic, before. So the topic may begin where the oldest segment on the owner's disk begins. A
// standby node whose log ends before that stops with `copy_too_old`.
//
// A deletion that times out may have taken place, and brokers may forget one when all of them crash at once. So the
// owner asks for the topic's first offset again and again, and deletes what is before its log.
//
// Blocks; one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "journal/segment_format.h"
#include "kafka/client/kafka.h"
#include "replication/position_file.h"
#include "replication/topic_chain.h"

namespace duewheel {

class TopicFront {
  public:
    TopicFront(KafkaCluster& cluster, TopicLog log, PositionFile positions)
        : cluster_(cluster), log_(std::move(log)), positions_(std::move(positions)) {}

    // Deletes the records before the oldest segment of the local log. If its offset is not known (the log is older than
    // the file of the positions), nothing is deleted. Returns the first offset of the topic.
    // Codes: those of Kafka (try again later), `damaged_topic` (at that offset is another record: nothing was deleted),
    // `io_error`.
    Result<std::int64_t> advance_to(const SegmentHeader& oldest, std::int64_t timeout_ms);

  private:
    Status check_record(const SegmentHeader& oldest, std::int64_t offset, std::int64_t timeout_ms);
    std::int32_t partition() const { return static_cast<std::int32_t>(log_.shard); }

    KafkaCluster& cluster_;
    const TopicLog log_;
    const PositionFile positions_;
    std::unique_ptr<KafkaConsumer> consumer_;
};

}  // namespace duewheel
