// What a message holds, as members of an object that is open: the same for all who show it.
#pragma once

#include "base/base64.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "ingress/field_syntax.h"
#include "ingress/json_text.h"
#include "net/http_message.h"

namespace duewheel {

template <class Message>
void write_content_fields(JsonWriter& json, const Message& message) {
    if (!message.content_type.empty()) json.text("content_type", message.content_type);
    if (!message.headers.empty()) json.json("headers", message.headers);  // kept as the JSON object it came as
}

// For a line of an export, which comes back byte for byte: the body is a text, or base64 where it is not UTF-8.
template <class Message>
void write_content_in_line(JsonWriter& json, const Message& message) {
    if (is_utf8(message.body)) {
        json.text("body", message.body);
    } else {
        json.text("body_base64", base64(message.body));
    }
    write_content_fields(json, message);
}

// For a response: what is JSON by its media type, and is that, comes back as JSON, as it is written. Only its line
// breaks become blanks, so that a response stays on one line.
template <class Message>
void write_content(JsonWriter& json, const Message& message) {
    const bool is_json = equal_ignoring_case(essence(message.content_type), "application/json");
    if (!is_json || !is_json_text(message.body)) return write_content_in_line(json, message);
    json.json("json", on_one_line(message.body));
    write_content_fields(json, message);
}

}  // namespace duewheel
