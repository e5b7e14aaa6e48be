// For the tests of this folder: random legal moves of messages on a TrialShard, so that each kind of record meets each
// kind of seam between segments.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "shared/random.h"
#include "store/trial_shard.h"

namespace duewheel {

class TrialMoves {
  public:
    TrialMoves(TrialShard& shard, std::uint64_t seed) : shard_(shard), random_(seed) {}

    static const std::vector<std::string>& queues() {
        static const std::vector<std::string> names{"a", "b", "longer"};
        return names;
    }

    // Writes one to eight records and commits them, a little later than the commit before.
    void commit() {
        for (std::uint64_t count = 1 + random_.below(8); count > 0; --count) move();
        shard_.commit(shard_.server_time_ms() + static_cast<DueMs>(random_.below(30)));
    }

    // Writes cursors as the engine does before the last footer of a segment, and moves that come after them.
    void close_segment() {
        for (const std::string& queue : queues()) {
            const auto first = first_unfinished(queue);
            shard_.set_queue_cursor(queue, first.value_or(DuePosition{}), !first.has_value());
        }
        shard_.set_load_cursor(shard_.server_time_ms());
        for (std::uint64_t count = random_.below(4); count > 0; --count) move();
        shard_.commit(shard_.server_time_ms() + static_cast<DueMs>(random_.below(30)), true);
    }

    Random& random() { return random_; }

  private:
    std::optional<DuePosition> first_unfinished(const std::string& queue) const {
        std::optional<DuePosition> first;
        for (const auto& [id, row] : shard_.rows) {
            const DuePosition at{row.state.due_ms, id};
            if (is_ended(row.state.state) || row.state.queue != queue) continue;
            if (!first || at < *first) first = at;
        }
        return first;
    }

    void move() {
        if (shard_.rows.empty() || random_.chance(300'000)) return put();
        // Mostly a young message, so that many things happen to one message in one segment.
        const std::uint64_t count = shard_.rows.size();
        const std::uint64_t back =
            random_.chance(500'000) ? random_.below(std::min<std::uint64_t>(count, 6)) : random_.below(count);
        move_one(std::prev(shard_.rows.end(), static_cast<std::ptrdiff_t>(back + 1))->first);
    }

    void put() {
        MessageState state = TrialShard::state_of(queues()[random_.below(queues().size())], due());
        if (random_.chance(100'000)) {
            state.state = State::prepared;
            state.transaction = MessageState::kOpen;
        } else if (random_.chance(100'000)) {
            state.next_occurrence = 1;
        }
        if (random_.chance(200'000)) state.expires_ms = state.due_ms + 1000;
        if (random_.chance(200'000)) state.order_key = "customer-" + std::to_string(random_.below(5));
        if (random_.chance(200'000)) state.group = "group-" + std::to_string(random_.below(5));
        if (random_.chance(200'000)) state.retry = RetryRule{3, 1000, 2000, 60'000, 200};
        const std::string key = "key-" + std::to_string(random_.below(12));
        if (random_.chance(400'000) && is_free(state.queue, key)) {
            state.key = key;
            state.request_hash = random_.next();
        }
        shard_.put(std::move(state), std::string(random_.below(80), 'x'));
    }

    bool is_free(const std::string& queue, const std::string& key) const {
        const auto holder = shard_.keys.find({std::string(kDefaultNamespace), queue, key});
        if (holder == shard_.keys.end()) return true;
        const State state = shard_.rows.at(holder->second.id).state.state;
        return is_ended(state) && state != State::dead;
    }

    void move_one(MessageId id) {
        const MessageState& state = shard_.rows.at(id).state;
        if (is_ended(state.state) && state.state != State::dead) {
            const bool holds_key =
                state.key.empty() || shard_.keys.at({state.name_space, state.queue, state.key}).id == id;
            if (holds_key && random_.chance(300'000)) shard_.relocate(id);
            return;
        }
        if (state.state == State::dead) {
            const bool holds_key =
                state.key.empty() || shard_.keys.at({state.name_space, state.queue, state.key}).id == id;
            if (holds_key && random_.chance(500'000)) return shard_.relocate(id);
            return random_.chance(200'000) ? shard_.end(id, State::expired) : shard_.reschedule(id, due());
        }
        if (state.state == State::prepared) {
            return move_prepared(id, state);
        }
        move_unfinished(id, state);
    }

    void move_prepared(MessageId id, MessageState state) {
        switch (random_.below(5)) {
            case 0:
                return shard_.end(id, State::cancelled);
            case 1:
                return shard_.relocate(id);
            case 2:  // its producer was asked
                state.transaction += 1;
                state.due_ms = due();
                return shard_.change(id, std::move(state));
            default:
                state.state = State::scheduled;
                state.transaction = MessageState::kCommitted;
                state.due_ms = due();
                return shard_.change(id, std::move(state));
        }
    }

    void move_unfinished(MessageId id, MessageState state) {
        switch (random_.below(8)) {
            case 0:
                return shard_.attempt(id);
            case 1:
                return shard_.reschedule(id, due());
            case 2:
                return shard_.set_state(id, State::held);
            case 3:
                state.state = State::retrying;
                state.due_ms = due();
                if (random_.chance(200'000)) ++state.attempts_forgiven;
                return shard_.change(id, std::move(state));
            case 4:
                if (!state.key.empty()) return;
                state.state = State::scheduled;
                state.queue = queues()[random_.below(queues().size())];
                return shard_.change(id, std::move(state));
            case 5:
                return shard_.relocate(id);
            default:
                static constexpr std::array kEnds{State::done, State::done, State::cancelled, State::expired,
                                                  State::dead};
                return shard_.end(id, kEnds[random_.below(kEnds.size())]);
        }
    }

    DueMs due() {
        const DueMs minutes_ms = random_.chance(200'000) ? static_cast<DueMs>(random_.below(4)) * 60'000 : 0;
        return shard_.server_time_ms() + random_.between(-40, 400) + minutes_ms;
    }

    TrialShard& shard_;
    Random random_;
};

}  // namespace duewheel
