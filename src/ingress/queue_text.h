// Writes what is known of a queue. Shapes: docs/http_api.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "engine/command.h"

namespace duewheel {

// The member `settings`, as a PUT takes them: what was read can be changed and sent back.
void write_settings(JsonWriter& json, const QueueSettings& settings);

void write_queue(JsonWriter& json, const QueueAnswer& answer);

// Where a list of queues goes on, after this one.
std::string queue_cursor(std::string_view name_space, std::string_view queue);
// The queue of such a cursor; nothing where it is none, or one of another namespace.
std::optional<std::string> parse_queue_cursor(std::string_view text, std::string_view name_space);

}  // namespace duewheel
