// The topic of the replicated logs of a run with two shards: one partition for each, on one simulated cluster
// (support/simulated_kafka.h). Appends are slow, time out, take place or not, and are acknowledged or not; a copy that
// was given up arrives late; for some time no broker answers; the end of a partition is lost.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "replication/topic_chain.h"
#include "shared/random.h"
#include "simulation/sim_options.h"
#include "support/simulated_kafka.h"

namespace duewheel {

class SimLogTopic {
  public:
    explicit SimLogTopic(const SimOptions& options);

    SimulatedKafka& kafka() { return kafka_; }
    static TopicLog log_of(std::uint32_t shard) {
        return {.topic = "duewheel.sim.log", .shard = shard, .cluster = "sim"};
    }
    // From now on every call works, or not. Returns whether it did before.
    bool set_calm(bool calm) { return std::exchange(is_calm_, calm); }
    // Loses up to five records at the end of the partition; false if it has none.
    bool lose_end(std::uint32_t shard, Random& random);

  private:
    KafkaFault fault(const KafkaCall& call);

    const SimOptions& options_;
    Random random_;
    SimulatedKafka kafka_;
    std::uint64_t calls_without_brokers_ = 0;
    bool is_calm_ = false;
};

}  // namespace duewheel
