// The schema of a resource in the OpenAPI document, as its table says (resource/field.h).
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

#include "resource/field.h"

namespace duewheel {

// The table of a component of the document, such as "QueueSettings"; null if it has none.
const FieldTable* find_described_table(std::string_view component);

// An object schema. Limits are {"x-limit": "NAME"}, as in openapi.json.
boost::json::object field_schema(const FieldTable& table);

}  // namespace duewheel
