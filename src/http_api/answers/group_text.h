// Groups of queues in responses. Their forms are in docs/http_api.md.
#pragma once

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

void write_group(JsonWriter& json, const GroupAnswer& answer);

}  // namespace duewheel
