#include "resource/repeat_fields.h"

namespace duewheel {
namespace {

// Ranges are checked when the rule is created.
constexpr Field kRepeatRows[] = {
    duration<&RepeatChoice::every_ms>(0, "every", "Make it a recurring message, with this interval",
                                      {.page = "required: the interval between two occurrences, 1 ms to 3660 days",
                                       .when_absent = "give the interval between two occurrences, such as 10m",
                                       .is_required = true,
                                       .option = "--every DURATION"}),
    count<&RepeatChoice::times>(0, "times", "Number of occurrences",
                                {.page = "the number of occurrences; no end by default",
                                 .limit = "limits.repeat_times_max",
                                 .when_absent = "a message that recurs until it is cancelled",
                                 .option = "--times NUMBER"}),
    decimal<&RepeatChoice::factor_permille>(
        0, "factor", "Factor by which the interval grows each time: 2 doubles it",
        {.page = "the interval is multiplied by it each time: 1 to 100, up to three decimals; 1, constant, by default",
         .min = kRepeatFactorMin,
         .max = kRepeatFactorMax,
         .option = "--factor NUMBER"}),
    duration<&RepeatChoice::max_ms>(
        0, "max", "Maximum interval",
        {.page = "the longest interval, if it grows; 3660 days by default", .option = "--max DURATION"}),
    instant<&RepeatChoice::until_ms>(
        0, "until", "No occurrence after this time; format and time zone as for --due",
        {.page = "no occurrence is due after this instant; no end by default", .option = "--until TIME"}),
};

}  // namespace

template <>
const FieldTable& fields_of<RepeatChoice>() {
    static const FieldTable table("the rule of a recurring message holds", kRepeatRows);
    return table;
}

}  // namespace duewheel
