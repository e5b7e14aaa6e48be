// Namespaces as the interface shows them.
#pragma once

#include "engine/command.h"
#include "ingress/json_writer.h"

namespace duewheel {

// As an object.
void write_namespace(JsonWriter& json, const NamespaceAnswer& answer);

}  // namespace duewheel
