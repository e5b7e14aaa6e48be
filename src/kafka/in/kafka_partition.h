// The records of one partition of an input topic that were read and not taken yet, and what to do with them next. No
// I/O: the reader executes the work and reports its results.
//
// Work comes in rounds of up to kRecordsMax records from the front. First the records that can never be taken go to the
// errors topic; then those that are no puts are executed, all at once; last come the puts, with the position after the
// round. A record that cancels a put of the same round begins the next one, so the two keep their order:
//
//     put a, cancel b, broken, put c, cancel a, put d
//     round 1: errors topic: broken; execute: cancel b; take: put a, put c
//     round 2:                       execute: cancel a; take: put d
//
// Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/commands/command.h"
#include "kafka/client/kafka.h"
#include "kafka/in/kafka_commands.h"

namespace duewheel {

// Items are counted from the first record that waits, and valid until taken() or clear().
struct KafkaWork {
    struct Rejected {
        std::size_t item = 0;
        Error error;
    };
    struct Other {
        std::size_t item = 0;
        Command command;
    };
    std::vector<Rejected> rejected;
    std::vector<Other> others;               // if none is rejected
    std::optional<TakeRecordsCommand> take;  // if there are no others either
};

class KafkaPartition {
  public:
    static constexpr std::size_t kRecordsMax = 1'000;  // of a round
    static constexpr std::size_t kBytesMax = 4u << 20;

    // `position`: that of the input in the engine.
    KafkaPartition(std::string topic, std::int32_t partition, std::int64_t position);

    const std::string& topic() const { return topic_; }
    std::int32_t partition() const { return partition_; }
    const std::string& input() const { return input_; }
    std::int64_t position() const { return position_; }

    // The next record, in the order of offsets.
    void add(KafkaRecord record);
    std::size_t records() const { return items_.size(); }
    std::size_t bytes() const { return bytes_; }
    const KafkaRecord& record(std::size_t item) const { return items_[item].record; }

    // Drops records at the end, to be read again later, until no more are left than this; but neither the
    // first one nor any up to the last one that is settled or rejected. Returns the offset of the first one that was
    // dropped.
    std::optional<std::int64_t> drop_surplus(std::size_t records_max, std::size_t bytes_max);

    // The work of the round; empty if no record waits. To be called again once it is done: what is settled by then is
    // omitted.
    KafkaWork work(const KafkaCommandOptions& options, std::int64_t now_ms);
    // It was executed, or is in the errors topic.
    void finish(std::size_t item) { items_[item].is_settled = true; }
    // It can never be executed.
    void reject(std::size_t item, Error error) { items_[item].error = std::move(error); }

    // The answer to the puts of the newest work: returns the number of records that wait no longer. The record of a put
    // that was refused is the item `refused_item`.
    struct Taken {
        std::size_t records = 0;
        std::optional<std::size_t> refused_item;
    };
    Taken taken(const TakeRecordsAnswer& answer);

    // The position was set to another one, or nothing of it is taken any more.
    void clear(std::int64_t position);

  private:
    struct Item {
        KafkaRecord record;
        bool is_settled = false;
        std::optional<Error> error;  // it can never be taken
    };

    const std::string topic_;
    const std::int32_t partition_;
    const std::string input_;
    std::int64_t position_;
    std::deque<Item> items_;
    std::size_t bytes_ = 0;
    std::vector<std::size_t> put_items_;  // of the puts of the newest work
};

}  // namespace duewheel
