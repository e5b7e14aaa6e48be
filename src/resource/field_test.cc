#include "resource/field.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "resource/field_codec.h"
#include "resource/lamp_fixture.h"
#include "resource/queue_settings.h"

namespace duewheel::field_test {
namespace {

using lamp_fixture::everything;
using lamp_fixture::Lamp;

TEST(FieldCodec, returns_what_was_written) {
    for (const Lamp& lamp : {everything(), Lamp{}, Lamp{.fade_ms = -1}, Lamp{.socket = 3}}) {
        const Result<Lamp> read = decode_fields<Lamp>(encode_fields(lamp));
        ASSERT_TRUE(read.ok()) << read.error().message;
        EXPECT_EQ(*read, lamp);
    }
    EXPECT_TRUE(encode_fields(Lamp{}).empty()) << "defaults are not written";
}

TEST(FieldCodec, refuses_what_the_table_does_not_have) {
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x12\x01")).error().code, "newer_format"_code) << "field 9";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x0e\x02")).error().code, "damaged_record"_code)
        << "a third colour";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x0a\x00", 2)).error().code, "damaged_record"_code)
        << "a socket below 0";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x06\x01\x04\x01")).error().code, "damaged_record"_code)
        << "out of order";
}

TEST(FieldCodec, writes_nothing_for_a_resource_without_a_revision) {
    Lamp lamp = everything();
    EXPECT_EQ(decode_revised_fields<Lamp>(encode_revised_fields(lamp)).value(), lamp);
    lamp.revision = 0;
    EXPECT_TRUE(encode_revised_fields(lamp).empty());
    EXPECT_EQ(decode_revised_fields<Lamp>(encode_fields(lamp)).error().code, "damaged_record"_code);
}

TEST(FieldTable, lists_the_members_of_each_group_with_both_names_of_a_duration) {
    const FieldTable& table = fields_of<Lamp>();
    const auto members = [&](std::string_view group) {
        std::string all;
        for (const std::string_view each : table.members_of(group)) all.append(all.empty() ? "" : " ").append(each);
        return all;
    };
    EXPECT_EQ(members(""), "lit fade fade_ms power room colour owners");
    EXPECT_EQ(members("power"), "watts socket");
    EXPECT_EQ(members("weight"), "");
}

TEST(FieldTable, checks_ranges) {
    Lamp lamp = everything();
    const auto none = [](std::string_view) { return std::uint64_t{0}; };
    EXPECT_TRUE(check_ranges(fields_of<Lamp>(), &lamp, none).ok());
    lamp.watts = 101;
    const Status refused = check_ranges(fields_of<Lamp>(), &lamp, none);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "out_of_range"_code);
    EXPECT_EQ(refused.error().message, "`power.watts` must be from 1 to 100");
    EXPECT_EQ(refused.error().field, "power.watts");

    QueueSettings settings;
    settings.rate = RateRule{.count = 1, .per_ms = kRatePerMaxMs + 1};
    const Status inside = check_ranges(fields_of<QueueSettings>(), &settings, none);
    ASSERT_FALSE(inside.ok());
    EXPECT_EQ(inside.error().message, "`rate.per` must be from 1ms to 86400000ms");
    EXPECT_EQ(inside.error().field, "rate.per");
}

// The minimum of 1 was that of the omitted argument `more`, so a row that said anything more allowed 0.
TEST(FieldTable, has_a_minimum_of_1_for_a_count_that_says_no_other) {
    constexpr Field kWatts[] = {count<&Lamp::watts>(1, "watts", "What it draws"),
                                count<&Lamp::watts>(1, "watts", "What it draws", {.page = "what it draws"}),
                                count<&Lamp::watts>(1, "watts", "What it draws", {.min = 0, .max = 9})};
    EXPECT_EQ(kWatts[0].min, 1);
    EXPECT_EQ(kWatts[1].min, 1);
    EXPECT_EQ(kWatts[2].min, 0);
    EXPECT_EQ(by_hand(FieldKind::count, "watts", {}, {.page = "what it draws"}).min, 1);
    EXPECT_EQ(duration<&Lamp::fade_ms>(1, "fade", {}, {.page = "how long"}).min, 0);
}

}  // namespace
}  // namespace duewheel::field_test
