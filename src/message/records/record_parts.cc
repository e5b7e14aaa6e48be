#include "message/records/record_parts.h"

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

constexpr char kFirstByte = 1;

// Field numbers. They are part of the log format: never change or reuse one.
enum Tag : std::uint32_t {
    kHasKey = 1,
    kKey = 2,
    kHasNullValue = 3,
    kHeaders = 4,  // each: size of the name, name, 0 for null or 1 + size of the value, value
    kSource = 5,
};

std::string bytes_of(const RecordParts::Headers& headers) {
    std::string bytes;
    for (const auto& [name, value] : headers) {
        append_varint(bytes, name.size());
        bytes.append(name);
        append_varint(bytes, value ? value->size() + 1 : 0);
        if (value) bytes.append(*value);
    }
    return bytes;
}

std::optional<std::string> take_text(std::string_view& bytes, std::uint64_t size) {
    if (size > bytes.size()) return std::nullopt;
    std::string text(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return text;
}

bool read_headers(std::string_view bytes, RecordParts::Headers& into) {
    while (!bytes.empty()) {
        const std::optional<std::uint64_t> name_size = take_varint(bytes);
        if (!name_size) return false;
        std::optional<std::string> name = take_text(bytes, *name_size);
        if (!name) return false;
        auto& header = into.emplace_back(*std::move(name), std::nullopt);
        const std::optional<std::uint64_t> value_size = take_varint(bytes);
        if (!value_size) return false;
        if (*value_size == 0) continue;
        header.second = take_text(bytes, *value_size - 1);
        if (!header.second) return false;
    }
    return true;
}

}  // namespace

bool has_record_parts(std::string_view kept_headers) {
    return kept_headers.starts_with(kFirstByte);
}

std::string encode_record_parts(const RecordParts& parts) {
    std::string out(1, kFirstByte);
    FieldWriter to(out);
    to.number(kHasKey, parts.key ? 1 : 0);
    to.text(kKey, parts.key.value_or(""));
    to.number(kHasNullValue, parts.has_null_value ? 1 : 0);
    to.text(kHeaders, bytes_of(parts.headers));
    to.text(kSource, parts.source);
    return out;
}

Result<RecordParts> decode_record_parts(std::string_view kept_headers) {
    const Error damaged{"damaged_record"_code, "the headers of a message from Kafka cannot be read"};
    if (!has_record_parts(kept_headers)) return damaged;
    RecordParts parts;
    bool has_key = false;
    std::string key;
    std::string_view headers;
    FieldsReader from(kept_headers.substr(1));
    from.boolean(kHasKey, has_key);
    from.text(kKey, key);
    from.boolean(kHasNullValue, parts.has_null_value);
    from.text(kHeaders, headers);
    from.text(kSource, parts.source);
    if (Status known = from.end("the headers of a message hold"); !known) return std::move(known).error();
    if (from.damaged() || !read_headers(headers, parts.headers) || (!has_key && !key.empty())) return damaged;
    if (has_key) parts.key = std::move(key);
    return parts;
}

}  // namespace duewheel
