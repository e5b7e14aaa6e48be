// Messages in responses: read alone, delivered, in a listing and in the history. Their forms are in docs/http_api.md.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "engine/commands/command.h"

namespace duewheel {

// The member `id`.
void write_id(JsonWriter& json, MessageId id);
void write_attempt(JsonWriter& json, const PastAttempt& attempt);

// Each as an object.
void write_message(JsonWriter& json, const MessageAnswer& answer);
void write_delivered(JsonWriter& json, std::string_view queue, const Delivered& message);
void write_listed(JsonWriter& json, const ListedMessage& message);
void write_ended(JsonWriter& json, std::string_view queue, const EndedRow& row);

}  // namespace duewheel
