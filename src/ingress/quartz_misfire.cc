#include "ingress/quartz_misfire.h"

namespace duewheel {
namespace {

struct Instruction {
    std::string_view quartz;
    std::string_view ours;
};

// Those of CronTrigger, SimpleTrigger and CalendarIntervalTrigger. Instructions that fire now fire once for all missed
// times; those that reschedule to the next time fire for none of them; the smart policy is Quartz's default, as `once`
// is ours.
constexpr Instruction kInstructions[] = {
    {"DO_NOTHING", "skip"},
    {"FIRE_AND_PROCEED", "once"},
    {"FIRE_NOW", "once"},
    {"FIRE_ONCE_NOW", "once"},
    {"IGNORE_MISFIRES", "all"},
    {"IGNORE_MISFIRE_POLICY", "all"},
    {"RESCHEDULE_NEXT_WITH_EXISTING_COUNT", "skip"},
    {"RESCHEDULE_NEXT_WITH_REMAINING_COUNT", "skip"},
    {"RESCHEDULE_NOW_WITH_EXISTING_REPEAT_COUNT", "once"},
    {"RESCHEDULE_NOW_WITH_REMAINING_REPEAT_COUNT", "once"},
    {"SMART_POLICY", "once"},
};

}  // namespace

std::optional<std::string_view> misfire_of_quartz(std::string_view name) {
    constexpr std::string_view kPrefix = "MISFIRE_INSTRUCTION_";
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    for (const Instruction& each : kInstructions) {
        if (each.quartz == name) return each.ours;
    }
    return std::nullopt;
}

}  // namespace duewheel
