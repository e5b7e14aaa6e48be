#include "server/process/server_log.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace duewheel::server_log_test {
namespace {

// What the log writes, with its time as TIME.
template <class Write>
std::string written(const LogOptions& options, Write write) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ServerLog log(options, ends[1]);
    write(log);
    ::close(ends[1]);
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], text.data(), text.size()), 0)));
    ::close(ends[0]);
    const std::string shape = "dddd-dd-ddTdd:dd:dd.ddd+05:45";
    for (std::size_t at = 0; at + shape.size() <= text.size(); ++at) {
        bool fits = true;
        for (std::size_t i = 0; fits && i < shape.size(); ++i) {
            const char c = text[at + i];
            fits = shape[i] == 'd' ? c >= '0' && c <= '9' : c == shape[i];
        }
        if (fits) text.replace(at, shape.size(), "TIME");
    }
    return text;
}

class ServerLogTest : public testing::Test {
  protected:
    ServerLogTest() {
        ::setenv("TZ", "Asia/Kathmandu", 1);
        ::tzset();
    }
    ~ServerLogTest() override {
        ::unsetenv("TZ");
        ::tzset();
    }
};

TEST_F(ServerLogTest, drops_events_below_its_level_and_writes_one_line_for_each_other_event) {
    const auto text = written({.level = LogLevel::warning}, [](LogSink& log) {
        log.debug("a", "No.");
        log.info("b", "No.");
        log.warning("c", "Yes.");
        log.error("d", "Yes.", {{"k", 1}});
    });
    EXPECT_EQ(text, "TIME warning c: Yes.\nTIME error d: Yes. k=1\n");
}

TEST_F(ServerLogTest, writes_an_object_of_json_that_begins_with_the_time) {
    const auto text = written({.format = LogFormat::json}, [](LogSink& log) { log.info("b", "Yes.", {{"k", "x"}}); });
    EXPECT_EQ(text, R"({"time":"TIME","level":"info","event":"b","message":"Yes.","k":"x"})"
                    "\n");
}

TEST_F(ServerLogTest, drops_a_line_that_cannot_be_written) {
    ServerLog log({}, -1);
    log.error("lost", "No file is open here.");
}

}  // namespace
}  // namespace duewheel::server_log_test
