// The settings of a shard, and the report of its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/core/engine_options.h"
#include "journal/local_journal.h"
#include "message/schedule_times.h"

namespace duewheel {

struct ShardOptions {
    EngineOptions engine;
    std::size_t spare_segments = 1;
    std::size_t reserve_segments = 3;
    std::uint64_t free_floor_bytes = 256u << 20;  // of the disk: with less, puts are refused; 0 disables it
    // Identity of the data directory when it is created; its shard is also that of an existing one.
    LogIdentity identity;
    // The source of time zones and the version of their data; by default the operating system's.
    FindZone find_zone;
    std::string zone_data;
    // For a log with other copies: the journal that writes them, around the local one.
    std::function<std::unique_ptr<Journal>(LocalJournal&)> replicate;
};

struct RecoveryReport {
    std::uint64_t replayed_records = 0;
    std::uint64_t replayed_bytes = 0;
    std::uint64_t loaded_leases = 0;  // of messages that only the index had
    bool index_rebuilt = false;
};

}  // namespace duewheel
