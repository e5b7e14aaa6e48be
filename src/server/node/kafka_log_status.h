// The state of a replicated log on its owner, for metrics and statistics.
#pragma once

#include <cstdint>

#include "replication/replicated_journal.h"

namespace duewheel {

struct KafkaLogStatus {
    bool is_owner = false;  // false: the log is not replicated
    std::int64_t epoch = 0;
    std::int64_t first_offset = 0;  // of the topic, when it was looked at last
    ReplicationCounters counters;
    bool is_topic_unsafe = false;  // by its settings, when they were looked at last
};

}  // namespace duewheel
