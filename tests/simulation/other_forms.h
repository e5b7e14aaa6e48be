// The same command in its other form, so that the simulator tests both: a message identified by key instead of id, and
// settings patched instead of replaced. The engine's reply must be the same; the oracle judges the plain form.
#pragma once

#include "engine/commands/command.h"
#include "simulation/oracle.h"

namespace duewheel {

// The command by key or as a patch, or as it is where it has no other form. A message is named by its key only while
// the key is held for certain: `keys_held_ms` after its put at least. O(messages) for commands on messages.
Command in_other_form(Command command, const Oracle& oracle, DueMs now, std::int64_t keys_held_ms);

}  // namespace duewheel
