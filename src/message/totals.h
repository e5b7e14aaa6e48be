// The sums of the log at a point: stored in the footer of every commit, and recomputed by every replay.
#pragma once

#include <cstdint>

#include "message/records/record.h"

namespace duewheel {

struct Totals {
    std::uint64_t commit = 0;        // number of the commit; the first is 1
    Sequence sequence = 0;           // of its last record (of the previous commit if it is empty)
    std::uint64_t digest = 0;        // sum of digest_term over unfinished messages, rules, settings
    std::uint64_t live_count = 0;    // unfinished messages
    std::uint64_t needed_bytes = 0;  // bytes of needed records: of unfinished messages, dead letters, settings
    std::uint64_t id_counter = 0;    // greatest id counter used
    DueMs server_time_ms = 0;        // server time after a restart is at least this

    bool operator==(const Totals&) const = default;
};

// Adds one record to the totals: digest, live count, needed bytes and id counter, from the record alone. The caller
// adds commit number, sequence and server time. `frame_bytes`: the size of the record with its frame.
void add_to_totals(Totals& totals, const Record& record, std::uint64_t frame_bytes);

}  // namespace duewheel
