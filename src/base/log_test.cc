#include "base/log.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/recording_log.h"

namespace duewheel {
namespace {

std::string line(LogLevel level, std::string_view event, std::string_view message, LogSink::Fields fields = {}) {
    return log_line(level, event, message, {fields.begin(), fields.size()});
}

TEST(Log, a_line_has_level_event_sentence_and_fields) {
    EXPECT_EQ(line(LogLevel::warning, "queue_full", "The queue is full.",
                   {{"queue", "mail"},
                    {"length", 9},
                    {"least", std::numeric_limits<std::int64_t>::min()},
                    {"most", std::numeric_limits<std::uint64_t>::max()},
                    {"paused", false}}),
              "warning queue_full: The queue is full. queue=mail length=9 least=-9223372036854775808 "
              "most=18446744073709551615 paused=false");
    EXPECT_EQ(line(LogLevel::info, "ready", "Ready."), "info ready: Ready.");
}

TEST(Log, a_value_that_is_not_a_plain_word_is_quoted) {
    EXPECT_EQ(line(LogLevel::info, "e", "m", {{"a", ""}, {"b", "two words"}, {"c", "say \"hi\""}, {"d", "x=y"}}),
              "info e: m a=\"\" b=\"two words\" c=\"say \\\"hi\\\"\" d=\"x=y\"");
    EXPECT_EQ(line(LogLevel::info, "e", "m", {{"path", "/data/a-1.log"}, {"at", "127.0.0.1:7420"}}),
              "info e: m path=/data/a-1.log at=127.0.0.1:7420");
}

TEST(Log, text_from_outside_cannot_forge_a_line_or_drive_a_terminal) {
    using namespace std::string_view_literals;
    EXPECT_EQ(line(LogLevel::error, "e\n", "one\nerror two: \x1b[2J", {{"k", "a\r\nb\0c\x7f"sv}}),
              "error e\\n: one\\nerror two: \\x1b[2J k=\"a\\x0d\\nb\\x00c\\x7f\"");
    EXPECT_EQ(line(LogLevel::error, "e",
                   "\xc2\x9b"
                   "31m \xc2"),
              "error e: \\xc2\\x9b31m \xc2");
    EXPECT_EQ(line(LogLevel::error, "e", std::string_view("cut \xc2\x9b", 5)), "error e: cut \xc2");
    EXPECT_EQ(line(LogLevel::error, "e", "back\\n", {{"k", "\\"}}), "error e: back\\\\n k=\"\\\\\"");
    EXPECT_EQ(line(LogLevel::info, "e", "Grüße, \"Zoë\""), "info e: Grüße, \"Zoë\"");
}

TEST(Log, a_sink_given_by_reference_gets_the_events) {
    RecordingLog log;
    LogSink& sink = log;
    sink.info("began", "It began.", {{"shard", 3u}});
    sink.error("failed", "It failed.");
    EXPECT_EQ(log.lines(), (std::vector<std::string>{"info began: It began. shard=3", "error failed: It failed."}));
    EXPECT_TRUE(log.holds("failed"));
    EXPECT_FALSE(log.holds("fail"));
}

}  // namespace
}  // namespace duewheel
