// Schedules as the interface shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/command.h"
#include "ingress/json_writer.h"

namespace duewheel {

// Times that a preview shows at most; the engine's limit is not above it.
inline constexpr std::int64_t kPreviewMax = 1'000;

// Each as an object.
void write_schedule(JsonWriter& json, const ScheduleAnswer& answer);
void write_preview(JsonWriter& json, const PreviewAnswer& answer);

// Where a list of schedules goes on, as queue_cursor().
std::string schedule_cursor(std::string_view name_space, std::string_view name);
std::optional<std::string> parse_schedule_cursor(std::string_view text, std::string_view name_space);

}  // namespace duewheel
