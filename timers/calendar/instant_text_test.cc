#include "calendar/instant_text.h"

#include <array>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <time.h>

#include "calendar/text_cases_fixture.h"
#include "shared/random.h"

namespace duewheel::instant_text_test {
namespace {

TEST(InstantText, reads_rfc_3339) {
    expect_read<InstantMs>(parse_instant, {{"1970-01-01T00:00:00Z", 0},
                                           {"2027-01-01T06:00:00Z", 1'798'783'200'000},
                                           {"2027-01-01t06:00:00z", 1'798'783'200'000},
                                           {"2027-01-01 06:00:00Z", 1'798'783'200'000},
                                           {"2027-01-01T07:00:00+01:00", 1'798'783'200'000},
                                           {"2026-12-31T19:30:00-10:30", 1'798'783'200'000},
                                           {"2027-01-02T05:59:00+23:59", 1'798'783'200'000},
                                           {"2027-01-01T06:00:00-00:00", 1'798'783'200'000},
                                           {"2027-01-01T06:00:00.25Z", 1'798'783'200'250},
                                           {"2024-02-29T00:00:00Z", 1'709'164'800'000},
                                           {"2000-02-29T23:59:59Z", 951'868'799'000},
                                           {"1970-01-01T01:00:00+01:00", 0},
                                           {"9999-12-31T23:59:59.999Z", kLastInstant}});
}

TEST(InstantText, rounds_a_fraction_up_to_the_next_millisecond) {
    expect_read<InstantMs>(parse_instant, {{"1970-01-01T00:00:00.0Z", 0},
                                           {"1970-01-01T00:00:00.001Z", 1},
                                           {"1970-01-01T00:00:00.001000000Z", 1},
                                           {"1970-01-01T00:00:00.001000001Z", 2},
                                           {"1970-01-01T00:00:00.000000001Z", 1},
                                           {"1970-01-01T00:00:00.9990Z", 999},
                                           {"1970-01-01T00:00:00.9991Z", 1'000},
                                           {"1970-12-31T23:59:59.999999999Z", 31'536'000'000}});
}

TEST(InstantText, a_leap_second_is_the_second_after_it) {
    const InstantMs new_year = parse_instant("2017-01-01T00:00:00Z").value();
    EXPECT_EQ(parse_instant("2016-12-31T23:59:60Z").value(), new_year);
    EXPECT_EQ(parse_instant("2016-12-31T23:59:60.5Z").value(), new_year + 500);
    EXPECT_EQ(parse_instant("2016-12-31T23:59:60.9999Z").value(), new_year + 1000);
    EXPECT_EQ(parse_instant("2017-01-01T00:59:60+01:00").value(), new_year);
    EXPECT_EQ(parse_instant("2016-12-31T15:59:60-08:00").value(), new_year);
}

TEST(InstantText, refuses_with_the_column_and_what_is_accepted) {
    using namespace std::string_view_literals;
    expect_refused(parse_instant, ErrorCode::bad_instant, "such as 2027-01-01T06:00:00Z",
                   {
                       {"", 1, "empty"},
                       {"tomorrow", 1, "year of four digits"},
                       {"27-01-01T06:00:00Z", 1, "year of four digits"},
                       {"1969-12-31T23:59:59Z", 1, "before 1970"},
                       {"1969-12-31T23:00:00-01:00", 1, "before 1970"},
                       {"0000-01-01T00:00:00Z", 1, "before 1970"},
                       {"1970-01-01T00:00:00+00:01", 1, "before 1970"},
                       {"10000-01-01T00:00:00Z", 5, "- is expected"},
                       {"9999-12-31T23:59:59.9991Z", 1, "after 9999"},
                       {"9999-12-31T23:59:59-00:01", 1, "after 9999"},
                       {"9999-12-31T23:59:60Z", 1, "after 9999"},
                       {"2027/01/01T06:00:00Z", 5, "- is expected"},
                       {"2027-1-01T06:00:00Z", 6, "month of two digits"},
                       {"2027-00-01T06:00:00Z", 6, "no such month"},
                       {"2027-13-01T06:00:00Z", 6, "no such month"},
                       {"2027-01-00T06:00:00Z", 9, "no such day"},
                       {"2027-04-31T06:00:00Z", 9, "no such day"},
                       {"2027-02-29T06:00:00Z", 9, "no such day"},
                       {"2100-02-29T06:00:00Z", 9, "no such day"},
                       {"2027-01-01", 11, "time of day"},
                       {"2027-01-01_06:00:00Z", 11, "time of day"},
                       {"2027-01-01T6:00:00Z", 12, "hour of two digits"},
                       {"2027-01-01T24:00:00Z", 12, "next day"},
                       {"2027-01-01T25:00:00Z", 12, "no such hour"},
                       {"2027-01-01T06", 14, ": is expected"},
                       {"2027-01-01T06:60:00Z", 15, "no such minute"},
                       {"2027-01-01T06:00Z", 17, "seconds are missing"},
                       {"2027-01-01T06:00:61Z", 18, "no such second"},
                       {"2027-01-01T06:00:60Z", 18, "only at 23:59:60"},
                       {"2016-12-31T23:59:60+01:00", 18, "only at 23:59:60"},
                       {"2027-01-01T06:00:00.Z", 21, "digit is expected"},
                       {"2027-01-01T06:00:00.1234567890Z", 30, "nine digits"},
                       {"2027-01-01T06:00:00,5Z", 20, "offset from UTC"},
                       {"2027-01-01T06:00:00", 20, "offset from UTC"},
                       {"2027-01-01T06:00:00 Z", 20, "offset from UTC"},
                       {"2027-01-01T06:00:00+1:00", 20, "looks like"},
                       {"2027-01-01T06:00:00+0100", 20, "looks like"},
                       {"2027-01-01T06:00:00+01", 20, "looks like"},
                       {"2027-01-01T06:00:00+24:00", 20, "no such offset"},
                       {"2027-01-01T06:00:00+01:60", 20, "no such offset"},
                       {"2027-01-01T06:00:00ZZ", 21, "nothing may follow"},
                       {"2027-01-01T06:00:00Z\0"sv, 21, "nothing may follow"},
                       {" 2027-01-01T06:00:00Z", 1, "year of four digits"},
                       {"+2027-01-01T06:00:00Z", 1, "year of four digits"},
                       {"2027-01-01T-6:00:00Z", 12, "hour of two digits"},
                       {"1798783200000", 1, "a number has no unit"},
                   });
}

TEST(InstantText, a_number_is_not_a_text_of_an_instant) {
    for (const char* number : {"0", "1798783200", "1798783200000", "99999999999999999999"}) {
        const auto parsed = parse_instant(number);
        ASSERT_FALSE(parsed.ok()) << number;
        EXPECT_NE(parsed.error().message.find("a number has no unit"), std::string::npos) << parsed.error().message;
    }
    EXPECT_EQ(instant_from_ms(0).value(), 0);
    EXPECT_EQ(instant_from_ms(kLastInstant).value(), kLastInstant);
    EXPECT_EQ(instant_from_ms(-1).error().code, ErrorCode::bad_instant);
    EXPECT_EQ(instant_from_ms(kLastInstant + 1).error().code, ErrorCode::bad_instant);
}

TEST(InstantText, prints_utc_with_milliseconds) {
    EXPECT_EQ(format_instant(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(format_instant(1'798'783'200'007), "2027-01-01T06:00:00.007Z");
    EXPECT_EQ(format_instant(kLastInstant), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(format_instant(-1), "-1");
    EXPECT_EQ(format_instant(kLastInstant + 1), "253402300800000");
    EXPECT_EQ(format_instant(kNoInstant), "-9223372036854775808");
}

TEST(InstantText, every_printed_instant_is_read_back_and_sorts_as_the_instants_do) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        InstantMs last = 0;
        for (int i = 0; i < 2000; ++i) {
            const InstantMs instant = random.between(0, kLastInstant >> random.below(20));
            ASSERT_EQ(parse_instant(format_instant(instant)).value(), instant);
            ASSERT_EQ(format_instant(last) < format_instant(instant), last < instant);
            last = instant;
        }
    }
}

// The C library's calendar is the judge, over all kinds of dates, also those that do not exist.
TEST(InstantText, agrees_with_timegm) {
    int refused = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        for (int i = 0; i < 3000; ++i) {
            tm parts{};
            parts.tm_year = static_cast<int>(random.between(70, random.chance(500'000) ? 200 : 8099));
            parts.tm_mon = static_cast<int>(random.below(12));
            parts.tm_mday = static_cast<int>(random.between(random.chance(500'000) ? 28 : 1, 31));
            parts.tm_hour = static_cast<int>(random.below(24));
            parts.tm_min = static_cast<int>(random.below(60));
            parts.tm_sec = static_cast<int>(random.below(60));
            const int offset_min = static_cast<int>(random.between(-23 * 60 - 59, 23 * 60 + 59));
            const int distance = offset_min < 0 ? -offset_min : offset_min;
            std::array<char, 64> text{};
            std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", parts.tm_year + 1900,
                          parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                          offset_min < 0 ? '-' : '+', distance / 60, distance % 60);
            tm normal = parts;
            const std::int64_t expected = (std::int64_t{::timegm(&normal)} - offset_min * 60) * 1000;
            const bool exists = normal.tm_mday == parts.tm_mday && expected >= 0 && expected <= kLastInstant;
            const auto parsed = parse_instant(text.data());
            ASSERT_EQ(parsed.ok(), exists) << text.data();
            if (exists) {
                ASSERT_EQ(*parsed, expected) << text.data();
            }
            refused += exists ? 0 : 1;
        }
    }
    EXPECT_GT(refused, 500);
}

// One byte of a good text changed, dropped or doubled: refused with a column inside the text, or another good instant.
TEST(InstantText, hostile_texts_are_refused_in_place_or_mean_one_thing) {
    int accepted = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        for (int i = 0; i < 3000; ++i) {
            std::string text = random.chance(500'000) ? "2027-01-01T06:00:00Z" : "2016-12-31T23:59:59.999999999+13:45";
            const std::size_t at = random.below(text.size());
            switch (random.below(4)) {
                case 0:
                    text[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    text[at] = static_cast<char>('0' + random.below(10));
                    break;
                case 2:
                    text.erase(at, 1 + random.below(3));
                    break;
                default:
                    text.insert(at, 1, text[at]);
            }
            const auto parsed = parse_instant(text);
            if (parsed.ok()) {
                ++accepted;
                ASSERT_EQ(parse_instant(format_instant(*parsed)).value(), *parsed) << text;
                continue;
            }
            const std::size_t column = std::stoul(parsed.error().message.substr(7));
            ASSERT_GE(column, 1u) << text;
            ASSERT_LE(column, text.size() + 1) << text;
        }
    }
    EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace duewheel::instant_text_test
