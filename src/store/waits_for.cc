#include "store/waits_for.h"

#include "base/move_table.h"

namespace duewheel {
namespace {

// Read beside the drawing in the header.
constexpr auto kMoves = [] {
    using enum WaitsFor;
    return MoveTable<WaitsFor>()
        .from(none, {none, command, due, turn, consumer, lease, occurrence, outcome, used_up, cancelled, expired})
        .from(command, {none, command, expired})
        .from(due, {none, due, turn, consumer, occurrence, outcome, used_up, expired})
        .from(turn, {none, turn, consumer, used_up, expired})
        .from(consumer, {none, turn, lease, expired})
        .from(lease, {none, turn, consumer, lease_lost, cancelled, expired})
        .from(occurrence, {none})
        .from(outcome, {none, expired})
        .from(used_up, {none})
        .from(lease_lost, {none})
        .from(cancelled, {none})
        .from(expired, {none});
}();

}  // namespace

bool is_legal_move(WaitsFor from, WaitsFor to) {
    return kMoves.has(from, to);
}

}  // namespace duewheel
