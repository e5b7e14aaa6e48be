#include "replication/topic_front.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "replication/topic_record.h"

namespace duewheel {

Result<std::int64_t> TopicFront::advance_to(const SegmentHeader& oldest, std::int64_t timeout_ms) {
    if (!consumer_) {
        Result<std::unique_ptr<KafkaConsumer>> opened = cluster_.open_consumer();
        if (!opened) return std::move(opened).error();
        consumer_ = *std::move(opened);
    }
    const Result<KafkaConsumer::Offsets> offsets = consumer_->offsets(log_.topic, partition(), timeout_ms);
    if (!offsets) return offsets.error();
    const Result<std::vector<ChainPosition>> positions = positions_.read();
    if (!positions) return positions.error();
    const auto found = std::ranges::find_if(*positions, [&](const ChainPosition& each) {
        return each.commit == oldest.before.commit && each.link == oldest.link;
    });
    if (found == positions->end() || found->next_offset <= offsets->low) return offsets->low;
    if (Status same = check_record(oldest, found->next_offset, timeout_ms); !same) return std::move(same).error();
    Status deleted = cluster_.delete_before(log_.topic, partition(), found->next_offset, timeout_ms);
    if (!deleted) return std::move(deleted).error();
    return found->next_offset;
}

// Deleted records cannot be restored, so the offset is not trusted alone.
Status TopicFront::check_record(const SegmentHeader& oldest, std::int64_t offset, std::int64_t timeout_ms) {
    if (Status assigned = consumer_->assign(log_.topic, partition(), offset); !assigned) return assigned;
    const Result<std::vector<KafkaRecord>> records = consumer_->poll(1, timeout_ms);
    const Status ended = consumer_->unassign(log_.topic, partition());
    if (!records || !ended) {
        consumer_.reset();
        return records ? ended : Status(records.error());
    }
    if (records->empty())
        return Error{"kafka_unavailable"_code, "the front of topic " + log_.topic + " cannot be read"};
    const KafkaRecord& read = records->front();
    const std::string bytes = read.value.value_or("");  // outlives the record, whose payload is a view
    const Result<TopicRecord> record = decode_topic_record(bytes);
    if (read.offset == offset && record && record->head.kind == TopicRecordKind::segment) {
        const Result<SegmentHeader> header = decode_segment_header(record->payload);
        if (header && *header == oldest) return {};
    }
    return Error{"damaged_topic"_code, "the log in topic " + log_.topic + ", partition " + std::to_string(log_.shard) +
                                           ", does not have the oldest local segment at offset " +
                                           std::to_string(offset) +
                                           ": nothing was deleted. Check it with `duewheel kafka verify`"};
}

}  // namespace duewheel
