// The content of a message as members of an open JSON object, the same for all responses.
#pragma once

#include "base/base64.h"
#include "base/json_writer.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_text.h"
#include "http_api/requests/message_headers.h"
#include "net/http/http_message.h"
#include "shared/utf8.h"

namespace duewheel {

template <class Message>
void write_content_fields(JsonWriter& json, const Message& message) {
    if (!message.content_type.empty()) json.text("content_type", message.content_type);
    write_message_headers(json, message.headers);
}

// For a line of an export, which must be restored byte for byte: the body is a string, or base64 if it is not UTF-8.
template <class Message>
void write_content_in_line(JsonWriter& json, const Message& message) {
    if (is_utf8(message.body)) {
        json.text("body", message.body);
    } else {
        json.text("body_base64", base64(message.body));
    }
    write_content_fields(json, message);
}

// For a response: content that is JSON by its media type and its bytes is returned as written, except that its line
// breaks become spaces, so that a response stays on one line.
template <class Message>
void write_content(JsonWriter& json, const Message& message) {
    const bool is_json = equal_ignoring_case(essence(message.content_type), "application/json");
    if (!is_json || !is_json_text(message.body)) return write_content_in_line(json, message);
    json.json("json", on_one_line(message.body));
    write_content_fields(json, message);
}

}  // namespace duewheel
