// The reason of a failure, as it is stored with the message: by a consumer, a webhook or a Kafka target.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text_ends.h"

namespace duewheel {

inline constexpr std::size_t kReasonBytesMax = 4096;

// A longer reason is shortened, not refused: a failure must be recorded, regardless of the length of its reason.
inline std::string stored_reason(std::string_view utf8) {
    return both_ends(utf8, kReasonBytesMax);
}

}  // namespace duewheel
