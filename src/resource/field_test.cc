// A made-up resource whose table is all that describes it: what a new setting needs is one row.
#include "resource/field.h"

#include <gtest/gtest.h>

#include "resource/field_codec.h"

namespace duewheel {
namespace field_test {

enum class Colour : std::uint8_t { red, blue };

struct Lamp {
    std::uint32_t revision = 0;
    bool lit = false;
    std::uint64_t watts = 0;
    std::int64_t fade_ms = 0;
    std::optional<std::int32_t> socket;
    std::string room;
    Colour colour = Colour::red;
    std::vector<std::string> owners;

    bool operator==(const Lamp&) const = default;
};

constexpr std::string_view kColours[] = {"red", "blue"};
constexpr Field kRows[] = {
    flag<&Lamp::lit>(2, "lit", "Whether it is on"),
    duration<&Lamp::fade_ms>(4, "fade", "How long it takes to go on"),
    count<&Lamp::watts>(3, "power.watts", "What it draws", {.min = 1, .max = 100, .when_absent = "no power"}),
    count<&Lamp::socket>(5, "power.socket", "Where it is plugged in", {}),
    text<&Lamp::room>(6, "room", "Where it stands"),
    word<&Lamp::colour>(7, "colour", "Its colour", kColours),
    names<&Lamp::owners>(8, "owners", "Who may switch it"),
    kept<&Lamp::revision>(1),
};

}  // namespace field_test

template <>
const FieldTable& fields_of<field_test::Lamp>() {
    static const FieldTable table("a lamp holds", field_test::kRows);
    return table;
}

namespace field_test {
namespace {

Lamp everything() {
    return {7, true, 60, 250, 0, "hall", Colour::blue, {"ann", "bob"}};
}

TEST(FieldCodec, returns_what_was_written) {
    for (const Lamp& lamp : {everything(), Lamp{}, Lamp{.fade_ms = -1}, Lamp{.socket = 3}}) {
        const Result<Lamp> read = decode_fields<Lamp>(encode_fields(lamp));
        ASSERT_TRUE(read.ok()) << read.error().message;
        EXPECT_EQ(*read, lamp);
    }
    EXPECT_TRUE(encode_fields(Lamp{}).empty()) << "defaults are not written";
}

TEST(FieldCodec, refuses_what_the_table_does_not_have) {
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x12\x01")).error().code, "newer_format") << "field 9";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x0e\x02")).error().code, "damaged_record") << "a third colour";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x0a\x00", 2)).error().code, "damaged_record")
        << "a socket below 0";
    EXPECT_EQ(decode_fields<Lamp>(std::string_view("\x06\x01\x04\x01")).error().code, "newer_format") << "out of order";
}

TEST(FieldCodec, writes_nothing_for_a_resource_without_a_revision) {
    Lamp lamp = everything();
    EXPECT_EQ(decode_revised_fields<Lamp>(encode_revised_fields(lamp)).value(), lamp);
    lamp.revision = 0;
    EXPECT_TRUE(encode_revised_fields(lamp).empty());
    EXPECT_EQ(decode_revised_fields<Lamp>(encode_fields(lamp)).error().code, "damaged_record");
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
    EXPECT_EQ(refused.error().message, "`power.watts` must be from 1 to 100");
    EXPECT_EQ(refused.error().field, "power.watts");
}

}  // namespace
}  // namespace field_test
}  // namespace duewheel
