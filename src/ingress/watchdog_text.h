// Watchdogs as the interface shows them.
#pragma once

#include "engine/command.h"
#include "ingress/json_writer.h"

namespace duewheel {

// Each as an object.
void write_watchdog(JsonWriter& json, const WatchdogAnswer& answer);
void write_fed(JsonWriter& json, const FedAnswer& answer);

}  // namespace duewheel
