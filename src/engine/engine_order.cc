// Order keys: which message of a key may be delivered, and how it is found in memory and index (order_line.h).
//
// A message with a key that becomes due does not become ready by itself: it is blocked, and its line is advanced. That
// makes the key's first message ready as soon as it is known which one it is. The line is advanced again whenever one
// of its messages changes or ends. A blocked message that is in the index leaves memory at once, so that 100,000 behind
// one key take no memory; the line finds the next one on disk when its turn comes.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/engine.h"

namespace duewheel {

std::string Engine::line_name(QueueNumber queue, std::string_view order_key) {
    std::string name(sizeof queue, '\0');
    std::memcpy(name.data(), &queue, sizeof queue);
    return name.append(order_key);
}

// Empty if the message has no order key, or is in no line because it has ended.
std::string Engine::line_name(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (!entry.has_rare || is_ended(entry.state)) return {};
    const std::string_view order_key = recent_.order_key(number);
    return order_key.empty() ? std::string() : line_name(entry.queue, order_key);
}

DuePosition Engine::position_in_line(const Entry& entry) {
    // A retry changes the due time and keeps the nominal one, and with it the position.
    return {entry.nominal_due_ms, entry.id};
}

void Engine::join_line(EntryNumber number) {
    const std::string name = line_name(number);
    if (name.empty()) return;
    const Entry& entry = recent_.entry(number);
    OrderLine& line = lines_[name];
    line.queue = entry.queue;
    static_cast<void>(queue(entry.queue));  // exists from now on, for bounds_of_lines()
    const DuePosition position = position_in_line(entry);
    line.members.insert(position);
    if (line.disk == position) line.pass(position);
}

// Before the message changes, ends, or leaves memory.
void Engine::leave_line(EntryNumber number, Leaving leaving) {
    const std::string name = line_name(number);
    if (name.empty()) return;
    Entry& entry = recent_.entry(number);
    OrderLine& line = lines_.at(name);
    const DuePosition position = position_in_line(entry);
    line.members.erase(position);
    if (line.out == entry.id) line.out = 0;
    if (entry.blocked) --line.blocked;
    entry.blocked = false;
    if (leaving == Leaving::changes) return;
    line.put_back(position);
    const bool is_due = waits_for_due(entry.durable_state) && entry.due_ms <= now_;
    if (leaving == Leaving::to_disk && is_due) line.left_behind = std::min(line.left_behind, position);
    if (line.is_idle()) lines_.erase(name);
}

// Adds a due message to its line; false if it has no order key and becomes ready at once.
bool Engine::wait_in_line(EntryNumber number) {
    const std::string name = line_name(number);
    if (name.empty()) return false;
    Entry& entry = recent_.entry(number);
    OrderLine& line = lines_.at(name);
    if (line.out == entry.id) line.out = 0;
    if (!entry.blocked) {
        entry.blocked = true;
        ++line.blocked;
        arm_expiry(number);
    }
    advance_line(name);
    if (!entry.blocked) return true;
    entry.in_fired = false;
    if (may_leave(number)) drop(number);
    return true;
}

// Removes a message from the ready list; its state is again the one in the log.
void Engine::unready(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(entry.state == State::ready);
    if (const std::string name = line_name(number); !name.empty()) lines_.at(name).out = 0;
    entry.state = entry.durable_state;
    entry.in_fired = false;
    --queue(entry.queue).ready_count;
    --ready_count_;
}

// Makes the first message of the key ready, if it is due; looks the index up if that may contain an earlier one.
void Engine::advance_line(const std::string& name) {
    const auto found = lines_.find(name);
    if (found == lines_.end()) return;
    OrderLine& line = found->second;
    if (line.lookup_open) return;
    if (line.is_idle()) return void(lines_.erase(found));
    if (line.out != 0) {
        const EntryNumber out = recent_.find(line.out);
        Entry& entry = recent_.entry(out);
        if (entry.state == State::leased || position_in_line(entry) == *line.members.begin()) return;
        unready(out);  // an earlier one was added
        entry.blocked = true;
        ++line.blocked;
        if (may_leave(out)) drop(out);
    }
    const DuePosition first = line.members.empty() ? kNoBacklog : *line.members.begin();
    if (line.disk < first) {
        const bool will_be_loaded = line.head_is_valid && line.left_behind != line.disk;
        if (line.has_waiting() && !will_be_loaded) look_up_line(name, line);
        return;
    }
    const EntryNumber number = recent_.find(first.id);
    Entry& entry = recent_.entry(number);
    if (!entry.blocked || entry.expiring || entry.purging) return;
    entry.blocked = false;
    --line.blocked;
    line.out = entry.id;
    list_ready(number);
}

void Engine::look_up_line(const std::string& name, OrderLine& line) {
    line.lookup_open = true;
    ++queue(line.queue).line_lookups;
    if (line_lookups_ >= options_.order_lookups_max) return lines_to_look_up_.push_back(name);
    ++line_lookups_;
    const QueueName& queue_name = recent_.queues().name(line.queue);
    lookups_.start(
        ScanOrder{queue_name.name_space, queue_name.queue, name.substr(sizeof line.queue), line.disk, line.rows},
        OrderLookup{.line = name, .from = line.disk});
}

void Engine::end_line_lookup(OrderLine& line) {
    line.lookup_open = false;
    --queue(line.queue).line_lookups;
    mark(line.queue);
}

void Engine::finish(const OrderLookup& lookup, const Stretch& stretch, Generation generation) {
    --line_lookups_;
    OrderLine& line = lines_.at(lookup.line);
    end_line_lookup(line);
    const bool is_old = !lookups_.is_fresh(generation) || line.disk < lookup.from;
    if (!is_old) take_head(line, stretch);
    advance_line(lookup.line);
    while (!lines_to_look_up_.empty() && line_lookups_ < options_.order_lookups_max) {
        const std::string next = std::move(lines_to_look_up_.front());
        lines_to_look_up_.pop_front();
        OrderLine& waiting = lines_.at(next);
        end_line_lookup(waiting);
        advance_line(next);
    }
}

// Skips rows for which memory is newer; the first of the others is the first one on disk. It is loaded if it is due,
// and otherwise when it becomes due or a command needs it.
void Engine::take_head(OrderLine& line, const Stretch& stretch) {
    const auto is_on_disk_alone = [this](const MessageRow& row) {
        return recent_.find(row.id) == kNoEntry && recent_.outcome(row.id) == nullptr;
    };
    const auto position = [](const MessageRow& row) { return DuePosition{row.state.nominal_due_ms, row.id}; };
    const auto end = stretch.rows.end();
    const auto head = std::find_if(stretch.rows.begin(), end, is_on_disk_alone);
    line.rows = head == end ? std::min(line.rows * 2, std::max(options_.load_chunk, 1u)) : OrderLine::kRowsAtFirst;
    if (head != end && !(waits_for_due(head->state.state) && head->state.due_ms <= now_)) {
        line.pass(position(*head));
        line.put_back(position(*head));
        return;
    }
    const auto second = head == end ? end : std::find_if(head + 1, end, is_on_disk_alone);
    line.disk = second != end ? position(*second) : stretch.complete ? kNoBacklog : stretch.next;
    line.head_is_valid = second != end;
    line.raise_left_behind();
    if (head == end) return;
    ++counters_.loaded;
    settle(admit(*head));
}

// For each queue a lower bound of the due messages that wait in its lines, in memory or on disk. A message is never due
// before its nominal time, so its position in the line is such a bound.
std::vector<DuePosition> Engine::bounds_of_lines() const {
    std::vector<DuePosition> bounds(queues_.size(), kNoBacklog);
    for (const auto& [name, line] : lines_) {
        DuePosition& bound = bounds[line.queue];
        bound = std::min(bound, line.left_behind);
        if (line.blocked > 0) bound = std::min(bound, *line.members.begin());
    }
    return bounds;
}

void Engine::check_lines() const {
    auto require = [](bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "engine: %s\n", what);
        std::abort();
    };
    std::unordered_map<std::string, OrderLine> seen;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::string name = line_name(number);
        require(!entry.blocked || (!name.empty() && waits_for_due(entry.state) && entry.due_ms <= now_),
                "a message is blocked that need not wait");
        if (name.empty() || !started_) return;
        OrderLine& line = seen[name];
        line.members.insert(position_in_line(entry));
        if (entry.blocked) ++line.blocked;
        if (entry.state != State::ready && entry.state != State::leased) return;
        require(line.out == 0, "two messages of one order key are out at once");
        line.out = entry.id;
    });
    for (const auto& [name, line] : lines_) {
        const auto found = seen.find(name);
        const OrderLine none;
        const OrderLine& as_seen = found == seen.end() ? none : found->second;
        require(line.members == as_seen.members, "a line has other members than memory");
        require(line.blocked == as_seen.blocked, "a line's count of blocked messages is off");
        require(line.out == as_seen.out, "a line has let another message go than the one that is out");
        require(line.left_behind == kNoBacklog || line.left_behind >= line.disk,
                "a line looks for what is not on disk");
        require(!line.is_idle(), "a line without members is kept");
    }
    std::vector<std::uint32_t> open_lookups(queues_.size());
    for (const auto& [name, line] : lines_) open_lookups[line.queue] += line.lookup_open ? 1 : 0;
    std::vector<std::uint32_t> brief(queues_.size());
    for (const auto& [number, waiter] : waiters_) brief[waiter.queue] += waiter.brief ? 1 : 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number]->line_lookups == open_lookups[number], "a queue's count of open line lookups is wrong");
        require(queues_[number]->brief_waiters == brief[number], "a queue's count of brief waiters is off");
    }
    for (const auto& [name, line] : seen) require(lines_.contains(name), "a message with an order key is in no line");
}

}  // namespace duewheel
