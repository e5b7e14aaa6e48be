// The log and the statistics of all connections to one Kafka cluster.
//
// A broker that is away makes librdkafka log the same line again and again, so there is at most one line in ten seconds
// for each kind. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"

namespace duewheel {

struct KafkaStatistics {
    std::uint64_t brokers_up = 0;      // that a producer or a consumer is connected to
    std::uint64_t disconnects = 0;     // connections that a broker or the network ended
    std::uint64_t ends_repeated = 0;   // transactions whose end was sent more than once
    std::uint64_t records_queued = 0;  // produced and not yet acknowledged
};

class KafkaWatch {
  public:
    explicit KafkaWatch(LogSink& log) : log_(log) {}

    // A line of librdkafka's log: `kind` is its name for what happened, such as FAIL.
    void logged(std::string_view kind, std::string_view text, std::int64_t now_ns);

    // A connection of a producer or consumer to a broker: made, lost, or no longer needed.
    void connected(const std::string& broker);
    void lost(const std::string& broker);
    void closed(const std::string& broker);
    void end_repeated();
    void queued(std::int64_t change);

    KafkaStatistics statistics() const;

  private:
    struct Kind {
        std::uint64_t count = 0;  // since the last line
        std::int64_t next_line_ns = 0;
    };

    void remove(const std::string& broker);

    LogSink& log_;
    mutable std::mutex mutex_;  // guards all below
    std::map<std::string, Kind, std::less<>> kinds_;
    std::map<std::string, std::uint64_t> connections_;  // by broker
    KafkaStatistics statistics_;
};

}  // namespace duewheel
