#include "beanstalk/beanstalk_command.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::beanstalk_command_test {
namespace {

// A line for each command and each refusal in `bytes`, which come in pieces of `piece`.
std::vector<std::string> parse(std::string_view bytes, std::size_t piece) {
    BeanstalkParser parser(10);
    std::vector<std::string> parsed;
    while (!bytes.empty()) {
        std::string_view part = bytes.substr(0, piece);
        bytes.remove_prefix(part.size());
        while (const auto next = parser.read(part)) {
            if (std::holds_alternative<OtherProtocol>(*next)) {
                parsed.emplace_back("other protocol");
                return parsed;
            }
            if (const auto* refusal = std::get_if<std::string_view>(&*next)) {
                parsed.emplace_back(*refusal);
                continue;
            }
            const auto& command = std::get<BeanstalkCommand>(*next);
            parsed.push_back(std::to_string(static_cast<int>(command.verb)) + " id=" + std::to_string(command.id) +
                             " pri=" + std::to_string(command.priority) + " delay=" + std::to_string(command.delay_s) +
                             " ttr=" + std::to_string(command.ttr_s) + " n=" + std::to_string(command.number) +
                             " timeout=" + std::to_string(command.timeout_s) + " tube=" + command.tube +
                             " body=" + command.body);
        }
    }
    return parsed;
}

BeanstalkCommand command(const std::string& line) {
    BeanstalkParser parser(10);
    std::string_view bytes = line;
    const auto parsed = parser.read(bytes);
    if (!parsed || !std::holds_alternative<BeanstalkCommand>(*parsed)) {
        ADD_FAILURE() << "no command: " << line;
        return {};
    }
    return std::get<BeanstalkCommand>(*parsed);
}

TEST(BeanstalkParser, reads_the_arguments_of_each_command) {
    const BeanstalkCommand put = command("put 4294967295 2 3 4\r\na\r\nb\r\n");
    EXPECT_EQ(put.verb, BeanstalkVerb::put);
    EXPECT_EQ(put.priority, 4294967295U);
    EXPECT_EQ(put.delay_s, 2U);
    EXPECT_EQ(put.ttr_s, 3U);
    EXPECT_EQ(put.body, "a\r\nb");
    EXPECT_EQ(command("reserve\r\n").verb, BeanstalkVerb::reserve);
    EXPECT_EQ(command("reserve-with-timeout -1\r\n").timeout_s, -1);
    EXPECT_EQ(command("reserve-job 7\r\n").verb, BeanstalkVerb::reserve_job);
    EXPECT_EQ(command("delete   18446744073709551615\r\n").id, 18446744073709551615U);
    const BeanstalkCommand release = command("release 1 2 3\r\n");
    EXPECT_EQ(release.verb, BeanstalkVerb::release);
    EXPECT_EQ(release.priority, 2U);
    EXPECT_EQ(release.delay_s, 3U);
    EXPECT_EQ(command("kick-job 5\r\n").verb, BeanstalkVerb::kick_job);
    EXPECT_EQ(command("kick 5\r\n").number, 5U);
    EXPECT_EQ(command("use a-Z0+/;.$_()\r\n").tube, "a-Z0+/;.$_()");
    EXPECT_EQ(command("pause-tube  t 9\r\n").delay_s, 9U);
    EXPECT_EQ(command("peek-ready\r\n").verb, BeanstalkVerb::peek_ready);
    EXPECT_EQ(command("quit\r\n").verb, BeanstalkVerb::quit);
}

TEST(BeanstalkParser, recognizes_other_protocols_however_long_their_lines_are) {
    const std::vector<std::string> kOther = {"other protocol"};
    const std::string kLong(300, 'a');
    for (const std::string& line : {std::string("POST / HTTP/1.1"), "GET /" + kLong + " HTTP/1.1", kLong, std::string(),
                                    std::string("\x16\x03\x01\0\0", 5), std::string("Stats")}) {
        for (const std::size_t piece : {1UL, 7UL, 1'000UL}) {
            EXPECT_EQ(parse(line + "\r\nstats\r\n", piece), kOther) << line;
        }
    }
    const std::string kStats = parse("stats\r\n", 100).front();
    for (const std::string& line :
         {std::string("HOST: x"), "Host: " + kLong, "GET /" + kLong, std::string("use x HTTP/1.1")}) {
        EXPECT_EQ(parse("stats\r\n" + line + "\r\nstats\r\n", 9), (std::vector{kStats, kOther.front()})) << line;
    }
}

TEST(BeanstalkParser, continues_behind_what_it_refuses) {
    const std::string bytes =
        "stats\r\nnonsense\r\nput 1 2 3 11\r\n12345678901\r\nput 1 2 3 2\r\nabcdput 1 2 3 2x\r\n" +
        std::string(300, 'x') + "\r\nuse -a\r\ndelete 1x\r\nstats\r\n";
    EXPECT_EQ(parse(bytes, bytes.size()),
              (std::vector<std::string>{parse("stats\r\n", 100).front(), "UNKNOWN_COMMAND\r\n", "JOB_TOO_BIG\r\n",
                                        "EXPECTED_CRLF\r\n", "BAD_FORMAT\r\n", "BAD_FORMAT\r\n", "BAD_FORMAT\r\n",
                                        "BAD_FORMAT\r\n", parse("stats\r\n", 100).front()}));
}

TEST(BeanstalkParser, gives_the_same_however_the_bytes_are_cut) {
    std::mt19937 random(1);
    const std::vector<std::string> parts{"put 1 0 1 3\r\nabc\r\n",
                                         "put 1 0 1 0\r\n\r\n",
                                         "put 1 0 1 11\r\n",
                                         "reserve\r\n",
                                         "\r",
                                         "\n",
                                         "\r\n",
                                         "x",
                                         std::string(220, 'y'),
                                         "use t\r\n",
                                         "delete 12\r\n",
                                         "put 1 0 1 2\r\n\r\n\r\n"};
    for (int round = 0; round < 2'000; ++round) {
        std::string bytes;
        for (int i = 0; i < 12; ++i) bytes += parts[random() % parts.size()];
        const std::vector<std::string> whole = parse(bytes, bytes.size());
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}}) {
            ASSERT_EQ(parse(bytes, piece), whole) << bytes;
        }
    }
}

TEST(BeanstalkParser, skips_the_rest_of_a_job_that_was_dropped) {
    BeanstalkParser parser(10);
    std::string_view half = "put 1 0 1 10\r\n1234";
    EXPECT_FALSE(parser.read(half));
    EXPECT_EQ(parser.held_bytes(), 4U);
    parser.drop_job();
    EXPECT_EQ(parser.held_bytes(), 0U);
    std::string_view rest = "567890\r\nstats\r\n";
    EXPECT_EQ(std::get<std::string_view>(parser.read(rest).value()), "OUT_OF_MEMORY\r\n");
    parser.drop_job();
    EXPECT_EQ(std::get<BeanstalkCommand>(parser.read(rest).value()).verb, BeanstalkVerb::stats);
}

TEST(BeanstalkParser, keeps_little_of_a_line_without_an_end) {
    BeanstalkParser parser(10);
    for (int i = 0; i < 100; ++i) {
        std::string_view bytes = i == 0 ? "use " : "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
        EXPECT_FALSE(parser.read(bytes));
        EXPECT_TRUE(bytes.empty());
    }
    EXPECT_LE(parser.held_bytes(), 300U);
}

}  // namespace
}  // namespace duewheel::beanstalk_command_test
