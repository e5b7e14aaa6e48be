#include "resource/kafka_target.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "resource/field_codec.h"

namespace duewheel::kafka_target_test {
namespace {

TEST(KafkaTarget, comes_back_as_it_was_written) {
    const std::int32_t last = std::numeric_limits<std::int32_t>::max();
    for (const KafkaTarget& target :
         {KafkaTarget{.topic = "payments"}, KafkaTarget{.topic = "a.b_c-D9", .key = "k", .partition = 0},
          KafkaTarget{.topic = "t", .partition = last, .exactly_once = false},
          KafkaTarget{.topic = std::string(kKafkaTopicBytesMax, 't'), .key = std::string(kKafkaKeyBytesMax, 'k')}}) {
        const std::string bytes = encode_fields(target);
        const Result<KafkaTarget> read = decode_fields<KafkaTarget>(bytes);
        ASSERT_TRUE(read.ok()) << target.topic << ": " << read.error().message;
        EXPECT_EQ(*read, target);
        EXPECT_LE(bytes.size(), kKafkaTargetBytesMax);
    }
}

TEST(KafkaTarget, has_a_topic_name_that_kafka_accepts) {
    for (const std::string_view name : {"a", "payments.later", "A_b-9", "..."}) EXPECT_TRUE(is_kafka_topic_name(name));
    for (const std::string_view name : {"", ".", "..", "a b", "a/b", "a:b", "\xc3\xa4"}) {
        EXPECT_FALSE(is_kafka_topic_name(name)) << name;
    }
    EXPECT_TRUE(is_kafka_topic_name(std::string(249, 'a')));
    EXPECT_FALSE(is_kafka_topic_name(std::string(250, 'a')));
}

TEST(KafkaTarget, that_makes_no_sense_is_damage) {
    EXPECT_EQ(decode_fields<KafkaTarget>("").error().code, "damaged_record"_code);
    EXPECT_EQ(decode_fields<KafkaTarget>(encode_fields(KafkaTarget{.topic = "a/b"})).error().code,
              "damaged_record"_code);
    EXPECT_EQ(decode_fields<KafkaTarget>(encode_fields(KafkaTarget{.topic = "a", .key = std::string(1025, 'k')}))
                  .error()
                  .code,
              "damaged_record"_code);
    const std::string bytes = encode_fields(KafkaTarget{.topic = "a"});
    // An empty key was read as a key, and written again it was none: one setting had two byte forms.
    EXPECT_EQ(decode_fields<KafkaTarget>(bytes + "\x05" + std::string(1, '\0')).error().code, "damaged_record"_code);
    const std::string partition_tag = "\x06";  // 3 << 1
    EXPECT_EQ(decode_fields<KafkaTarget>(bytes + partition_tag + "\x01")->partition, 0);
    EXPECT_EQ(decode_fields<KafkaTarget>(bytes + partition_tag + std::string(1, '\0')).error().code,
              "damaged_record"_code);
    EXPECT_EQ(decode_fields<KafkaTarget>(bytes + partition_tag + "\x81\x80\x80\x80\x08").error().code,
              "damaged_record"_code)
        << "the partition 2^31";
    EXPECT_EQ(decode_fields<KafkaTarget>(bytes + "\xc8\x01\x05").error().code, "newer_format"_code);
}

}  // namespace
}  // namespace duewheel::kafka_target_test
