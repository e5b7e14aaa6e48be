// Watchdogs in responses.
#pragma once

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

// The members of a PUT with the rule, for an open object, so that they can be read, changed and sent back.
void write_rule(JsonWriter& json, const WatchdogRule& rule);
// Its feeds and firings, and its overdue message.
void write_progress(JsonWriter& json, const WatchdogState& state);

// Each as an object.
void write_watchdog(JsonWriter& json, const WatchdogAnswer& answer);
void write_fed(JsonWriter& json, const FedAnswer& answer);

}  // namespace duewheel
