#include "engine/messages/order_lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/invariant.h"

namespace duewheel {

std::string OrderLines::name(QueueNumber queue, std::string_view order_key) {
    std::string name(sizeof queue, '\0');
    std::memcpy(name.data(), &queue, sizeof queue);
    return name.append(order_key);
}

std::string OrderLines::name_of(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (!entry.has_rare || is_ended(entry.durable_state)) return {};
    const std::string_view order_key = recent_.order_key(number);
    return order_key.empty() ? std::string() : name(entry.queue, order_key);
}

DuePosition OrderLines::position_of(const Entry& entry) {
    // A retry changes the due time and keeps the nominal one, and with it the position.
    return {entry.nominal_due_ms, entry.id};
}

bool OrderLines::join(EntryNumber number) {
    const std::string name = name_of(number);
    if (name.empty()) return false;
    const Entry& entry = recent_.entry(number);
    OrderLine& line = lines_[name];
    line.queue = entry.queue;
    const DuePosition position = position_of(entry);
    line.members.emplace(position, false);
    if (line.disk == position) line.pass(position);
    return true;
}

void OrderLines::leave(EntryNumber number, Leaving leaving) {
    const std::string name = name_of(number);
    if (name.empty()) return;
    const Entry& entry = recent_.entry(number);
    OrderLine& line = lines_.at(name);
    const DuePosition position = position_of(entry);
    const auto member = line.members.find(position);
    if (leaving == Leaving::changes && member == line.members.begin()) line.freed_ms = now_;
    if (member->second) --line.blocked;
    line.members.erase(member);
    if (line.out == entry.id) line.out = 0;
    if (leaving == Leaving::changes) return;
    line.put_back(position);
    const bool is_due = waits_for_due(entry.durable_state) && entry.due_ms <= now_;
    if (leaving == Leaving::to_disk && is_due) line.left_behind = std::min(line.left_behind, position);
    if (line.is_idle()) lines_.erase(name);
}

bool OrderLines::block(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    OrderLine& line = lines_.at(name_of(number));
    if (line.out == entry.id) line.out = 0;
    if (std::exchange(line.members.at(position_of(entry)), true)) return false;
    ++line.blocked;
    return true;
}

void OrderLines::hold(EntryNumber number) {
    const std::string name = name_of(number);
    if (!name.empty()) lines_.at(name).out = recent_.entry(number).id;
}

void OrderLines::take_back(EntryNumber number) {
    const std::string name = name_of(number);
    if (name.empty()) return;
    OrderLine& line = lines_.at(name);
    if (line.out == recent_.entry(number).id) line.out = 0;
}

OrderLines::Step OrderLines::next(const std::string& name) {
    using What = Step::What;
    const auto found = lines_.find(name);
    if (found == lines_.end()) return {};
    OrderLine& line = found->second;
    if (line.lookup_open) return {};
    if (line.is_idle()) return lines_.erase(found), Step{};
    if (line.out != 0) {
        const EntryNumber out = recent_.find(line.out);
        const Entry& entry = recent_.entry(out);
        if (entry.waits_for == WaitsFor::lease || position_of(entry) == line.members.begin()->first) return {};
        return {What::overtaken, out};
    }
    const DuePosition first = line.members.empty() ? kNoBacklog : line.members.begin()->first;
    if (line.disk < first) {
        const bool will_be_loaded = line.head_is_valid && line.left_behind != line.disk;
        return {line.has_waiting() && !will_be_loaded ? What::look_up : What::none, kNoEntry};
    }
    const EntryNumber number = recent_.find(first.id);
    const Entry& entry = recent_.entry(number);
    bool& waits = line.members.begin()->second;
    if (!waits || is_ending(entry.waits_for) || entry.purging) return {};
    waits = false;
    --line.blocked;
    line.out = entry.id;
    return {What::deliver, number, line.freed_ms};
}

void OrderLines::look_up(const std::string& name) {
    OrderLine& line = lines_.at(name);
    line.lookup_open = true;
    if (open_lookups_ >= options_.order_lookups_max) return to_look_up_.push_back(name);
    ++open_lookups_;
    const QueueName& queue = recent_.queues().name(line.queue);
    lookups_.start(ScanOrder{queue.name_space, queue.queue, name.substr(sizeof line.queue), line.disk, line.rows},
                   OrderLookup{.line = name, .from = line.disk});
}

const MessageRow* OrderLines::accept(const OrderLookup& lookup, const Stretch& stretch, Generation generation) {
    --open_lookups_;
    OrderLine& line = lines_.at(lookup.line);
    line.lookup_open = false;
    const bool is_old = !lookups_.is_fresh(generation) || line.disk < lookup.from;
    return is_old ? nullptr : take_head(line, stretch);
}

std::optional<std::string> OrderLines::take_waiting() {
    if (to_look_up_.empty() || open_lookups_ >= options_.order_lookups_max) return std::nullopt;
    std::string name = std::move(to_look_up_.front());
    to_look_up_.pop_front();
    lines_.at(name).lookup_open = false;
    return name;
}

// Skips rows for which memory is newer; the first of the others is the first one on disk. It is loaded if it is due,
// and otherwise when it becomes due or a command needs it.
const MessageRow* OrderLines::take_head(OrderLine& line, const Stretch& stretch) const {
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
        return nullptr;
    }
    const auto second = head == end ? end : std::find_if(head + 1, end, is_on_disk_alone);
    line.disk = second != end ? position(*second) : stretch.complete ? kNoBacklog : stretch.next;
    line.head_is_valid = second != end;
    line.raise_left_behind();
    return head == end ? nullptr : &*head;
}

std::vector<DuePosition> OrderLines::bounds(std::size_t queues) const {
    std::vector<DuePosition> bounds(queues, kNoBacklog);
    for (const auto& [name, line] : lines_) {
        DuePosition& bound = bounds[line.queue];
        bound = std::min(bound, line.left_behind);
        if (line.blocked > 0) bound = std::min(bound, line.members.begin()->first);
    }
    return bounds;
}

std::vector<std::uint32_t> OrderLines::open_lookups(std::size_t queues) const {
    std::vector<std::uint32_t> open(queues);
    for (const auto& [name, line] : lines_) open[line.queue] += line.lookup_open ? 1 : 0;
    return open;
}

void OrderLines::check(bool has_started) const {
    std::unordered_map<std::string, OrderLine> seen;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::string name = name_of(number);
        if (name.empty() || !has_started) return;
        const auto known = lines_.find(name);
        require(known != lines_.end(), "a message with an order key is in no line");
        const auto member = known->second.members.find(position_of(entry));
        require(member != known->second.members.end(), "a line has other members than memory");
        require(member->second == (entry.waits_for == WaitsFor::turn) || is_ending(entry.waits_for),
                "a line and its message differ on whether it waits");
        OrderLine& line = seen[name];
        line.members.insert(*member);
        line.blocked += member->second ? 1 : 0;
        if (entry.waits_for != WaitsFor::consumer && entry.waits_for != WaitsFor::lease) return;
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
}

}  // namespace duewheel
