// What the log adds up to at a point: stored in the footer of every commit, recomputed by every replay.
#pragma once

#include <cstdint>

#include "message/record.h"

namespace duewheel {

struct Totals {
    std::uint64_t commit = 0;        // number of the commit; the first is 1
    Sequence sequence = 0;           // of its last record (of the last one before, when it is empty)
    std::uint64_t digest = 0;        // sum of digest_term over unfinished messages, rules, settings
    std::uint64_t live_count = 0;    // unfinished messages
    std::uint64_t needed_bytes = 0;  // bytes of the records that are needed: of unfinished and dead messages, settings
    std::uint64_t id_counter = 0;    // greatest id counter handed out
    DueMs server_time_ms = 0;        // floor of the server time after a restart

    bool operator==(const Totals&) const = default;
};

// Adds one record to the totals: digest, live count, needed bytes and id counter, from the record alone. The commit
// number, the sequence and the server time are the caller's. `frame_bytes`: the record's size with its frame.
void add_to_totals(Totals& totals, const Record& record, std::uint64_t frame_bytes);

}  // namespace duewheel
