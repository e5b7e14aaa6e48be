// Reads the due times of future messages from the index, without the messages: many rows for few bytes.
#include <cassert>

#include "store/index.h"
#include "store/index_reads.h"

namespace duewheel {

// The rows of a queue are adjacent. Those of a namespace are among the rows by due time of all namespaces, where each
// message with an expiry has a second row.
Result<DueRows> Index::list_due(const ListDue& list) const {
    assert(list.walk_max > 0);
    DueRows due;
    const bool of_queue = !list.queue.empty();
    const DuePosition until{list.until_ms, 0};
    const std::string lower = of_queue ? queue_key(list.name_space, list.queue, list.from) : due_bound(list.from);
    const std::string upper = of_queue ? queue_key(list.name_space, list.queue, until) : due_bound(until);
    std::uint32_t walked = 0;
    const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
        const Result<PlacedRow> row = of_queue ? decode_queue_row(key, value) : decode_due_row(key, value);
        if (!row) return row.error();
        const MessageState& state = row->row.state;
        const bool wanted = of_queue || (state.name_space == list.name_space && !is_expire_key(key));
        const std::optional<FallsDue> what = falls_due(state.state, state.is_recurring());
        if (wanted && what) due.rows.push_back({row->at.due_ms, row->at.id, *what});
        if (++walked == list.walk_max) due.next = DuePosition{row->at.due_ms, row->at.id + 1};
        return true;
    };
    if (const Status status = walk_rows(*rows_, lower, upper, list.walk_max, take); !status) return status.error();
    return due;
}

// Reads the position before and after, so that the counts are known to be as of one table.
Result<DueMinutes> Index::count_due(const CountDue& count) const {
    assert(count.limit > 0);
    const std::string lower = due_counts_key(count.name_space, count.queue, count.from_ms);
    const std::string upper = due_counts_key(count.name_space, count.queue, count.until_ms);
    for (;;) {
        DueMinutes due;
        const auto before = find_row(*rows_, position_key(), decode_position);
        if (!before) return before.error();
        const auto take = [&](std::string_view key, std::string_view value) -> Result<bool> {
            const Result<DueMs> minute_ms = decode_due_counts_key(key);
            if (!minute_ms) return minute_ms.error();
            const Result<DueCounts> counts = decode_due_counts(value);
            if (!counts) return counts.error();
            due.rows.push_back({*minute_ms, *counts});
            if (due.rows.size() == count.limit) due.next = *minute_ms + DueMinute::kMs;
            return true;
        };
        if (const Status status = walk_rows(*rows_, lower, upper, count.limit, take); !status) return status.error();
        const auto after = find_row(*rows_, position_key(), decode_position);
        if (!after) return after.error();
        if (*before == *after) {
            if (*after) due.segment = (*after)->segment;
            return due;
        }
    }
}

Result<DueCounts> Index::due_counts(std::string_view name_space, std::string_view queue, DueMs minute_ms) const {
    const auto found = find_row(*rows_, due_counts_key(name_space, queue, minute_ms), decode_due_counts);
    if (!found) return found.error();
    return found->value_or(DueCounts());
}

}  // namespace duewheel
