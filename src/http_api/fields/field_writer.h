// Writes the fields of a resource as the members of a JSON object, as its table says (resource/field.h): in its order,
// durations in milliseconds, instants as text, without fields that are absent.
#pragma once

#include "base/json_writer.h"
#include "resource/field.h"

namespace duewheel {

void write_fields(JsonWriter& json, const FieldTable& table, const void* resource);

// An object that is a member, also if all fields are absent.
template <class Resource>
void write_fields(JsonWriter& json, std::string_view name, const Resource& resource) {
    json.open(name);
    write_fields(json, fields_of<Resource>(), &resource);
    json.close();
}

}  // namespace duewheel
