// The misfire instructions of Quartz, which people bring with their triggers, in our words.
#pragma once

#include <optional>
#include <string_view>

namespace duewheel {

// "skip" for "DO_NOTHING" or "MISFIRE_INSTRUCTION_DO_NOTHING"; none where it is no name of Quartz.
std::optional<std::string_view> misfire_of_quartz(std::string_view name);

}  // namespace duewheel
