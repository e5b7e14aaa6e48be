#include "replication/topic_chain.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {

TopicChain::TopicChain(TopicLog log) : log_(std::move(log)), cluster_(hash_of_cluster(log_.cluster)) {}

TopicChain::TopicChain(TopicLog log, const ChainPosition& from)
    : log_(std::move(log)), cluster_(hash_of_cluster(log_.cluster)), position_(from), has_begun_(true) {}

Result<TopicChain::Step> TopicChain::append(const KafkaRecord& record) {
    reading_ = record.offset;
    Result<TopicRecord> decoded =
        record.value ? decode_topic_record(*record.value) : Error{"damaged_topic"_code, "it has no value"};
    if (!decoded) return Error{decoded.error().code, damaged(decoded.error().message).message};
    const TopicRecordHead& head = decoded->head;
    if (head.cluster != cluster_ || head.shard != log_.shard) {
        return damaged("it belongs to another cluster or shard: two clusters write the same topic");
    }
    position_.next_offset = record.offset + 1;
    if (head.kind == TopicRecordKind::claim) {
        Result<Claim> claim = decode_claim(decoded->payload);
        if (!claim) return damaged(claim.error().message);
        claim_ = std::move(*claim);
        position_.epoch = record.offset;
        parts_.clear();
        return Step::claimed;
    }
    // The front of the topic was deleted together with the claim: deletion ends before a segment that counts.
    const bool is_first = position_.epoch < 0 && head.kind == TopicRecordKind::segment;
    if (is_first) position_.epoch = head.epoch;
    if (position_.epoch >= 0 && head.epoch > position_.epoch) return damaged("the claim of its owner is missing");
    if (head.epoch != position_.epoch) return ignore();
    switch (head.kind) {
        case TopicRecordKind::segment:
            return take_segment(*decoded);
        case TopicRecordKind::commit:
            return take_part(*decoded);
        case TopicRecordKind::release:
            return Step::released;
        default:
            return Step::beat;
    }
}

Result<TopicChain::Step> TopicChain::take_segment(const TopicRecord& record) {
    Result<SegmentHeader> header = decode_segment_header(record.payload);
    if (!header) return damaged(header.error().message);
    if (!has_begun_) {
        position_.commit = header->before.commit;
        position_.link = header->link;
        has_begun_ = true;
    } else if (header->before.commit < position_.commit || (segment_ && header->number <= segment_->number)) {
        return ignore();
    }
    const bool follows = header->before.commit == position_.commit && header->link == position_.link;
    if (!follows || (segment_ && !is_closed_)) {
        return damaged("segment " + std::to_string(header->number) + " does not follow commit " +
                       std::to_string(position_.commit));
    }
    segment_ = *header;
    segment_position_ = position_;
    segment_position_.next_offset = reading_;
    is_closed_ = false;
    return Step::segment;
}

Result<TopicChain::Step> TopicChain::take_part(const TopicRecord& record) {
    const TopicRecordHead& head = record.head;
    if (!has_begun_) return damaged("there is no segment before commit " + std::to_string(head.commit));
    if (head.commit <= position_.commit) return ignore();
    if (head.commit != position_.commit + 1) {
        return damaged("commit " + std::to_string(head.commit) + " follows commit " + std::to_string(position_.commit));
    }
    if (is_closed_) return damaged("commit " + std::to_string(head.commit) + " is in no segment");
    if (parts_.size() != head.parts) parts_.assign(head.parts, std::nullopt);
    // All copies of a part are the same bytes: an owner sends a commit again as it was.
    std::optional<std::string>& part = parts_[head.part];
    if (part) return ignore();
    part = std::string(record.payload);
    const bool is_whole = std::all_of(parts_.begin(), parts_.end(), [](const auto& each) { return each.has_value(); });
    return is_whole ? assemble() : Step::part;
}

Result<TopicChain::Step> TopicChain::assemble() {
    std::string bytes = std::move(*parts_.front());
    for (std::size_t i = 1; i < parts_.size(); ++i) bytes += *parts_[i];
    parts_.clear();
    if (bytes.size() < kFooterBytes) return damaged("a commit is too short");
    const std::size_t area_bytes = bytes.size() - kFooterBytes;
    Result<CommitFooter> footer = decode_footer(std::string_view(bytes).substr(area_bytes));
    if (!footer) return Error{footer.error().code, damaged(footer.error().message).message};
    const bool is_sound = footer->record_bytes <= area_bytes &&
                          footer->area_hash == area_hash(std::string_view(bytes).substr(0, area_bytes));
    if (!is_sound) return damaged("a commit does not match its checksum");
    if (footer->totals.commit != position_.commit + 1 || footer->link != position_.link) {
        return damaged("commit " + std::to_string(footer->totals.commit) + " does not follow from commit " +
                       std::to_string(position_.commit));
    }
    position_.commit = footer->totals.commit;
    position_.link = footer->checksum;
    is_closed_ = footer->closes_segment;
    bytes.resize(footer->record_bytes);
    committed_ = {.first_sequence = footer->first_sequence,
                  .count = footer->count,
                  .records = std::move(bytes),
                  .totals = footer->totals,
                  .closes_segment = footer->closes_segment};
    return Step::committed;
}

void TopicChain::sent_segment(const SegmentHeader& header) {
    segment_ = header;
    segment_position_ = position_;
    has_begun_ = true;
    is_closed_ = false;
}

void TopicChain::sent_commit(const Commit& commit, std::uint64_t link) {
    position_.commit = commit.totals.commit;
    position_.link = link;
    is_closed_ = commit.closes_segment;
}

TopicChain::Step TopicChain::ignore() {
    ++ignored_;
    return Step::ignored;
}

Error TopicChain::damaged(const std::string& what) const {
    return {"damaged_topic"_code,
            "the log in topic " + log_.topic + ", partition " + std::to_string(log_.shard) + ", is damaged at offset " +
                std::to_string(reading_) + ": " + what +
                ". Nothing was changed. Stop the other nodes of this shard and look at the topic"};
}

}  // namespace duewheel
