// The bytes of a resource in the log, as its table says (resource/field.h): ascending numbers, without fields that have
// their defaults, so that equal values have equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/error_codes.h"
#include "base/status.h"
#include "resource/field.h"

namespace duewheel {

void append_fields(const FieldTable& table, const void* resource, std::string& out);
// Into a resource with its defaults. Codes: `damaged_record`; `newer_format` for a field that the table does not have.
Status read_field_bytes(const FieldTable& table, std::string_view bytes, void* resource);

template <class Resource>
std::string encode_fields(const Resource& resource) {
    std::string out;
    append_fields(fields_of<Resource>(), &resource, out);
    return out;
}

template <class Resource>
Result<Resource> decode_fields(std::string_view bytes) {
    Resource resource;
    if (Status read = read_field_bytes(fields_of<Resource>(), bytes, &resource); !read) return std::move(read).error();
    return resource;
}

// The bytes of a resource with a revision: empty if that is 0.
template <class Resource>
std::string encode_revised_fields(const Resource& resource) {
    return resource.revision == 0 ? std::string() : encode_fields(resource);
}

template <class Resource>
Result<Resource> decode_revised_fields(std::string_view bytes) {
    Result<Resource> resource = decode_fields<Resource>(bytes);
    if (!resource || (resource->revision == 0) == bytes.empty()) return resource;
    return Error{"damaged_record"_code, std::string(fields_of<Resource>().holder()) + " fields that cannot be read"};
}

}  // namespace duewheel
