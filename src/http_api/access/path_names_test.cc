#include "http_api/access/path_names.h"

#include <string>

#include <gtest/gtest.h>

#include "http_api/command_fixture.h"

namespace duewheel::path_names_test {
namespace {

template <class Value>
std::string said(const Result<Value>& read) {
    if (!read) return code_and_field(read.error());
    if constexpr (std::is_same_v<Value, MessageId>)
        return std::to_string(*read);
    else
        return *read;
}

TEST(PathNames, are_decoded_and_checked_as_names_of_their_owner) {
    const HttpApiOptions& options = kDefaultApiOptions;
    const CallPath good{CallPath::What::queue, "te%61m", "a%2Fb"};
    EXPECT_EQ(said(read_namespace(good, options)), "team");
    EXPECT_EQ(said(read_queue(good, options)), "a/b");
    EXPECT_EQ(said(read_schedule_name(good, options)), "a/b");
    EXPECT_EQ(said(read_watchdog_name(good, options)), "a/b");
    const CallPath bad{CallPath::What::queue, "-", "%07"};
    EXPECT_EQ(said(read_namespace(bad, options)), "bad_namespace namespace");
    EXPECT_EQ(said(read_queue(bad, options)), "bad_queue_name queue");
    EXPECT_EQ(said(read_schedule_name(bad, options)), "bad_schedule_name schedule");
    EXPECT_EQ(said(read_watchdog_name(bad, options)), "bad_watchdog_name watchdog");
    EXPECT_EQ(said(read_queue({CallPath::What::queue, "default", "a%2"}, options)), "bad_path ");
    HttpApiOptions shorter;
    shorter.queue_name_bytes_max = 2;
    EXPECT_EQ(said(read_queue(good, shorter)), "bad_queue_name queue");
}

TEST(PathNames, an_id_is_a_positive_integer_without_leading_zeros) {
    const auto id = [](std::string_view text) { return said(read_message_id({CallPath::What::message, "", text})); };
    EXPECT_EQ(id("1024"), "1024");
    EXPECT_EQ(id("1%30"), "10");
    EXPECT_EQ(id(std::to_string(kMessageIdMax)), std::to_string(kMessageIdMax));
    for (const char* text : {"0", "01", "-1", "+1", "1x", "x", "1.0", "18446744073709551616", "%20"}) {
        EXPECT_EQ(id(text), "bad_id id") << text;
    }
    EXPECT_EQ(id(std::to_string(kMessageIdMax + 1)), "bad_id id");
}

}  // namespace
}  // namespace duewheel::path_names_test
