// Rebuilds the topic of a replicated log from the log in a data directory, after the topic was lost or has lost
// records: `duewheel kafka reseed`.
//
// Only an empty topic is written. In one with records, another node may have acknowledged messages that the directory
// lacks, so deleting it is a decision of the operator. No server may use the directory meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "kafka/client/kafka.h"
#include "replication/topic_chain.h"

namespace duewheel {

struct TopicSeed {
    std::uint64_t segments = 0;
    std::uint64_t commits = 0;
    std::uint64_t bytes = 0;  // of the segments
    std::uint64_t newest_commit = 0;
};

// Called from time to time with the bytes written so far and in total.
using SeedProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// The topic then ends with a release, so that the first node takes the log over at once. `node`: any number.
// Codes: `topic_not_empty`, those of Kafka, and those of find_log(), also for damage. After an error of an append the
// topic has a part of the log, and must be deleted.
Result<TopicSeed> seed_topic(FileSystem& files, const std::string& directory, KafkaCluster& cluster,
                             const TopicLog& log, std::uint64_t node, std::int64_t timeout_ms,
                             const SeedProgress& progress = {});

}  // namespace duewheel
