// Schedules as the interface shows them.
#pragma once

#include <cstdint>

#include "base/json_writer.h"
#include "engine/command.h"

namespace duewheel {

// Times that a preview shows at most; the engine's limit is not above it.
inline constexpr std::int64_t kPreviewMax = 1'000;

// The members of a PUT that say the rule, for an object that is open: what was read can be changed and sent back.
void write_rule(JsonWriter& json, const ScheduleRule& rule);
// What it has made, and what it passed over.
void write_progress(JsonWriter& json, const ScheduleState& state);

// Each as an object.
void write_schedule(JsonWriter& json, const ScheduleAnswer& answer);
void write_preview(JsonWriter& json, const PreviewAnswer& answer);

}  // namespace duewheel
