// Compares the log in a data directory with its topic, byte by byte: `duewheel kafka verify`.
//
// It changes nothing, and a server may use the directory meanwhile. What the topic has and the directory lacks at its
// end is no difference: a standby node may be behind, and the owner writes the topic first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "kafka/client/kafka.h"
#include "replication/topic_chain.h"

namespace duewheel {

struct TopicComparison {
    std::uint64_t segments = 0;  // that were compared, and their commits and bytes
    std::uint64_t commits = 0;
    std::uint64_t bytes = 0;
    std::uint64_t local_commit = 0;  // the newest one of the directory
    std::uint64_t topic_commit = 0;
    std::optional<std::string> difference;  // the first one
};

// `directory`: the data directory. Codes: those of Kafka and of find_log_in_use(), `damaged_topic`, `newer_format`.
Result<TopicComparison> compare_with_topic(FileSystem& files, const std::string& directory, KafkaCluster& cluster,
                                           const TopicLog& log, std::int64_t timeout_ms);

}  // namespace duewheel
