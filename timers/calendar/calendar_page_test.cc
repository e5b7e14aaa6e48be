// Checks docs/calendar.md against the library: the tables after a line "<!-- checked -->" are computed again and must
// be equal. With DUEWHEEL_RECORD=1 in the environment they are written instead.
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/instant_text.h"
#include <duewheel/cron_schedule.h>
#include <duewheel/repeating_interval.h>

namespace duewheel::calendar_page_test {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPage = DUEWHEEL_PAGES "/calendar.md";
constexpr std::size_t kShown = 3;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
        const std::size_t end = line.find('|', at);
        if (end == line.npos) break;
        std::string cell = line.substr(at, end - at);
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
        cells.push_back(cell);
        at = end + 1;
    }
    return cells;
}

// "2026-03-29 03:00 +02:00", with seconds where there are any.
std::string local_text(const Zone& zone, Instant instant) {
    const auto local = zone.local(instant);
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(local - day));
    const long long offset = zone.offset_at(instant).count() / 60;
    static constexpr const char* kNames[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    std::array<char, 100> text{};
    int size = std::snprintf(text.data(), text.size(), "%s %d-%02u-%02u %02d:%02d",
                             kNames[std::chrono::weekday(day).c_encoding()], static_cast<int>(date.year()),
                             static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                             static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()));
    std::string whole(text.data(), static_cast<std::size_t>(size));
    if (time.seconds().count() != 0) {
        size = std::snprintf(text.data(), text.size(), ":%02d", static_cast<int>(time.seconds().count()));
        whole.append(text.data(), static_cast<std::size_t>(size));
    }
    size = std::snprintf(text.data(), text.size(), " %c%02lld:%02lld", offset < 0 ? '-' : '+', std::abs(offset) / 60,
                         std::abs(offset) % 60);
    return whole.append(text.data(), static_cast<std::size_t>(size));
}

std::string list_of(const Zone& zone, std::vector<Instant> instants) {
    if (instants.empty()) return "never";
    const bool ends = instants.size() <= kShown;
    if (!ends) instants.resize(kShown);
    std::string text;
    for (const Instant instant : instants) text += (text.empty() ? "" : "; ") + local_text(zone, instant);
    return text + (ends ? "; then never" : "");
}

// The zone's column: a name, then policies and excluded days.
struct Place {
    Zone zone = Zone::utc();
    DaylightPolicy policy;
    ExclusionCalendar closed;
};

Place place_of(const std::string& cell) {
    Place place;
    std::size_t end = cell.find(", ");
    place.zone = *Zone::load(cell.substr(0, end));
    while (end != cell.npos) {
        const std::size_t begin = end + 2;
        end = cell.find(", ", begin);
        const std::string word = cell.substr(begin, end == cell.npos ? end : end - begin);
        if (word == "skip") {
            place.policy.skipped = SkippedTime::skip;
        } else if (word == "both") {
            place.policy.repeated = RepeatedTime::both;
        } else {
            EXPECT_TRUE(word.starts_with("closed ")) << cell;
            place.closed = *ExclusionCalendar::parse(word.substr(7));
        }
    }
    return place;
}

std::string without_quotes(const std::string& cell) {
    EXPECT_TRUE(cell.size() > 2 && cell.front() == '`' && cell.back() == '`') << cell;
    return cell.substr(1, cell.size() - 2);
}

std::string firings(const std::string& rule, const Place& place, Instant after) {
    if (rule.starts_with('R')) {
        const auto interval = RepeatingInterval::parse(rule, place.zone);
        return interval ? list_of(place.zone, interval->upcoming(after, kShown + 1)) : interval.error().message;
    }
    const auto parsed = CronRule::parse(rule);
    if (!parsed) return parsed.error().message;
    const CronSchedule schedule(*parsed, place.zone, place.policy, place.closed);
    return list_of(place.zone, schedule.upcoming(after, kShown + 1));
}

// What the last cell of a row should say.
std::string answer(const std::vector<std::string>& cells) {
    const std::string rule = without_quotes(cells[0]);
    if (cells.size() == 2) {
        if (rule.starts_with('R')) {
            const auto interval = RepeatingInterval::parse(rule, Zone::utc());
            return interval ? "accepted" : interval.error().message;
        }
        const auto parsed = CronRule::parse(rule);
        return parsed ? "accepted" : parsed.error().message;
    }
    std::string after = cells[2];
    after.insert(after.size() - 1, ":00");
    return firings(rule, place_of(cells[1]), Instant(milliseconds(parse_instant(after).value())));
}

TEST(CalendarPage, agrees_with_the_library) {
    std::ifstream file(kPage);
    ASSERT_TRUE(file) << kPage;
    const bool records = std::getenv("DUEWHEEL_RECORD") != nullptr;
    std::string page;
    int in_table = 0;  // how many of its lines have been seen, after the mark
    int rows = 0;
    for (std::string line; std::getline(file, line); page += line + "\n") {
        if (line == "<!-- checked -->") {
            in_table = 1;
        } else if (in_table > 0 && !line.starts_with('|')) {
            in_table = 0;
        } else if (in_table > 0 && ++in_table > 3) {
            std::vector<std::string> cells = cells_of(line);
            ASSERT_TRUE(cells.size() == 2 || cells.size() == 4) << line;
            const std::string expected = answer(cells);
            ++rows;
            if (records) {
                cells.back() = expected;
                line = "|";
                for (const std::string& cell : cells) line += " " + cell + " |";
            }
            EXPECT_EQ(cells.back(), expected) << line << "\n(DUEWHEEL_RECORD=1 writes the page anew)";
        }
    }
    EXPECT_GT(rows, 40);
    if (records) std::ofstream(kPage) << page;
}

}  // namespace
}  // namespace duewheel::calendar_page_test
