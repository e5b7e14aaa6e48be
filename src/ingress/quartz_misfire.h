// The misfire instructions of Quartz, which users know from their triggers, in our terms.
#pragma once

#include <optional>
#include <string_view>

namespace duewheel {

// "skip" for "DO_NOTHING" or "MISFIRE_INSTRUCTION_DO_NOTHING"; none if Quartz has no such name.
std::optional<std::string_view> misfire_of_quartz(std::string_view name);

}  // namespace duewheel
