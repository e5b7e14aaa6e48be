// An instant as two members of an open JSON object: one for people and one for calculations.
#pragma once

#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "message/message.h"

namespace duewheel {

inline void write_instant(JsonWriter& json, std::string_view name, std::string_view name_ms, DueMs at_ms) {
    json.text(name, format_instant(at_ms)).number(name_ms, at_ms);
}

}  // namespace duewheel
