#include "message/records/input_position.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

TEST(InputPosition, is_read_as_it_was_written) {
    for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}) {
        const std::string bytes = encode_input_position(offset);
        EXPECT_FALSE(bytes.empty()) << "an empty value would remove the record";
        const Result<std::int64_t> read = decode_input_position(bytes);
        ASSERT_TRUE(read) << offset;
        EXPECT_EQ(*read, offset);
    }
}

TEST(InputPosition, is_refused_if_it_is_damaged_or_of_a_newer_version) {
    EXPECT_EQ(decode_input_position("").error().code, "damaged_record"_code);
    EXPECT_EQ(decode_input_position("\x02").error().code, "damaged_record"_code);
    std::string negative;
    FieldWriter(negative).signed_number(1, -5);
    EXPECT_EQ(decode_input_position(negative).error().code, "damaged_record"_code);
    std::string newer;
    FieldWriter to(newer);
    to.signed_number(1, 7);
    to.number(2, 1);
    EXPECT_EQ(decode_input_position(newer).error().code, "newer_format"_code);
}

}  // namespace
}  // namespace duewheel
