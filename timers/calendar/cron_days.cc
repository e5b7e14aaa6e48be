#include "calendar/cron_days.h"

#include <bit>

#include "calendar/month_days.h"

namespace duewheel {
namespace {

// Calls `use` with the number of each bit that is set.
template <class Use>
void for_each_bit(std::uint32_t bits, Use&& use) {
    for (; bits != 0; bits &= bits - 1) use(static_cast<unsigned>(std::countr_zero(bits)));
}

// A day that the month has not got (the 31st of April, the 31st before the last of any) matches nothing, nor does the
// working day nearest to it.
std::uint32_t days_by_number(const CronFields& fields, const MonthShape& shape) {
    std::uint32_t matching = fields.days & shape.all();
    for_each_bit(fields.days_before_last & days_through(shape.length) >> 1,
                 [&](unsigned before) { matching |= 1U << (shape.length - before); });
    for_each_bit(fields.nearest & shape.all(), [&](unsigned day) { matching |= 1U << shape.nearest_working_day(day); });
    for_each_bit(fields.nearest_before_last & days_through(shape.length) >> 1,
                 [&](unsigned before) { matching |= 1U << shape.nearest_working_day(shape.length - before); });
    return matching;
}

std::uint32_t days_by_weekday(const CronFields& fields, const MonthShape& shape) {
    std::uint32_t matching = shape.days_on(fields.weekdays);
    if (fields.last_weekdays != 0) matching |= shape.days_on(fields.last_weekdays) & ~days_through(shape.length - 7);
    for (unsigned week = 0; week < fields.nth_weekdays.size(); ++week) {
        if (fields.nth_weekdays[week] == 0) continue;
        const std::uint32_t of_week = days_through(std::min(7 * week + 7, 31U)) & ~days_through(7 * week);
        matching |= shape.days_on(fields.nth_weekdays[week]) & of_week;
    }
    return matching;
}

bool has_year(const CronFields& fields, int year) {
    if (!fields.years) return true;
    const auto bit = static_cast<unsigned>(year - 1970);
    return bit < 256 && ((*fields.years)[bit / 64] >> bit % 64 & 1) != 0;
}

}  // namespace

std::uint32_t matching_days(const CronFields& fields, std::chrono::year_month month) {
    if ((fields.months >> static_cast<unsigned>(month.month()) & 1) == 0) return 0;
    if (!has_year(fields, static_cast<int>(month.year()))) return 0;
    const MonthShape shape = shape_of(month);
    const std::uint32_t by_number = days_by_number(fields, shape);
    const std::uint32_t by_weekday = days_by_weekday(fields, shape);
    return fields.either ? by_number | by_weekday : by_number & by_weekday;
}

}  // namespace duewheel
