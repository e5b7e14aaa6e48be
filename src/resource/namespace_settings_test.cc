#include "resource/namespace_settings.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel::namespace_settings_test {
namespace {

TEST(NamespaceSettings, comes_back_from_its_bytes_with_every_limit_apart) {
    const NamespaceSettings settings{7, 1'000, 20, 300, 4'000, 50'000};
    const Result<NamespaceSettings> back = decode_namespace_settings(encode_namespace_settings(settings));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, settings);
    EXPECT_LT(encode_namespace_settings(NamespaceSettings{1}).size(), 4u) << "what is not limited takes no bytes";
}

TEST(NamespaceSettings, is_empty_without_a_revision) {
    EXPECT_EQ(encode_namespace_settings(NamespaceSettings{}), "");
    const Result<NamespaceSettings> none = decode_namespace_settings("");
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, NamespaceSettings{});
}

TEST(NamespaceSettings, a_limit_that_is_not_known_or_cut_bytes_are_refused) {
    std::string newer = encode_namespace_settings(NamespaceSettings{1});
    FieldWriter(newer).number(99, 1);
    EXPECT_EQ(decode_namespace_settings(newer).error().code, "newer_format"_code);
    const std::string whole = encode_namespace_settings({1, 1'000, 0, 0, 0, 0});
    EXPECT_EQ(decode_namespace_settings(whole.substr(0, whole.size() - 1)).error().code, "damaged_record"_code);
    std::string without_revision;
    FieldWriter(without_revision).number(2, 5);
    EXPECT_EQ(decode_namespace_settings(without_revision).error().code, "damaged_record"_code);
}

}  // namespace
}  // namespace duewheel::namespace_settings_test
