// Queues in responses. Their forms are in docs/http_api.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

// The member `settings`, in the form of a PUT, so that it can be read, changed and sent back.
void write_settings(JsonWriter& json, const QueueSettings& settings);

void write_queue(JsonWriter& json, const QueueAnswer& answer);

// Where a list of queues continues after this one.
std::string queue_cursor(std::string_view name_space, std::string_view queue);
// The queue of such a cursor; none if it is invalid, or of another namespace.
std::optional<std::string> parse_queue_cursor(std::string_view text, std::string_view name_space);

}  // namespace duewheel
