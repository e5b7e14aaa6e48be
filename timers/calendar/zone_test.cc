#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/zone_rules.h"
#include "shared/random.h"
#include <duewheel/zone.h>

namespace duewheel::zone_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year;

Zone zone(std::string_view name) {
    return *Zone::load(name);
}

TEST(Zone, knows_how_far_clocks_are_ahead) {
    const Zone oslo = zone("Europe/Oslo");
    EXPECT_EQ(oslo.name(), "Europe/Oslo");
    EXPECT_EQ(oslo.offset_at(sys_days(year(2026) / 1 / 15)), 1h);
    EXPECT_EQ(oslo.offset_at(sys_days(year(2026) / 7 / 15)), 2h);
    EXPECT_EQ(oslo.offset_at(sys_days(year(2026) / 3 / 29) + 1h - 1ms), 1h);
    EXPECT_EQ(oslo.offset_at(sys_days(year(2026) / 3 / 29) + 1h), 2h);
    EXPECT_EQ(zone("America/New_York").offset_at(sys_days(year(2026) / 1 / 15)), -5h);
    EXPECT_EQ(zone("Asia/Kathmandu").offset_at(sys_days(year(2026) / 1 / 15)), 5h + 45min);
    EXPECT_EQ(Zone::utc().offset_at(sys_days(year(2026) / 7 / 15)), 0h);
    EXPECT_EQ(zone("UTC").rules().spans.size(), 1u);
}

TEST(Zone, a_local_time_has_one_instant) {
    const Zone oslo = zone("Europe/Oslo");
    const auto spring = local_days(year(2026) / 3 / 29);
    EXPECT_EQ(oslo.instant_of(spring + 1h + 59min + 59s + 999ms), sys_days(year(2026) / 3 / 29) + 1h - 1ms);
    EXPECT_EQ(oslo.instant_of(spring + 2h), sys_days(year(2026) / 3 / 29) + 1h);
    EXPECT_EQ(oslo.instant_of(spring + 2h + 30min + 5ms), sys_days(year(2026) / 3 / 29) + 1h);
    EXPECT_EQ(oslo.instant_of(spring + 3h + 5ms), sys_days(year(2026) / 3 / 29) + 1h + 5ms);
    const auto autumn = local_days(year(2026) / 10 / 25);
    EXPECT_EQ(oslo.instant_of(autumn + 2h + 30min), sys_days(year(2026) / 10 / 25) + 30min);
    EXPECT_EQ(oslo.instant_of(autumn + 3h), sys_days(year(2026) / 10 / 25) + 2h);
    EXPECT_EQ(oslo.local(sys_days(year(2026) / 10 / 25) + 1h + 30min), autumn + 2h + 30min);
}

TEST(Zone, a_whole_day_can_be_missing) {
    const Zone apia = zone("Pacific/Apia");
    EXPECT_EQ(apia.instant_of(local_days(year(2011) / 12 / 30) + 9h), sys_days(year(2011) / 12 / 30) + 10h);
    EXPECT_EQ(apia.local(sys_days(year(2011) / 12 / 30) + 10h), local_days(year(2011) / 12 / 31) + 0h);
}

TEST(Zone, an_unknown_name_is_refused_with_the_nearest) {
    const auto message = [](std::string_view name) {
        const Result<Zone> loaded = Zone::load(name);
        EXPECT_FALSE(loaded.ok()) << name;
        if (loaded.ok()) return std::string();
        EXPECT_EQ(loaded.error().code, ErrorCode::bad_zone);
        return loaded.error().message;
    };
    EXPECT_NE(message("Europe/Olso").find("Europe/Oslo"), std::string::npos);
    for (const std::string name : {"", "/", "Europe/", "/etc/passwd", "../../../etc/passwd", "Europe//Oslo", "Europe",
                                   "zone.tab", "tzdata.zi", "Europe/Oslo\n", "localtime", "posixrules", "Factory",
                                   "right/Europe/Oslo", "posix/Europe/Oslo", "Fixed/UTC+01:00:00", "libc:localtime"}) {
        EXPECT_FALSE(message(name).empty()) << name;
    }
    EXPECT_FALSE(message(std::string(1000, 'a')).empty());
    EXPECT_EQ(message("a\"\x01\xff").find('\x01'), std::string::npos);
}

