// Messages with an order key: blocked until they are the first of their key (order_lines.h).
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "engine/engine.h"

namespace duewheel {

void Engine::join_line(EntryNumber number) {
    if (order_lines_.join(number)) static_cast<void>(queues_.at(recent_.entry(number).queue));  // it exists from now on
}

// Adds a due message to its line; false if it has no order key and becomes ready at once.
bool Engine::wait_in_line(EntryNumber number) {
    const std::string name = order_lines_.name_of(number);
    if (name.empty()) return false;
    if (order_lines_.block(number)) arm_expiry(number);
    advance_line(name);
    Entry& entry = recent_.entry(number);
    if (!entry.blocked) return true;
    entry.in_fired = false;
    if (may_leave(number)) drop(number);
    return true;
}

// Removes a message from the ready list; its state is again the one in the log.
void Engine::unready(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(entry.state == State::ready);
    order_lines_.take_back(number);
    entry.state = entry.durable_state;
    entry.in_fired = false;
    --queues_.at(entry.queue).ready_count;
    --ready_count_;
}

// Makes the first message of the key ready, if it is due; looks the index up if that may contain an earlier one.
void Engine::advance_line(const std::string& name) {
    using What = OrderLines::Step::What;
    for (;;) {
        const OrderLines::Step step = order_lines_.next(name);
        switch (step.what) {
            case What::none:
                return;
            case What::overtaken:
                unready(step.entry);
                static_cast<void>(order_lines_.block(step.entry));
                if (may_leave(step.entry)) drop(step.entry);
                break;
            case What::deliver:
                return list_ready(step.entry);
            case What::look_up:
                ++queues_.at(order_lines_.queue_of(name)).line_lookups;
                return order_lines_.look_up(name);
        }
    }
}

void Engine::end_line_lookup(const std::string& name) {
    const QueueNumber number = order_lines_.queue_of(name);
    --queues_.at(number).line_lookups;
    queues_.mark(number);
}

void Engine::finish(const OrderLookup& lookup, const Stretch& stretch, Generation generation) {
    end_line_lookup(lookup.line);
    if (const MessageRow* first = order_lines_.take(lookup, stretch, generation)) {
        ++counters_.loaded;
        settle(admit(*first));
    }
    advance_line(lookup.line);
    while (const std::optional<std::string> waiting = order_lines_.take_waiting()) {
        end_line_lookup(*waiting);
        advance_line(*waiting);
    }
}

// Their counts in the queues, and those of consumers that wait briefly.
void Engine::check_lines() const {
    const auto require = [](bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "engine: %s\n", what);
        std::abort();
    };
    order_lines_.check(context_.started);
    const std::vector<std::uint32_t> lookups = order_lines_.open_lookups(queues_.size());
    std::vector<std::uint32_t> brief(queues_.size());
    for (const auto& [number, waiter] : waiters_) brief[waiter.queue] += waiter.brief ? 1 : 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number].line_lookups == lookups[number], "a queue's count of open line lookups is wrong");
        require(queues_[number].brief_waiters == brief[number], "a queue's count of brief waiters is off");
    }
}

}  // namespace duewheel
