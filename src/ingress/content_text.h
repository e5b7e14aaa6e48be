// What a message holds, as members of an object that is open: the same for all who show it.
#pragma once

#include "base/base64.h"
#include "base/utf8.h"
#include "ingress/json_writer.h"

namespace duewheel {

template <class Message>
void write_content(JsonWriter& json, const Message& message) {
    if (is_utf8(message.body)) {
        json.text("body", message.body);
    } else {
        json.text("body_base64", base64(message.body));
    }
    if (!message.content_type.empty()) json.text("content_type", message.content_type);
    if (!message.headers.empty()) json.json("headers", message.headers);  // kept as the JSON object it came as
}

}  // namespace duewheel
