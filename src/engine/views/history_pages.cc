#include "engine/views/history_pages.h"

#include <algorithm>

namespace duewheel {
namespace {

bool is_earlier(const EndedRow& left, const EndedRow& right) {
    return left.ended_ms != right.ended_ms ? left.ended_ms < right.ended_ms : left.id < right.id;
}

}  // namespace

void HistoryPages::read(const HistoryCommand& command, ReplyToken token, const SharedLimits&) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
        return reply(token, std::move(fits).error());
    if (open_.begin(command.name_space, token)) look_up({token, command});
}

void HistoryPages::look_up(HistoryLookup lookup) {
    const HistoryCommand& command = lookup.command;
    ListHistory wanted{command.name_space, command.queue, command.from.due_ms,    command.from.id, command.until_ms,
                       command.outcomes,   command.limit, options_.list_walk_max, command.id};
    lookups_.start(std::move(wanted), std::move(lookup));
}

// Adds the ends of the segment that belong to the page. Returns the instant from which on they may be incomplete.
DueMs HistoryPages::add_recent_ends(const std::vector<EndInQueue>& ends, const HistoryCommand& command,
                                    QueueNumber queue, std::vector<EndedRow>& page) const {
    auto end = std::lower_bound(ends.begin(), ends.end(), command.from.due_ms,
                                [](const EndInQueue& each, DueMs from_ms) { return each.row.ended_ms < from_ms; });
    std::uint32_t looked_at = 0;
    std::uint32_t added = 0;
    DueMs instant = 0;
    for (; end != ends.end() && end->row.ended_ms < command.until_ms; ++end) {
        const bool enough = looked_at >= options_.list_walk_max || added >= command.limit;
        // Ends at the same instant have no order, so all of them are included.
        if (enough && end->row.ended_ms != instant) return end->row.ended_ms;
        instant = end->row.ended_ms;
        ++looked_at;
        if (end->queue != queue || !command.outcomes.contains(end->row.outcome)) continue;
        if (command.id != 0 && end->row.id != command.id) continue;
        if (DuePosition{end->row.ended_ms, end->row.id} < command.from) continue;
        page.push_back(end->row);
        ++added;
    }
    return command.until_ms;
}

void HistoryPages::finish(HistoryLookup lookup, HistoryRows sealed, Generation generation) {
    if (!lookups_.is_fresh(generation)) return look_up(std::move(lookup));
    const HistoryCommand& command = lookup.command;
    HistoryAnswer answer;
    answer.query = command.query;
    answer.queue = command.queue;
    std::vector<EndedRow>& page = answer.ended;
    page = std::move(sealed.rows);
    if (sealed.next) answer.next = DuePosition{sealed.next->ended_ms, sealed.next->id};
    const QueueNumber queue = recent_.queues().find(command.name_space, command.queue);
    for (const auto& [segment, ends] : recent_.recent_ends()) {
        const DueMs complete_to = add_recent_ends(ends, command, queue, page);
        if (complete_to == command.until_ms) continue;
        const DuePosition on{complete_to, 0};
        answer.next = std::min(answer.next.value_or(on), on);
    }
    std::stable_sort(page.begin(), page.end(), is_earlier);
    // A segment whose table was added is in memory and in the index until it is swept. Of two ends of one message
    // within a millisecond the index keeps the later one.
    const auto repeats = [](const EndedRow& later, const EndedRow& row) { return !is_earlier(row, later); };
    page.erase(page.begin(), std::unique(page.rbegin(), page.rend(), repeats).base());
    if (answer.next) {
        std::erase_if(page, [&](const EndedRow& row) { return DuePosition{row.ended_ms, row.id} >= *answer.next; });
    }
    if (page.size() > command.limit) {
        page.resize(command.limit);
        answer.next = DuePosition{page.back().ended_ms, page.back().id + 1};
    }
    open_.end(lookup.command.name_space, lookup.token, std::move(answer));
}

}  // namespace duewheel
