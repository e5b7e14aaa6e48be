// Namespaces as the interface shows them.
#pragma once

#include "base/json_writer.h"
#include "engine/command.h"

namespace duewheel {

// The member `settings`, as a PUT takes them: what was read can be changed and sent back.
void write_settings(JsonWriter& json, const NamespaceSettings& settings);

// As an object.
void write_namespace(JsonWriter& json, const NamespaceAnswer& answer);

}  // namespace duewheel
