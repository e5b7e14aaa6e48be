#include "net/http/http_date.h"

#include <chrono>
#include <cstdio>

namespace duewheel {
namespace {

constexpr const char* kWeekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string_view HttpDate::at(InstantMs now_ms) {
    using namespace std::chrono;
    const auto instant = floor<seconds>(sys_time<milliseconds>(milliseconds(now_ms)));
    const InstantMs second = instant.time_since_epoch().count();
    if (second == second_) return text_;
    second_ = second;
    const auto day = floor<days>(instant);
    const year_month_day date(day);
    const hh_mm_ss time(instant - day);
    char text[64];
    const int size =
        std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d GMT", kWeekdays[weekday(day).c_encoding()],
                      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                      static_cast<int>(date.year()), static_cast<int>(time.hours().count()),
                      static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
    text_.assign(text, static_cast<std::size_t>(size));
    return text_;
}

}  // namespace duewheel
