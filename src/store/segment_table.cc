#include "store/segment_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace duewheel {
namespace {

// A row of `due` or `queue` to be written. Of two operations on one key the put is last and replaces both.
struct Operation {
    std::uint32_t group = 0;  // order of the queue's key; 0 in `due`
    std::uint32_t message = 0;
    DuePosition at;
    bool put = false;
    bool expires = false;  // in `due`: of the second kind

    auto key() const { return std::tuple(group, at.due_ms, at.id, expires); }
};

void write_rules(const std::map<std::string, RuleEffect>& effects, TableBuilder& into) {
    std::string value;
    for (const auto& [key, effect] : effects) {
        if (effect.value.empty()) {
            into.erase(key);
            continue;
        }
        encode_settings(value, {effect.log_position, effect.record_bytes, effect.value});
        into.put(key, value);
    }
}

std::vector<Operation> in_key_order(std::vector<Operation> operations) {
    std::sort(operations.begin(), operations.end(), [](const Operation& left, const Operation& right) {
        return std::tuple(left.key(), left.put) < std::tuple(right.key(), right.put);
    });
    const auto replaced = [](const Operation& left, const Operation& right) { return left.key() == right.key(); };
    // unique() keeps the first of equals; walking backwards that is the put.
    const auto kept = std::unique(operations.rbegin(), operations.rend(), replaced);
    operations.erase(operations.begin(), kept.base());
    return operations;
}

void write_due(const SegmentTable& table, TableBuilder& into) {
    const DueMs cursor_ms = table.position.load_cursor_ms;
    if (cursor_ms > table.load_cursor_before_ms) {
        into.erase_range(due_bound({table.load_cursor_before_ms, 0}), due_bound({cursor_ms, 0}));
    }
    const std::vector<MessageEffect>& messages = table.effect.messages();
    std::vector<Operation> operations;
    for (std::uint32_t number = 0; number < messages.size(); ++number) {
        const MessageEffect& message = messages[number];
        const StoodBefore& before = message.before;
        // Below the cursor the range deletion removes it.
        if (before.queue != kNoQueue && is_timed(before.state) && before.due_ms >= cursor_ms) {
            operations.push_back({0, number, {before.due_ms, message.id}, false});
        }
        if (has_due_row(message, cursor_ms)) operations.push_back({0, number, {message.due_ms, message.id}, true});
        if (before.queue != kNoQueue && !is_ended(before.state) && before.expires_ms >= std::max<DueMs>(cursor_ms, 1)) {
            operations.push_back({0, number, {before.expires_ms, message.id}, false, true});
        }
        if (message.rare == 0) continue;
        const DueMs expires_ms = table.effect.rare(message).expires_ms;
        if (has_expire_row(message, expires_ms, cursor_ms)) {
            operations.push_back({0, number, {expires_ms, message.id}, true, true});
        }
    }
    MessageRow row;
    std::string value;
    for (const Operation& operation : in_key_order(std::move(operations))) {
        const std::string key = operation.expires ? expire_key(operation.at) : due_key(operation.at);
        if (!operation.put) {
            into.erase(key);
            continue;
        }
        table.effect.fill_row(messages[operation.message], row);
        operation.expires ? encode_expire_value(value, row) : encode_due_value(value, row);
        into.put(key, value);
    }
}

void write_history(const SegmentTable& table, TableBuilder& into) {
    const Era begins = table.history.first_era();
    if (begins > table.history_begins_before) {
        into.erase_range(history_bound(table.history_begins_before), history_bound(begins));
    }
    if (table.history_era == 0) return;
    std::vector<std::pair<std::string, const EndedRow*>> rows;
    rows.reserve(table.effect.ends().size());
    for (const EndInQueue& end : table.effect.ends()) {
        const QueueName& name = table.effect.queues().name(end.queue);
        rows.emplace_back(history_key(table.history_era, name.name_space, name.queue, end.row.ended_ms, end.row.id),
                          &end.row);
    }
    std::sort(rows.begin(), rows.end());
    std::string value;
    const std::string* before = nullptr;
    for (const auto& [key, row] : rows) {
        // Dead twice at the same instant, with a redrive in between: one row is enough.
        if (before != nullptr && *before == key) continue;
        before = &key;
        encode_history_value(value, *row);
        into.put(key, value);
    }
}

void write_ids(const SegmentTable& table, TableBuilder& into) {
    const std::vector<MessageEffect>& messages = table.effect.messages();
    std::vector<std::uint32_t> order(messages.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t left, std::uint32_t right) { return messages[left].id < messages[right].id; });
    MessageRow row;
    std::string value;
    for (const std::uint32_t number : order) {
        table.effect.fill_row(messages[number], row);
        encode_id_value(value, row);
        into.put(id_key(row.id), value);
    }
}

