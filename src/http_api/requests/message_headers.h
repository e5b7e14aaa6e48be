// The headers of a message, and what it has of a Kafka record, as the members `headers` and `kafka` of JSON.
//
// Headers that HTTP can have are stored as one JSON object of strings. The key of a record, a null value, and headers
// that are repeated, binary or null are stored in the form of message/records/record_parts.h.
#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"

namespace duewheel {

// Applies both members to `kept`, the stored form: empty for a put, and what a patch changes otherwise. Codes:
// bad_base64, bad_message_header, conflicting_members, duplicate_member, headers_too_large, missing_member.
Status read_message_headers(const JsonRequest& request, const HttpApiOptions& options, std::string& kept);

// A record with a null value has no body: a request with both is refused (conflicting_members), and a patch that only
// gives a body ends the null value.
Status fit_null_value(const JsonRequest& request, std::string_view body, std::string& kept);

// Writes nothing for a message without headers.
void write_message_headers(JsonWriter& json, std::string_view kept);

}  // namespace duewheel
