#include "simulation/sim_log_topic.h"

#include <algorithm>
#include <array>
#include <utility>

namespace duewheel {

SimLogTopic::SimLogTopic(const SimOptions& options) : options_(options), random_(options.seed * 11 + 5) {
    kafka_.create_topic(log_of(0).topic, static_cast<std::int32_t>(options.shards));
    kafka_.on_call = [this](const KafkaCall& call) { return fault(call); };
}

KafkaFault SimLogTopic::fault(const KafkaCall& call) {
    if (is_calm_ || !options_.has(Fault::brokers)) return KafkaFault::none;
    if (calls_without_brokers_ > 0) {
        --calls_without_brokers_;
        return KafkaFault::unreachable;
    }
    if (random_.chance(5'000)) calls_without_brokers_ = random_.below(20);
    if (call.kind != KafkaCall::append) return random_.chance(20'000) ? KafkaFault::unreachable : KafkaFault::none;
    constexpr std::array kFaults{KafkaFault::slow, KafkaFault::lost_answer, KafkaFault::unreachable,
                                 KafkaFault::delayed};
    return random_.chance(60'000) ? kFaults[random_.below(kFaults.size())] : KafkaFault::none;
}

bool SimLogTopic::lose_end(std::uint32_t shard, Random& random) {
    const TopicLog log = log_of(shard);
    const auto partition = static_cast<std::int32_t>(shard);
    const bool was_calm = set_calm(true);
    const KafkaConsumer::Offsets offsets = *(*kafka_.open_consumer())->offsets(log.topic, partition, 1'000);
    set_calm(was_calm);
    if (offsets.high == offsets.low) return false;
    const std::int64_t lost = random.between(1, std::min<std::int64_t>(offsets.high - offsets.low, 5));
    kafka_.lose_tail(log.topic, partition, offsets.high - lost);
    return true;
}

}  // namespace duewheel
