// The client's reading half: what it takes, and what it refuses because it could be framed in two ways.
#include "net/answer_parser.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::answer_parser_test {
namespace {

using State = AnswerParser::State;

struct Read {
    State state = State::need_more;
    HttpAnswer answer;
    bool keeps_connection = false;
    std::string objection;
    std::string left;  // of the bytes
};

// Feeds the bytes in pieces, the way a connection does, and then its end.
Read read(std::string_view bytes, std::size_t piece, std::string_view method = "GET", bool ends = true) {
    AnswerParser parser(method);
    Read read;
    std::string waiting;
    while (!bytes.empty() && read.state == State::need_more) {
        waiting += bytes.substr(0, piece);
        bytes.remove_prefix(std::min(piece, bytes.size()));
        std::size_t consumed = 0;
        read.state = parser.read(waiting, consumed);
        waiting.erase(0, consumed);
    }
    if (ends && read.state == State::need_more) read.state = parser.end();
    read.answer = parser.answer();
    read.keeps_connection = parser.keeps_connection();
    read.objection = parser.objection();
    read.left = waiting + std::string(bytes);
    return read;
}

std::string_view objection_to(const std::string& fields) {
    static std::string kept;
    const Read whole = read("HTTP/1.1 200 OK\r\n" + fields + "\r\n", 1000);
    EXPECT_EQ(whole.state, State::refused) << fields;
    return kept = whole.objection;
}

TEST(AnswerParser, reads_an_answer_however_it_is_cut) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP", "abc"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nT: t\r\n\r\nHTTP", "abc"},
        {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 201\r\nContent-Length: 0\r\n\r\nHTTP", ""},
        {"HTTP/1.1 204 No Content\r\nX: y\r\n\r\nHTTP", ""},
    };
    for (const auto& [bytes, body] : cases) {
        for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
            const Read answer = read(bytes, piece);
            ASSERT_EQ(answer.state, State::complete) << bytes << " in pieces of " << piece;
            EXPECT_EQ(answer.answer.body, body);
            EXPECT_EQ(answer.left, "HTTP") << "what follows is not consumed";
            EXPECT_TRUE(answer.keeps_connection);
        }
    }
}

TEST(AnswerParser, the_answer_to_a_head_request_has_no_body_whatever_its_length) {
    const Read answer = read("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n", 7, "HEAD", false);
    EXPECT_EQ(answer.state, State::complete);
    EXPECT_EQ(answer.answer.header("content-length"), "900");
}

TEST(AnswerParser, a_body_without_a_length_ends_with_the_connection) {
    const Read answer = read("HTTP/1.1 200 OK\r\n\r\nabc", 4);
    EXPECT_EQ(answer.state, State::complete);
    EXPECT_EQ(answer.answer.body, "abc");
    EXPECT_FALSE(answer.keeps_connection);
    EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 4).state, State::refused);
    EXPECT_EQ(read("HTTP/1.1 200 OK\r\n", 4).state, State::refused);
}

TEST(AnswerParser, knows_when_the_connection_goes) {
    EXPECT_FALSE(read("HTTP/1.1 204 x\r\nConnection: x, Close\r\n\r\n", 100).keeps_connection);
    EXPECT_FALSE(read("HTTP/1.0 204 x\r\n\r\n", 100).keeps_connection);
}

// The first of two lengths counted and a coding of any name was read as chunks: what was left of the body would have
// been the answer to the next request on the connection.
TEST(AnswerParser, refuses_what_could_be_framed_in_two_ways) {
    for (const char* fields :
         {"Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
          "Content-Length: +1\r\n", "Content-Length: 1, 1\r\n", "Content-Length:\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}) {
        EXPECT_EQ(objection_to(fields), "its answer has no clear length") << fields;
    }
    EXPECT_EQ(objection_to("Transfer-Encoding: gzip\r\n"), "its answer has an unknown coding");
    EXPECT_EQ(read("HTTP/1.1 200\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", 9).answer.body, "ab");
}

TEST(AnswerParser, refuses_what_is_no_http) {
    for (const char* bytes : {"SSH-2.0-x\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
                              "HTTP/1.1 099 x\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
                              "HTTP/1.x 200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n"}) {
        const Read answer = read(bytes, 100);
        EXPECT_EQ(answer.state, State::refused) << bytes;
        EXPECT_EQ(answer.objection, "its answer is not HTTP/1.1") << bytes;
    }
}

TEST(AnswerParser, holds_its_limits) {
    AnswerLimits limits;
    limits.body_bytes_max = 3;
    for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nabcd",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n"}) {
        AnswerParser parser("GET", limits);
        std::size_t consumed = 0;
        EXPECT_EQ(parser.read(bytes, consumed), State::refused) << bytes;
        EXPECT_EQ(parser.objection(), "its answer is too large");
    }
}

}  // namespace
}  // namespace duewheel::answer_parser_test
