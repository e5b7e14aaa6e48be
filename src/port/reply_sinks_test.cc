#include "port/reply_sinks.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::reply_sinks_test {
namespace {

TEST(ReplySinks, a_reply_reaches_the_sink_whose_token_its_command_had) {
    ReplySinks sinks;
    std::vector<std::pair<std::string, ReplyToken>> received;
    ReplyTokens first = sinks.add([&](ReplyToken token, Reply) { received.emplace_back("first", token); });
    ReplyTokens second = sinks.add([&](ReplyToken token, Reply) { received.emplace_back("second", token); });
    const ReplyToken one = first.next();
    const ReplyToken two = second.next();
    const ReplyToken three = first.next();
    EXPECT_TRUE(one != 0 && one < three) << "tokens of a sink are in order";
    EXPECT_TRUE(first.owns(three) && !first.owns(two) && second.owns(two) && !second.owns(one));
    for (const ReplyToken token : {two, three, one}) sinks.deliver(token, Error{"gone"_code, "Answered by the test."});
    EXPECT_EQ(received,
              (std::vector<std::pair<std::string, ReplyToken>>{{"second", two}, {"first", three}, {"first", one}}));
}

}  // namespace
}  // namespace duewheel::reply_sinks_test
