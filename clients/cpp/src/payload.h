// Content that the codec of a client encodes on its way out, and decodes on its way in. An encoded message has the
// header `codec`: the name of the codec, a slash, and what is inside (`json`, `text` or `bytes`), as in the clients of
// all languages.
#pragma once

#include <memory>

#include "duewheel/client/client.h"

namespace duewheel::client {

// Encodes content, and adds the header. Does nothing without a codec or content. Throws Failure, `bad_data`, if the
// content is not what it says, or the codec refuses it.
void seal(const PayloadCodec* codec, Content& content, Headers& headers);

// The same for a call that changes a message, if its members have content.
void seal(const PayloadCodec* codec, Changes& changes);

// Decodes the content of a message. What fails is its `fault`.
void open(const PayloadCodec* codec, const std::string& id, const Headers& headers, Content& content);

template <class Shown>
Shown opened(const PayloadCodec* codec, Shown message) {
    open(codec, message.id, message.headers, message.content);
    return message;
}

}  // namespace duewheel::client
