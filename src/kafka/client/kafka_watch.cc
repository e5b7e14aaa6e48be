#include "kafka/client/kafka_watch.h"

#include <utility>

namespace duewheel {
namespace {

constexpr std::int64_t kLineIntervalNs = 10'000'000'000;

}  // namespace

void KafkaWatch::logged(std::string_view kind, std::string_view text, std::int64_t now_ns) {
    std::uint64_t count = 0;
    {
        const std::lock_guard lock(mutex_);
        auto found = kinds_.find(kind);
        if (found == kinds_.end()) found = kinds_.emplace(std::string(kind), Kind{}).first;
        ++found->second.count;
        if (now_ns < found->second.next_line_ns) return;
        found->second.next_line_ns = now_ns + kLineIntervalNs;
        count = std::exchange(found->second.count, 0);
    }
    log_.warning("kafka_connection", "The Kafka client reports a problem; it tries again.",
                 {{"kind", kind}, {"reason", text}, {"count", count}});
}

void KafkaWatch::connected(const std::string& broker) {
    const std::lock_guard lock(mutex_);
    ++connections_[broker];
}

void KafkaWatch::lost(const std::string& broker) {
    const std::lock_guard lock(mutex_);
    ++statistics_.disconnects;
    remove(broker);
}

void KafkaWatch::closed(const std::string& broker) {
    const std::lock_guard lock(mutex_);
    remove(broker);
}

void KafkaWatch::remove(const std::string& broker) {
    const auto found = connections_.find(broker);
    if (found != connections_.end() && --found->second == 0) connections_.erase(found);
}

void KafkaWatch::end_repeated() {
    const std::lock_guard lock(mutex_);
    ++statistics_.ends_repeated;
}

void KafkaWatch::queued(std::int64_t change) {
    const std::lock_guard lock(mutex_);
    statistics_.records_queued += static_cast<std::uint64_t>(change);
}

KafkaStatistics KafkaWatch::statistics() const {
    const std::lock_guard lock(mutex_);
    KafkaStatistics statistics = statistics_;
    statistics.brokers_up = connections_.size();
    return statistics;
}

}  // namespace duewheel
