#include "kafka/in/kafka_partition.h"

#include <algorithm>
#include <unordered_set>

#include "engine/core/batch.h"

namespace duewheel {
namespace {

std::size_t bytes_of(const KafkaRecord& record) {
    std::size_t bytes = record.key.value_or("").size() + record.value.value_or("").size();
    for (const KafkaHeader& header : record.headers) bytes += header.name.size() + header.value.value_or("").size();
    return bytes + sizeof(KafkaRecord);
}

Command as_command(KafkaCommand command) {
    return std::visit([](auto& one) { return Command(std::move(one)); }, command);
}

}  // namespace

KafkaPartition::KafkaPartition(std::string topic, std::int32_t partition, std::int64_t position)
    : topic_(std::move(topic)),
      partition_(partition),
      input_(kafka_input_name(topic_, partition)),
      position_(position) {}

void KafkaPartition::add(KafkaRecord record) {
    bytes_ += bytes_of(record);
    items_.push_back({std::move(record), false, {}});
}

std::optional<std::int64_t> KafkaPartition::drop_surplus(std::size_t records_max, std::size_t bytes_max) {
    std::optional<std::int64_t> first;
    while (items_.size() > 1 && (items_.size() > records_max || bytes_ > bytes_max)) {
        const Item& last = items_.back();
        if (last.is_settled || last.error) break;
        first = last.record.offset;
        bytes_ -= bytes_of(last.record);
        items_.pop_back();
    }
    return first;
}

KafkaWork KafkaPartition::work(const KafkaCommandOptions& options, std::int64_t now_ms) {
    KafkaWork work;
    put_items_.clear();
    if (items_.empty()) return work;
    TakeRecordsCommand take;
    take.input = input_;
    take.position = position_;
    std::unordered_set<std::string> keys_put;
    std::size_t bytes = 0;
    const std::size_t items_max = std::min(items_.size(), kRecordsMax);
    for (std::size_t i = 0; i < items_max; ++i) {
        const Item& item = items_[i];
        bytes += bytes_of(item.record);
        if (i > 0 && bytes > kBytesMax) break;
        if (!item.is_settled) {
            Result<KafkaCommand> command =
                item.error ? Result<KafkaCommand>(*item.error) : read_kafka_record(item.record, options, now_ms);
            if (!command) {
                work.rejected.push_back({i, std::move(command).error()});
            } else if (auto* put = std::get_if<PutCommand>(&*command)) {
                if (!put->key.empty()) keys_put.insert(key_name(put->name_space, put->queue, put->key));
                take.puts.push_back(std::move(*put));
                take.offsets.push_back(item.record.offset);
                put_items_.push_back(i);
            } else {
                const auto* cancel = std::get_if<CancelCommand>(&*command);
                const bool is_of_a_put =
                    cancel != nullptr &&
                    keys_put.contains(key_name(cancel->name_space, cancel->by_key.queue, cancel->by_key.key));
                if (is_of_a_put) break;
                work.others.push_back({i, as_command(*std::move(command))});
            }
        }
        take.next = item.record.offset + 1;
    }
    if (!work.rejected.empty()) {
        work.others.clear();
    } else if (work.others.empty()) {
        work.take = std::move(take);
    }
    return work;
}

KafkaPartition::Taken KafkaPartition::taken(const TakeRecordsAnswer& answer) {
    Taken taken;
    if (answer.refused) taken.refused_item = put_items_[answer.taken];
    position_ = answer.position;
    while (!items_.empty() && items_.front().record.offset < position_) {
        bytes_ -= bytes_of(items_.front().record);
        items_.pop_front();
        ++taken.records;
    }
    if (taken.refused_item) *taken.refused_item -= taken.records;
    return taken;
}

void KafkaPartition::clear(std::int64_t position) {
    position_ = position;
    items_.clear();
    put_items_.clear();
    bytes_ = 0;
}

}  // namespace duewheel
