#include "message/records/record_parts.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::record_parts_test {
namespace {

RecordParts everything() {
    RecordParts parts;
    parts.key = std::string("k\0\xff", 3);
    parts.headers = {{"trace", "1"},
                     {"trace", "2"},
                     {"none", std::nullopt},
                     {"empty", ""},
                     {"", "no name"},
                     {"bytes", std::string("\0\x80", 2)},
                     {"long", std::string(300, 'v')}};
    parts.source = "payments.later/3/1234567";
    return parts;
}

TEST(RecordParts, come_back_as_they_were_written) {
    RecordParts null_value;
    null_value.key = "k";
    null_value.has_null_value = true;
    RecordParts empty_key;
    empty_key.key = "";
    for (const RecordParts& parts : {everything(), null_value, empty_key, RecordParts{}}) {
        const std::string bytes = encode_record_parts(parts);
        EXPECT_TRUE(has_record_parts(bytes));
        const Result<RecordParts> read = decode_record_parts(bytes);
        ASSERT_TRUE(read.ok()) << read.error().message;
        EXPECT_EQ(*read, parts);
    }
    EXPECT_NE(encode_record_parts(empty_key), encode_record_parts({})) << "an empty key is not a null key";
}

TEST(RecordParts, are_told_from_the_json_of_other_headers) {
    EXPECT_FALSE(has_record_parts(""));
    EXPECT_FALSE(has_record_parts(R"({"to":"ann"})"));
    EXPECT_EQ(decode_record_parts(R"({"to":"ann"})").error().code, "damaged_record"_code);
    EXPECT_EQ(decode_record_parts("").error().code, "damaged_record"_code);
}

TEST(RecordParts, that_are_truncated_are_damage) {
    const std::string whole = encode_record_parts(everything());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Result<RecordParts> read = decode_record_parts(whole.substr(0, size));
        if (!read) {
            EXPECT_EQ(read.error().code, "damaged_record"_code) << size;
        } else {
            EXPECT_NE(*read, everything()) << size;
        }
    }
}

TEST(RecordParts, with_sizes_beyond_their_end_are_damage) {
    const std::string headers_tag = "\x01\x09";  // the first byte, and 4 << 1 | 1
    EXPECT_TRUE(decode_record_parts(headers_tag + "\x03\x01n\x01"));
    EXPECT_EQ(decode_record_parts(headers_tag + "\x03\x01n\x01")->headers.at(0).second, "");
    for (const std::string_view headers : {"\x02\x05n", "\x02\x01n", "\x03\x01n\x03"}) {
        EXPECT_EQ(decode_record_parts(headers_tag + std::string(headers)).error().code, "damaged_record"_code);
    }
    const std::string huge = "\x01n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    EXPECT_EQ(decode_record_parts(headers_tag + static_cast<char>(huge.size()) + huge).error().code,
              "damaged_record"_code);
    EXPECT_EQ(decode_record_parts("\x01\x05\x01k").error().code, "damaged_record"_code) << "a key that there is not";
    EXPECT_EQ(decode_record_parts(encode_record_parts({}) + "\xc8\x01\x05").error().code, "newer_format"_code);
}

}  // namespace
}  // namespace duewheel::record_parts_test