void write_keys(const SegmentTable& table, TableBuilder& into) {
    std::string value;
    for (const SegmentTable::KeyRow& row : table.keys) {
        if (!row.holder) {
            into.erase(row.row_key);
            continue;
        }
        encode_key_value(value, *row.holder);
        into.put(row.row_key, value);
    }
}

void write_leases(const SegmentTable& table, TableBuilder& into) {
    std::map<DuePosition, bool> rows;  // false: erased
    for (const DuePosition& at : table.ended_leases) rows.emplace(at, false);
    for (const MessageEffect& message : table.effect.messages()) {
        const DueMs until_ms = table.effect.rare(message).work->lease.until_ms;
        const bool lasts = until_ms > table.position.totals.server_time_ms && !is_ended(message.state);
        if (lasts) rows[{until_ms, message.id}] = true;
    }
    for (const auto& [at, lasts] : rows) {
        lasts ? into.put(lease_key(at), {}) : into.erase(lease_key(at));
    }
}

void write_meta(const SegmentTable& table, TableBuilder& into) {
    std::string value;
    table.history.encode(value);
    table.outcomes.encode(value);
    into.put(outcome_ledger_key(), value);
    table.history.encode(value);
    into.put(history_ledger_key(), value);
    for (const auto& [first_sequence, count] : table.needed) {
        if (count == 0) {
            into.erase(needed_key(first_sequence));
            continue;
        }
        encode_needed(value, count);
        into.put(needed_key(first_sequence), value);
    }
    encode_position(value, table.position);
    into.put(position_key(), value);

    std::map<std::string, std::optional<DuePosition>> cursors;
    for (const auto& [number, at] : table.queue_cursors) {
        const QueueName& name = table.effect.queues().name(number);
        cursors.emplace(queue_cursor_key(name.name_space, name.queue), at);
    }
    for (const auto& [key, at] : cursors) {
        if (!at) {
            into.erase(key);
            continue;
        }
        encode_queue_cursor(value, *at);
        into.put(key, value);
    }

    std::map<std::string, QueueCounts> counts;
    for (const auto& [number, of_queue] : table.queue_counts) {
        const QueueName& name = table.effect.queues().name(number);
        counts.emplace(queue_counts_key(name.name_space, name.queue), of_queue);
    }
    for (const auto& [key, of_queue] : counts) {
        if (of_queue.empty()) {
            into.erase(key);
            continue;
        }
        encode_queue_counts(value, of_queue);
        into.put(key, value);
    }
}

void write_orders(const SegmentTable& table, TableBuilder& into) {
    const SegmentEffect& effect = table.effect;
    std::map<std::string, const MessageEffect*> rows;  // null: erased
    for (const MessageEffect& message : effect.messages()) {
        const StoodBefore& before = message.before;
        if (before.queue != kNoQueue && !is_ended(before.state) && before.order_key.is_set()) {
            const QueueName& name = effect.queues().name(before.queue);
            rows.try_emplace(
                order_row_key(name.name_space, name.queue, *before.order_key, {before.nominal_due_ms, message.id}),
                nullptr);
        }
        const std::string& order_key = effect.rare(message).order_key;
        if (order_key.empty() || is_ended(message.state)) continue;
        const QueueName& name = effect.queues().name(message.queue);
        rows[order_row_key(name.name_space, name.queue, order_key, {message.nominal_due_ms, message.id})] = &message;
    }
    MessageRow row;
    std::string value;
    for (const auto& [key, message] : rows) {
        if (message == nullptr) {
            into.erase(key);
            continue;
        }
        effect.fill_row(*message, row);
        encode_order_value(value, row);
        into.put(key, value);
    }
}

void write_groups(const SegmentTable& table, TableBuilder& into) {
    const SegmentEffect& effect = table.effect;
    if (effect.groups().in_use() == 0) return;
    const auto key_of = [&](QueueNumber queue, GroupNumber group, DuePosition at) {
        const QueueName& name = effect.queues().name(queue);
        return group_row_key(name.name_space, name.queue, effect.groups()[group].group, at);
    };
    std::vector<std::pair<std::string, const MessageEffect*>> rows;  // null: erased
    for (const MessageEffect& message : effect.messages()) {
        const StoodBefore& before = message.before;
        if (before.group != kNoGroup && !is_ended(before.state)) {
            rows.emplace_back(key_of(before.queue, before.group, {before.due_ms, message.id}), nullptr);
        }
        if (message.group != kNoGroup && !is_ended(message.state)) {
            rows.emplace_back(key_of(message.queue, message.group, {message.due_ms, message.id}), &message);
        }
    }
    // A row that is put replaces the erased one of the same key.
    std::sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
        return std::tuple(std::string_view(left.first), left.second == nullptr) <
               std::tuple(std::string_view(right.first), right.second == nullptr);
    });
    MessageRow row;
    std::string value;
    const std::string* before = nullptr;
    for (const auto& [key, message] : rows) {
        if (before != nullptr && *before == key) continue;
        before = &key;
        if (message == nullptr) {
            into.erase(key);
            continue;
        }
        effect.fill_row(*message, row);
        encode_group_value(value, row);
        into.put(key, value);
    }
}

