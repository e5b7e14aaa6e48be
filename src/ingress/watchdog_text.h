// Watchdogs as the interface shows them.
#pragma once

#include "base/json_writer.h"
#include "engine/command.h"

namespace duewheel {

// The members of a PUT that say the rule, for an object that is open: what was read can be changed and sent back.
void write_rule(JsonWriter& json, const WatchdogRule& rule);
// How often it was fed and fired, and what it owes.
void write_progress(JsonWriter& json, const WatchdogState& state);

// Each as an object.
void write_watchdog(JsonWriter& json, const WatchdogAnswer& answer);
void write_fed(JsonWriter& json, const FedAnswer& answer);

}  // namespace duewheel
