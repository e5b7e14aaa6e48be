// The key, headers and null value of a message that came from Kafka, or goes there, in the stored form of headers.
//
// Messages put over HTTP store their headers as a JSON object of strings. Those of Kafka need more: any bytes, repeated
// names, null beside empty, and the key of the record. This form begins with a byte that no JSON text begins with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace duewheel {

struct RecordParts {
    // Names may repeat; without a value it is null.
    using Headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

    std::optional<std::string> key;  // any bytes; none is null
    bool has_null_value = false;     // the message's body is empty then
    Headers headers;
    std::string source;  // "topic/partition/offset" of the record that it came in; empty: it came another way

    bool operator==(const RecordParts&) const = default;
};

// Whether these stored headers are in this form.
bool has_record_parts(std::string_view kept_headers);

std::string encode_record_parts(const RecordParts& parts);
// Codes: `damaged_record`, `newer_format`.
Result<RecordParts> decode_record_parts(std::string_view kept_headers);

}  // namespace duewheel
