// What a start finds in the index and the log, as plain values: the state with which an engine begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/commands/lease_token.h"
#include "engine/puts/input_table.h"
#include "engine/settings/token_table.h"
#include "journal/journal.h"
#include "message/queue_counts.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"
#include "message/totals.h"
#include "message/watchdog_state.h"
#include "resource/group_settings.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "store/store.h"

namespace duewheel {

template <class State>
struct RuleStart {
    std::string name_space;
    std::string name;
    State state;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};
using WatchdogStart = RuleStart<WatchdogState>;
struct ScheduleStart : RuleStart<ScheduleState> {
    std::optional<ScheduleTimes> times;  // none: its zone cannot be loaded
};

struct NamespaceStart {
    std::string name_space;
    NamespaceSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

struct GroupConfStart {
    std::string name_space;
    std::string name;  // of the record
    GroupSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

// What a start finds in the index and the log.
struct EngineStart {
    Totals totals;
    SegmentNumber segment = 1;  // the open segment
    std::uint64_t segment_fill = kSegmentHeaderBytes;
    std::uint64_t segment_bytes = 0;      // of the open segment; 0: as in the options
    std::uint32_t block_bytes = 512;      // of the log
    std::vector<SegmentNumber> unsealed;  // closed ones that are not in the index
    DueMs load_cursor_ms = 0;
    struct Cursor {
        QueueName queue;
        DuePosition position;
    };
    std::vector<Cursor> queue_cursors;
    struct QueueState {
        QueueName queue;
        QueueCounts counts;
        QueueSettings settings;  // revision 0: none
        Sequence settings_position = 0;
        std::uint32_t settings_bytes = 0;
    };
    std::vector<QueueState> queue_states;
    std::vector<ScheduleStart> schedules;
    std::vector<WatchdogStart> watchdogs;
    std::vector<NamespaceStart> namespaces;  // that have settings
    std::vector<GroupConfStart> groups;      // likewise
    std::vector<StoredToken> tokens;
    std::vector<InputPosition> inputs;
    std::string zone_data = "unknown";  // version of the zone data with which their times are calculated
    TokenKey token_key{};
    EarlierTokenKey key_before;  // of the original of a restored log
    // Bounds for a restored log: another server may have delivered messages due until then, and have assigned ids up to
    // and including this counter.
    DueMs past_until_ms = 0;
    std::uint64_t ids_from = 0;
};

}  // namespace duewheel