// The sort position of each queue's keys, by queue number.
std::vector<std::uint32_t> queue_order(const QueueNames& queues) {
    std::vector<std::pair<std::string, QueueNumber>> keys;
    for (QueueNumber number = 0; number < queues.size(); ++number) {
        keys.emplace_back(queue_cursor_key(queues.name(number).name_space, queues.name(number).queue), number);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(keys.size());
    for (std::uint32_t rank = 0; rank < keys.size(); ++rank) order[keys[rank].second] = rank;
    return order;
}

void write_due_counts(const SegmentTable& table, TableBuilder& into) {
    const QueueNames& queues = table.effect.queues();
    const std::vector<std::uint32_t> order = queue_order(queues);
    std::vector<QueueNumber> in_order(order.size());
    for (QueueNumber number = 0; number < order.size(); ++number) in_order[order[number]] = number;
    std::string value;
    for (const QueueNumber queue : in_order) {
        const auto& rows = table.due_counts;
        auto row =
            std::partition_point(rows.begin(), rows.end(), [&](const auto& of) { return of.first.queue < queue; });
        for (; row != rows.end() && row->first.queue == queue; ++row) {
            const QueueName& name = queues.name(queue);
            const std::string key = due_counts_key(name.name_space, name.queue, row->first.start_ms());
            if (row->second == DueCounts()) {
                into.erase(key);
                continue;
            }
            encode_due_counts(value, row->second);
            into.put(key, value);
        }
    }
}

void write_queues(const SegmentTable& table, TableBuilder& into) {
    const SegmentEffect& effect = table.effect;
    const std::vector<MessageEffect>& messages = effect.messages();
    const std::vector<std::uint32_t> order = queue_order(effect.queues());
    std::vector<Operation> operations;
    for (std::uint32_t number = 0; number < messages.size(); ++number) {
        const MessageEffect& message = messages[number];
        const StoodBefore& before = message.before;
        if (before.queue != kNoQueue && !is_ended(before.state)) {
            operations.push_back({order[before.queue], number, {before.due_ms, message.id}, false});
        }
        if (!is_ended(message.state)) {
            operations.push_back({order[message.queue], number, {message.due_ms, message.id}, true});
        }
    }
    MessageRow row;
    std::string value;
    for (const Operation& operation : in_key_order(std::move(operations))) {
        const MessageEffect& message = messages[operation.message];
        const QueueName& name = effect.queues().name(operation.put ? message.queue : message.before.queue);
        const std::string key = queue_key(name.name_space, name.queue, operation.at);
        if (!operation.put) {
            into.erase(key);
            continue;
        }
        effect.fill_row(message, row);
        encode_queue_value(value, row);
        into.put(key, value);
    }
}

void write_dead(const SegmentTable& table, TableBuilder& into) {
    const SegmentEffect& effect = table.effect;
    std::map<std::string, std::optional<std::string>> rows;  // few messages die; nothing: erased
    MessageRow row;
    for (const MessageEffect& message : effect.messages()) {
        const StoodBefore& before = message.before;
        if (before.queue != kNoQueue && before.state == State::dead) {
            const QueueName& name = effect.queues().name(before.queue);
            rows.try_emplace(dead_key(name.name_space, name.queue, {before.ended_ms, message.id}));
        }
        if (message.state != State::dead) continue;
        effect.fill_row(message, row);
        encode_dead_value(rows[dead_key(row.state.name_space, row.state.queue, {row.ended_ms, row.id})].emplace(), row);
    }
    for (const auto& [key, value] : rows) {
        if (value) {
            into.put(key, *value);
        } else {
            into.erase(key);
        }
    }
}

}  // namespace

bool has_due_row(const MessageEffect& message, DueMs load_cursor_ms) {
    // No queue cursor covers a prepared message, so a restart finds it here, however long it is overdue.
    const bool is_fed = message.state == State::prepared || message.due_ms > message.decided_ms;
    return is_timed(message.state) && is_fed && message.due_ms >= load_cursor_ms;
}

bool has_expire_row(const MessageEffect& message, DueMs expires_ms, DueMs load_cursor_ms) {
    return expires_ms != 0 && !is_ended(message.state) && expires_ms >= load_cursor_ms;
}

void write_rows(const SegmentTable& table, TableBuilder& into) {
    write_rules(table.effect.settings(), into);  // in the order of the tables' bytes
    write_due(table, into);
    write_due_counts(table, into);
    write_groups(table, into);
    write_history(table, into);
    write_ids(table, into);
    write_keys(table, into);
    write_leases(table, into);
    write_meta(table, into);
    write_orders(table, into);
    write_queues(table, into);
    write_rules(table.effect.rules(), into);
    write_dead(table, into);
}

}  // namespace duewheel
