// What who reads the log beside its server must find, as an export and a backup do: the state of one instant, in which
// everything stands that was answered, and perhaps what is on its way to be.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {

void Oracle::viewed(const std::function<std::optional<MessageRow>(MessageId)>& find) {
    for (const MessageModel& about : messages_) {
        // Nobody is told when a loop or a half is over.
        if (about.id == 0 || about.is_loop() || about.half) continue;
        const std::optional<MessageRow> row = find(about.id);
        const Worlds worlds = with_open_commands(about, 0);
        if (row && (!is_ended(row->state.state) || row->state.state == State::dead)) {
            rare_.met(Rare::message_viewed);
            if (row_fits(about, *row, worlds, may_be_dead_after(about, row->state.attempts))) continue;
            return violate("C1",
                           "a view of the log says " + std::string(state_name(row->state.state)) + ", due " +
                               at(row->state.due_ms) + ", but it is " + describe(worlds),
                           &about);
        }
        const bool may_be_over = std::any_of(worlds.begin(), worlds.end(), [](const World& world) {
            return world.is_ended() || world.phase == World::Phase::absent;
        });
        if (may_be_over || about.may_have_expired(latest()) || about.purge != MessageModel::Purge::no) continue;
        if (may_be_let_go(about) || may_be_discarded(about)) continue;
        return violate("C1", "it is in no view of the log, but it is " + describe(worlds), &about);
    }
}

}  // namespace duewheel
