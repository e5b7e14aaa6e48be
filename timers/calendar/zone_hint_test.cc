#include "calendar/zone_hint.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/zone.h>

namespace duewheel::zone_hint_test {
namespace {

// The whole refusal, as a user of this machine's database gets it.
std::string refusal(std::string_view name) {
    const Result<Zone> loaded = Zone::load(name);
    return loaded ? "loaded" : loaded.error().message;
}

void expect_says(std::string_view name, std::string_view text) {
    EXPECT_NE(refusal(name).find(text), std::string::npos) << refusal(name);
}

TEST(ZoneHint, a_fixed_offset_is_answered_with_its_own_zone) {
    expect_says("GMT+8", "UTC+08:00 is written Etc/GMT-8 ");
    expect_says("gmt+8", "Etc/GMT-8 ");
    expect_says("UTC+3", "Etc/GMT-3 ");
    expect_says("UTC-11", "Etc/GMT+11 ");
    expect_says("UTC+14", "Etc/GMT-14 ");
    expect_says("UTC +2", "Etc/GMT-2 ");
    expect_says("+02:00", "Etc/GMT-2 ");
    expect_says("-0500", "Etc/GMT+5 ");
    expect_says("Z+1", "Etc/GMT-1 ");
    expect_says("Etc/UTC+1", "Etc/GMT-1 ");
    expect_says("UTC+0", "without an offset as UTC.");
    expect_says("UTC+05:30", "no zone with the fixed offset UTC+05:30 alone; Asia/Kolkata has it.");
    expect_says("GMT-0930", "Pacific/Marquesas");
    expect_says("UTC-03:30", "no zone with the fixed offset UTC-03:30. Use a name");
    expect_says("UTC+15", "no zone has this offset");
    expect_says("UTC-13", "no zone has this offset");
    for (const char* other : {"UTC+", "UTC+2x", "UTC+1:2", "UTC+01:60", "UTC+99999999999999999999", "GMT+8:"}) {
        expect_says(other, "use the names of the IANA database");
    }
}

// Every zone that is named for an offset has the offset.
TEST(ZoneHint, zones_of_offsets_have_them) {
    for (int hour = -12; hour <= 14; ++hour) {
        if (hour == 0) continue;
        const std::string message = refusal("UTC" + std::string(hour > 0 ? "+" : "") + std::to_string(hour));
        const std::size_t begin = message.find("Etc/");
        ASSERT_NE(begin, std::string::npos) << message;
        const Result<Zone> zone = Zone::load(message.substr(begin, message.find(' ', begin) - begin));
        ASSERT_TRUE(zone) << message;
        EXPECT_EQ(zone->offset_at(Instant{}), std::chrono::hours(hour)) << message;
    }
    const Instant today = std::chrono::sys_days{std::chrono::year(2026) / 1 / 1};
    for (const char* offset : {"-09:30", "+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+08:45", "+09:30"}) {
        const std::string message = refusal(std::string("UTC") + offset);
        const std::size_t begin = message.find("alone; ") + 7;
        const Result<Zone> zone = Zone::load(message.substr(begin, message.find(' ', begin) - begin));
        ASSERT_TRUE(zone) << message;
        const std::chrono::minutes size(60 * std::stoi(std::string(offset).substr(1, 2)) + std::stoi(offset + 4));
        EXPECT_EQ(zone->offset_at(today), *offset == '-' ? -size : size) << message;
    }
}

TEST(ZoneHint, a_city_or_abbreviation_gets_the_intended_zone) {
    expect_says("Asia/Beijing", "this one is probably Asia/Shanghai.");
    expect_says("beijing", "Asia/Shanghai.");
    expect_says("Asia/New Delhi", "Asia/Kolkata.");
    expect_says("America/San_Francisco", "America/Los_Angeles.");
    expect_says("Europe/Munich", "Europe/Berlin.");
    expect_says("PST", "America/Los_Angeles.");
    expect_says("CEST", "Europe/Berlin.");
    // China's users read CST as China Standard Time; only Chicago was named.
    expect_says("CST", "this one is probably America/Chicago, or Asia/Shanghai.");
    expect_says("IST", "Asia/Kolkata, or Europe/Dublin, or Asia/Jerusalem.");
    // The name was shown as "??????".
    expect_says("北京", "There is no time zone \"北京\": ");
    expect_says("北京", "Asia/Shanghai.");
    expect_says("\xff\x1b", "\"\xef\xbf\xbd?\"");
}

TEST(ZoneHint, a_spelling_that_is_not_in_the_database_gets_the_one_that_is) {
    const std::vector<std::string_view> known = {"Asia/Kolkata", "Asia/Calicut", "America/New_York"};
    EXPECT_NE(zone_hint("Asia/Calcutta", known).find("this one is probably Asia/Kolkata."), std::string::npos);
    EXPECT_NE(zone_hint("US/Eastern", known).find("this one is probably America/New_York."), std::string::npos);
    EXPECT_EQ(zone_hint("Asia/Beijing", known).find("Asia/Shanghai"), std::string::npos)
        << "what is not there is not suggested";
}

TEST(ZoneHint, a_typo_gets_the_nearest_zone_and_anything_else_none) {
    expect_says("Europe/Olso", "The nearest is Europe/Oslo.");
    expect_says("europe/oslo", "Europe/Oslo.");
    expect_says("Berlin", "The nearest is Europe/Berlin.");
    expect_says("Europe-Berlin", "The nearest is Europe/Berlin.");
    expect_says("America/Buenos_Aries", "America/Buenos_Aires");
    expect_says("Tokio", "Asia/Tokyo.");
    for (const char* far : {"Mars/Olympus", "Moon", "X", "Europe/Xyzzy", "a/b", ""}) {
        expect_says(far, "none is near this one.");
    }
}

}  // namespace
}  // namespace duewheel::zone_hint_test
