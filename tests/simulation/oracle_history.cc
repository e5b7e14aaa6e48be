// What the history of a queue must contain: nothing that contradicts what clients know, each end once, and, if the
// history cannot have lost anything, every message that had certainly ended before the request.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {

void Oracle::history_submitted(const HistoryCommand& asked) {
    HistoryReading& reading = histories_[asked.query];
    if (reading.begun) return;
    reading.begun = true;
    for (const MessageModel& message : messages_) {
        if (message.id == 0 || message.put.queue != asked.queue || message.put.name_space != asked.name_space) continue;
        const World* world = message.certain();
        if (world != nullptr && message.open.empty() && world->is_ended()) reading.must_be_met.insert(message.serial);
    }
}

void Oracle::history_replied(const Request& request, const HistoryAnswer& answer) {
    const auto& asked = std::get<HistoryCommand>(request.command);
    if (answer.query != asked.query) return violate("X", "a page of another history");
    if (answer.ended.size() > asked.limit) return violate("C11", "a page is longer than its limit");
    if (answer.next && *answer.next <= asked.from) return violate("C11", "a history does not go on");
    HistoryReading& reading = histories_.at(asked.query);
    DuePosition before{};
    for (const EndedRow& row : answer.ended) {
        const DuePosition at{row.ended_ms, row.id};
        if (at < asked.from || (answer.next && at >= *answer.next))
            return violate("X", "a row from outside of its page");
        if (at <= before) return violate("X", "a page of a history is out of order, or tells an end twice");
        before = at;
        MessageModel* about = message_of(row.id);
        if (about == nullptr) continue;  // its put was not answered
        if (row.ended_ms > now_) return violate("X", "ended later than now", about);
        const Worlds worlds = with_open_commands(*about, 0);
        bool may_be = row.outcome == State::expired && about->may_have_expired(latest());
        may_be |= row.outcome == State::dead && attempts_high(*about) > 0;  // also if it was returned since
        // A redrive that is not answered yet has brought it back into a queue that was purged.
        may_be |= row.outcome == State::cancelled && about->returns_open > 0 && about->purge != MessageModel::Purge::no;
        for (const World& world : worlds) {
            may_be |= row.outcome == State::cancelled && may_be_discarded(*about, world);
            may_be |= row.outcome == State::expired && may_be_let_go(*about, world);
            may_be |= row.outcome == State::done && world.phase == World::Phase::done;
            may_be |= row.outcome == State::cancelled && world.phase == World::Phase::cancelled;
            may_be |= row.outcome == State::expired && world.phase == World::Phase::expired;
        }
        if (!may_be) {
            return violate(
                "X", "told as " + std::string(state_name(row.outcome)) + ", but it is " + describe(about->worlds()),
                about);
        }
        if (row.outcome != State::dead && !reading.met.insert(about->serial).second)
            return violate("X", "one end stands in two pages", about);
    }
    if (answer.next) return;
    if (history_keep_ms_ > 0) {
        for (const std::uint64_t serial : reading.must_be_met) {
            const World* world = messages_[serial - 1].certain();
            const bool may_be_forgotten = world == nullptr || world->ended.low + history_keep_ms_ <= latest();
            if (may_be_forgotten || reading.met.contains(serial)) continue;
            return violate("X", "had ended, but its queue's history does not tell it", &messages_[serial - 1]);
        }
        if (reading.must_be_met.size() > 1) rare_.met(Rare::history_of_several);
    }
    histories_.erase(asked.query);
}

}  // namespace duewheel
