#include "message/records/request_hash.h"

#include <gtest/gtest.h>

namespace duewheel::request_hash_test {
namespace {

// These values stand in logs: a change of them would make every retry that spans an upgrade a conflict.
TEST(RequestHash, is_the_same_in_every_version) {
    EXPECT_EQ(hash_request(""), 0x2d06800538d394c2u);
    EXPECT_EQ(hash_request("{\"body\": \"hello\"}"), 0x054dcf9ceb553623u);
    EXPECT_EQ(hash_request("b", hash_request("a")), 0xe8b979c9572dc50cu);
}

TEST(RequestHash, texts_that_are_cut_elsewhere_differ) {
    EXPECT_NE(hash_request("bc", hash_request("a")), hash_request("c", hash_request("ab")));
}

}  // namespace
}  // namespace duewheel::request_hash_test
