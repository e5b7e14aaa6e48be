#include "http_api/calls/json_log_line.h"

#include <limits>

#include <gtest/gtest.h>

namespace duewheel::json_log_line_test {
namespace {

std::string line(std::string_view message, LogSink::Fields fields = {}) {
    return json_log_line(LogLevel::warning, "queue_full", message, {fields.begin(), fields.size()});
}

TEST(JsonLogLine, holds_level_event_sentence_and_each_field_by_its_type) {
    EXPECT_EQ(line("The queue is full.", {{"queue", "mail"},
                                          {"length", 9},
                                          {"least", std::numeric_limits<std::int64_t>::min()},
                                          {"max", std::numeric_limits<std::uint64_t>::max()},
                                          {"paused", false}}),
              R"({"level":"warning","event":"queue_full","message":"The queue is full.","queue":"mail","length":9,)"
              R"("least":-9223372036854775808,"max":18446744073709551615,"paused":false})");
    EXPECT_EQ(line("Full."), R"({"level":"warning","event":"queue_full","message":"Full."})");
}

TEST(JsonLogLine, stays_one_valid_line_for_any_input) {
    EXPECT_EQ(line("a\n\"b\"\\", {{"k\n", std::string_view("\x00\x1b", 2)}, {"name", "Zo\xc3\xab"}, {"cut", "a\xc3"}}),
              "{\"level\":\"warning\",\"event\":\"queue_full\",\"message\":\"a\\n\\\"b\\\"\\\\\",\"k\\n\":"
              "\"\\u0000\\u001b\",\"name\":\"Zo\xc3\xab\",\"cut\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace duewheel::json_log_line_test
