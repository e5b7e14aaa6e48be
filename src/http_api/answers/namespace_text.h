// Namespaces in responses.
#pragma once

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

// The member `settings`, in the form of a PUT, so that it can be read, changed and sent back.
void write_settings(JsonWriter& json, const NamespaceSettings& settings);

// As an object.
void write_namespace(JsonWriter& json, const NamespaceAnswer& answer);

}  // namespace duewheel