TEST(Zone, the_version_of_its_data_is_known) {
    const std::string version = zone_data_version();
    ASSERT_EQ(version.size(), 5u) << version;
    EXPECT_TRUE(version.starts_with("20")) << version;
}

// The zones that the C library reads from the same files, by its own code.
class CLibraryZone {
  public:
    explicit CLibraryZone(const std::string& name) {
        ::setenv("TZ", name.c_str(), 1);
        ::tzset();
    }
    ~CLibraryZone() {
        ::unsetenv("TZ");
        ::tzset();
    }
    static std::int64_t offset_at(std::int64_t second) {
        const std::time_t when = second;
        tm parts{};
        ::localtime_r(&when, &parts);
        return parts.tm_gmtoff;
    }
};

std::vector<std::string> all_zone_names() {
    namespace fs = std::filesystem;
    std::vector<std::string> names;
    const fs::path root = "/usr/share/zoneinfo";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
        const std::string name = entry.path().lexically_relative(root);
        if (entry.is_regular_file() && Zone::load(name).ok()) names.push_back(name);
    }
    return names;
}

TEST(Zone, every_zone_agrees_with_the_c_library_at_every_change) {
    const std::vector<std::string> names = all_zone_names();
    EXPECT_GT(names.size(), 500u);
    const std::int64_t begin = sys_days(year(1970) / 1 / 1).time_since_epoch() / seconds(1);
    const std::int64_t end = sys_days(year(2400) / 1 / 1).time_since_epoch() / seconds(1);
    Random random(1);
    std::uint64_t changes = 0;
    for (const std::string& name : names) {
        const Zone loaded = zone(name);
        const CLibraryZone judge(name);
        const std::vector<ZoneRules::Span>& spans = loaded.rules().spans;
        for (std::size_t span = 1; span < spans.size(); ++span) {
            ASSERT_LT(spans[span - 1].begin, spans[span].begin) << name;
            ASSERT_EQ(CLibraryZone::offset_at(spans[span].begin), spans[span].offset) << name << " " << span;
            ASSERT_EQ(CLibraryZone::offset_at(spans[span].begin - 1), spans[span - 1].offset) << name << " " << span;
            ++changes;
        }
        // Changes that are not in the table would be seen between: four looks a year.
        for (std::int64_t at = begin; at < end; at += random.between(60, 120) * kDaySeconds) {
            ASSERT_EQ(CLibraryZone::offset_at(at), loaded.rules().offset_at(at)) << name << " " << at;
        }
    }
    EXPECT_GT(changes, 50'000u);
}

// What the walks of schedules and the search for an instant rest on.
TEST(Zone, no_span_is_shorter_than_a_day_and_no_clock_is_far_from_utc) {
    for (const std::string& name : all_zone_names()) {
        const Zone loaded = zone(name);
        const std::vector<ZoneRules::Span>& spans = loaded.rules().spans;
        for (std::size_t span = 1; span < spans.size(); ++span) {
            EXPECT_LT(std::abs(spans[span].offset), kOffsetSecondsMost - kDaySeconds) << name;
            if (span > 1) {
                EXPECT_GT(spans[span].begin - spans[span - 1].begin, kDaySeconds) << name;
            }
        }
    }
}

TEST(Zone, an_instant_is_found_again_from_its_local_time) {
    for (const char* name :
         {"Europe/Oslo", "Australia/Lord_Howe", "Pacific/Apia", "America/Caracas", "Africa/Monrovia"}) {
        const Zone loaded = zone(name);
        Random random(7);
        for (int i = 0; i < 20'000; ++i) {
            const Instant instant{milliseconds(random.between(0, kCalendarEnd.time_since_epoch().count() - 1))};
            const Instant back = loaded.instant_of(loaded.local(instant));
            ASSERT_LE(back, instant) << name;
            ASSERT_EQ(loaded.local(back), loaded.local(instant)) << name;
        }
    }
}

}  // namespace
}  // namespace duewheel::zone_test
