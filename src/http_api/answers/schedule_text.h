// Schedules in responses.
#pragma once

#include <cstdint>

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

// The maximum number of times in a preview; the engine's limit is not above it.
inline constexpr std::int64_t kPreviewMax = 1'000;

// The members of a PUT with the rule, for an open object, so that they can be read, changed and sent back.
void write_rule(JsonWriter& json, const ScheduleRule& rule);
// Its runs, and the times that it skipped.
void write_progress(JsonWriter& json, const ScheduleState& state);

// Each as an object.
void write_schedule(JsonWriter& json, const ScheduleAnswer& answer);
void write_preview(JsonWriter& json, const PreviewAnswer& answer);

}  // namespace duewheel
