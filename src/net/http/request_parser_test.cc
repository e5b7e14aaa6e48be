#include "net/http/request_parser.h"

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "net/http/http_target.h"

namespace duewheel::request_parser_test {
namespace {

using State = RequestParser::State;

// What became of one stream of bytes: a line per request, and the status of the refusal that ended it.
struct Outcome {
    std::vector<std::string> requests;  // "METHOD target|body"
    int refused = 0;
    std::size_t left = 0;  // bytes behind the last complete request

    bool operator==(const Outcome&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
        for (const auto& request : outcome.requests) out << request << "; ";
        return out << "refused " << outcome.refused << ", left " << outcome.left;
    }
};

// Feeds `bytes` in pieces of `piece` bytes, the way a connection does.
Outcome parse(std::string_view bytes, std::size_t piece, const HttpLimits& limits = {}) {
    RequestParser parser(limits);
    Outcome outcome;
    std::string waiting;
    while (!bytes.empty() || !waiting.empty()) {
        const std::size_t before = waiting.size();
        waiting += bytes.substr(0, piece);
        bytes.remove_prefix(std::min(piece, bytes.size()));
        std::size_t consumed = 0;
        const State state = parser.read(waiting, consumed);
        if (state == State::refused) {
            outcome.refused = parser.refusal().status;
            return outcome;
        }
        if (state == State::complete) {
            const HttpRequest& request = parser.request();
            outcome.requests.push_back(std::string(request.method) + " " + std::string(request.target) + "|" +
                                       std::string(request.body));
            parser.reset();
        }
        waiting.erase(0, consumed);
        if (bytes.empty() && consumed == 0 && state == State::need_more && waiting.size() == before) break;
    }
    outcome.left = waiting.size();
    return outcome;
}

// However the bytes are cut, the outcome is the same.
Outcome parse_every_way(std::string_view bytes, const HttpLimits& limits = {}) {
    const Outcome whole = parse(bytes, bytes.size(), limits);
    for (std::size_t piece = 1; piece < std::min<std::size_t>(bytes.size(), 40); ++piece) {
        SCOPED_TRACE("in pieces of " + std::to_string(piece));
        EXPECT_EQ(parse(bytes, piece, limits), whole);
    }
    return whole;
}

int refusal_of(std::string_view bytes, const HttpLimits& limits = {}) {
    const Outcome outcome = parse_every_way(bytes, limits);
    EXPECT_TRUE(outcome.requests.empty()) << outcome;
    return outcome.refused;
}

TEST(RequestParser, reads_requests_one_after_the_other_however_they_are_cut) {
    const Outcome outcome = parse_every_way(
        "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /d HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello"
        "PUT /e HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n"
        "Trailer: t\r\n\r\n"
        "DELETE /f HTTP/1.0\r\n\r\n");
    EXPECT_EQ(outcome, (Outcome{{"GET /a?b=c|", "POST /d|hello", "PUT /e|abc0123456789", "DELETE /f|"}, 0, 0}));
}

// The connection passed it over, but only where both of its bytes came in one packet; else the client got 400.
TEST(RequestParser, an_empty_line_before_a_request_is_skipped_however_it_is_cut) {
    EXPECT_EQ(parse_every_way("\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"),
              (Outcome{{"GET /a|", "GET /b|"}, 0, 0}));
    EXPECT_EQ(refusal_of("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
}

TEST(RequestParser, an_empty_chunked_body_may_come_byte_by_byte) {
    EXPECT_EQ(parse_every_way("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              (Outcome{{"POST /|"}, 0, 0}));
}

TEST(RequestParser, shows_what_the_request_says) {
    const HttpLimits limits;
    RequestParser parser(limits, HttpPeer{"10.0.0.1"});
    const std::string bytes =
        "POST /v1/queues/a%2Fb/messages?x=1&y HTTP/1.1\r\nHost: h:1\r\nX-One:  two words \t\r\nEmpty:\r\n"
        "Content-Length: 2\r\n\r\nhi";
    std::size_t consumed = 0;
    ASSERT_EQ(parser.read(bytes, consumed), State::complete);
    EXPECT_EQ(consumed, bytes.size());
    const HttpRequest& request = parser.request();
    EXPECT_EQ(request.path, "/v1/queues/a%2Fb/messages");
    EXPECT_EQ(request.query, "x=1&y");
    EXPECT_EQ(request.segments, (std::vector<std::string_view>{"v1", "queues", "a%2Fb", "messages"}));
    EXPECT_EQ(request.header("x-ONE"), "two words");
    EXPECT_EQ(request.header("empty"), "");
    EXPECT_EQ(request.header("missing"), std::nullopt);
    EXPECT_EQ(request.body, "hi");
    EXPECT_EQ(request.peer.address, "10.0.0.1");
    EXPECT_GE(request.body.data(), bytes.data()) << "a request that came whole is not copied";
    EXPECT_LT(request.body.data(), bytes.data() + bytes.size());
}

TEST(RequestParser, recognizes_persistent_connections) {
    const auto stays = [](std::string_view version, std::string_view connection) {
        const HttpLimits limits;
        RequestParser parser(limits);
        std::string bytes = "GET / HTTP/" + std::string(version) + "\r\nHost: x\r\n";
        if (!connection.empty()) bytes += "Connection: " + std::string(connection) + "\r\n";
        std::size_t consumed = 0;
        EXPECT_EQ(parser.read(bytes + "\r\n", consumed), State::complete);
        return parser.request().keep_alive;
    };
    EXPECT_TRUE(stays("1.1", ""));
    EXPECT_TRUE(stays("1.1", "keep-alive, x"));
    EXPECT_FALSE(stays("1.1", "x , CLOSE"));
    EXPECT_FALSE(stays("1.0", ""));
    EXPECT_TRUE(stays("1.0", "Keep-Alive"));
    EXPECT_FALSE(stays("1.0", "keep-alive, close"));
}

TEST(RequestParser, refuses_what_two_readers_could_frame_differently) {
    const std::vector<std::pair<std::string, int>> cases = {
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 2\r\n", 400},
        {"Content-Length: 1, 1\r\n", 400},
        {"Content-Length: +1\r\n", 400},
        {"Content-Length: -1\r\n", 400},
        {"Content-Length: 0x1\r\n", 400},
        {"Content-Length: 1 1\r\n", 400},
        {"Content-Length:\r\n", 400},
        {"Content-Length: 18446744073709551617\r\n", 400},
        {"Transfer-Encoding: gzip\r\n", 501},
        {"Transfer-Encoding: gzip, chunked\r\n", 501},
        {"Transfer-Encoding: chunked, chunked\r\n", 501},
        {"Transfer-Encoding: xchunked\r\n", 501},
        {"Transfer-Encoding:\r\n", 501},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding : chunked\r\n", 400},
        {"Content-Length : 1\r\n", 400},
        {" Content-Length: 1\r\n", 400},
        {"X: a\r\n folded\r\n", 400},
        {"X: a\r\n\tfolded\r\n", 400},
        {"X: a\rb\r\n", 400},
        {"X: a\r\r\n", 400},
        {"X: a\nY: b\r\n", 400},
        {"X: a\n", 400},
        {std::string("X: a\0b\r\n", 9), 400},
        {"X: a\x7f\r\n", 400},
        {"X\x01: a\r\n", 400},
        {"X\xc3\xa4: a\r\n", 400},
        {": a\r\n", 400},
        {"no colon\r\n", 400},
        {"Host: y\r\n", 400},
        {"Expect: something\r\n", 417},
    };
    for (const auto& [fields, status] : cases) {
        SCOPED_TRACE(testing::PrintToString(fields));
        EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n"), status);
    }
    EXPECT_EQ(parse_every_way("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nz").requests,
              std::vector<std::string>{"POST /|z"});
}

TEST(RequestParser, refuses_malformed_request_lines) {
    const std::vector<std::pair<std::string, int>> cases = {
        {"GET / HTTP/1.1\n", 400},
        {"GET /\r\n", 400},
        {"GET  HTTP/1.1\r\n", 400},
        {"GET / HTTP/2.0\r\n", 505},
        {"GET / HTTP/1.2\r\n", 505},
        {"GET / HTTP/0.9\r\n", 505},
        {"GET / http/1.1\r\n", 400},
        {"GET / HTTP/1.1 \r\n", 400},
        {"GET /a b HTTP/1.1\r\n", 400},
        {"GET /\tHTTP/1.1\r\n", 400},
        {"G(T / HTTP/1.1\r\n", 400},
        {" GET / HTTP/1.1\r\n", 400},
        {"GET x HTTP/1.1\r\n", 400},
        {"GET * HTTP/1.1\r\n", 400},
        {"GET /#f HTTP/1.1\r\n", 400},
        {"GET /\xc3\xa4 HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.11\r\n", 400},
        {std::string(33, 'A') + " / HTTP/1.1\r\n", 501},
        {"PRI * HTTP/2.0\r\n", 505},
        {"\x16\x03\x01\r\n", 400},
        {"\r\n", 400},
    };
    for (const auto& [line, status] : cases) {
        SCOPED_TRACE(testing::PrintToString(line));
        EXPECT_EQ(refusal_of(line + "Host: x\r\n\r\n"), status);
    }
    EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\n\r\n"), 400) << "HTTP/1.1 without Host";
    EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
    EXPECT_EQ(
        parse_every_way("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\nGET http://h/p?q HTTP/1.1\r\nHost: h\r\n\r\n").requests,
        (std::vector<std::string>{"OPTIONS *|", "GET /p?q|"}));
}

TEST(RequestParser, refuses_malformed_chunks) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::vector<std::string> cases = {
        "\r\n",         "x\r\n",
        "-1\r\n",       "+1\r\n",
        "0x1\r\nz\r\n", " 1\r\nz\r\n",
        "1 \r\nz",      "1\nz\r\n",
        "1\r\nzz",      "1\r\nz\n0\r\n",
        "1\r\nz\rx",    "1;a\nz",
        "1;a\rz",       "0\r\n folded\r",
        "0\r\nT: a\n",  "0\r\nT: a\r\r\n",
        "0\r\n\rx",     "ffffffffffffffff1\r\n",
        "1\r\nz0\r\n",  "0000000000000000\r\n",
    };
    for (const auto& chunks : cases) {
        SCOPED_TRACE(testing::PrintToString(chunks));
        EXPECT_EQ(refusal_of(head + chunks), 400);
    }
    EXPECT_EQ(refusal_of(head + "1;" + std::string(300, 'e')), 400) << "an extension without end";
    EXPECT_EQ(refusal_of(head + "0\r\nT: " + std::string(9000, 't')), 400) << "a trailer without end";
}

TEST(RequestParser, holds_each_limit_to_the_byte) {
    HttpLimits limits;
    limits.target_bytes_max = 20;
    limits.header_bytes_max = 40;
    limits.header_count_max = 3;
    limits.body_bytes_max = 10;
    const auto status = [&](const std::string& bytes) { return parse_every_way(bytes, limits).refused; };
    for (const int over : {-1, 0, 1}) {
        SCOPED_TRACE("limit " + std::to_string(over));
        const auto size = [&](int limit) { return static_cast<std::size_t>(limit + over); };
        const int served = over <= 0 ? 0 : 1;
        EXPECT_EQ(status("GET /" + std::string(size(20) - 1, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"), served * 414);
        // "Host: x\r\n" is 9 bytes, "X: " and line end 5, the empty line 2.
        EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(size(40) - 16, 'v') + "\r\n\r\n"),
                  served * 431);
        std::string fields;
        for (std::size_t i = 0; i < size(3) - 1; ++i) fields += "X:\r\n";
        EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n"), served * 431);
        const std::string body(size(10), 'b');
        EXPECT_EQ(
            status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body),
            served * 413);
        HttpLimits roomy = limits;
        roomy.header_bytes_max = 100;
        const std::string last(size(4), 'c');
        EXPECT_EQ(parse_every_way("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n" +
                                      std::to_string(last.size()) + "\r\n" + last + "\r\n0\r\n\r\n",
                                  roomy)
                      .refused,
                  served * 413);
    }
}

TEST(RequestParser, refuses_a_line_over_its_limit_before_its_end) {
    HttpLimits limits;
    EXPECT_EQ(refusal_of("GET /" + std::string(5000, 'a'), limits), 414);
    EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(9000, 'a'), limits), 431);
}

// Mutated requests, cut at random: no cut may change what they mean, and no bytes may harm the reader (the sanitizers
// watch). The seed of a failure is in its trace.
TEST(RequestParser, any_bytes_mean_the_same_however_they_are_cut) {
    const std::vector<std::string> originals = {
        "GET /a%2Fb?c=d HTTP/1.1\r\nHost: x\r\nX-One: two\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;e=f\r\nabc\r\n0\r\nT: t\r\n\r\n",
    };
    const std::string spice("\r\n\0 \t:;,019afF%/?#\x7f\x80\xff", 22);
    HttpLimits limits;
    limits.body_bytes_max = 50;
    limits.header_bytes_max = 120;
    limits.target_bytes_max = 30;
    int refused = 0, served = 0;
    for (unsigned seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto below = [&](std::size_t bound) { return random() % bound; };
        std::string bytes;
        for (std::size_t count = 1 + below(3); count > 0; --count) bytes += originals[below(originals.size())];
        for (std::size_t edits = below(4); edits > 0; --edits) {
            const std::size_t at = below(bytes.size());
            const char c = spice[below(spice.size())];
            switch (below(3)) {
                case 0:
                    bytes[at] = c;
                    break;
                case 1:
                    bytes.insert(at, 1 + below(3), c);
                    break;
                default:
                    bytes.erase(at, 1 + below(4));
                    break;
            }
        }
        const Outcome whole = parse(bytes, bytes.size(), limits);
        ASSERT_EQ(parse(bytes, 1 + below(20), limits), whole) << testing::PrintToString(bytes);
        ASSERT_EQ(parse(bytes, 1, limits), whole) << testing::PrintToString(bytes);
        (whole.refused != 0 ? refused : served) += 1;
    }
    EXPECT_GT(refused, 2000);
    EXPECT_GT(served, 2000);
}

TEST(RequestParser, recognizes_expect_100_continue) {
    const HttpLimits limits;
    RequestParser parser(limits);
    std::size_t consumed = 0;
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
    EXPECT_EQ(parser.read(head, consumed), State::body_expected);
    EXPECT_EQ(consumed, head.size());
    EXPECT_EQ(parser.read("h", consumed), State::need_more);
    EXPECT_EQ(parser.read("i", consumed), State::complete);
    EXPECT_EQ(parser.request().body, "hi");
    EXPECT_EQ(parser.request().method, "POST");
    parser.reset();
    EXPECT_EQ(parser.read(head + "hi", consumed), State::complete) << "who has sent it all is not told anything";
    parser.reset();
    EXPECT_EQ(
        parser.read("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n", consumed),
        State::refused);
    EXPECT_EQ(parser.refusal().status, 413);
}

TEST(HttpTarget, splits_before_it_decodes) {
    std::vector<std::string_view> parts;
    split_path("/a//b%2Fc/", parts);
    EXPECT_EQ(parts, (std::vector<std::string_view>{"a", "", "b%2Fc", ""}));
    split_path("/", parts);
    EXPECT_EQ(parts, std::vector<std::string_view>{""});
    EXPECT_EQ(*percent_decode("b%2Fc+%c3%A4"), "b/c+\xc3\xa4");
    EXPECT_EQ(percent_encode("b/c \xc3\xa4-._~9"), "b%2Fc%20%C3%A4-._~9");
}

TEST(HttpTarget, refuses_bad_escapes) {
    for (const std::string_view text : {"%", "%2", "a%2", "%zz", "%2x", "%%41", "%-1", "% 1"}) {
        const auto decoded = percent_decode(text);
        ASSERT_FALSE(decoded.ok()) << text;
        EXPECT_EQ(decoded.error().code, "bad_request"_code);
    }
}

TEST(HttpTarget, reads_query_parameters_as_forms_do) {
    const auto parameters = parse_query("a=1&&b=x+y%2Bz&c&=d&e=f=g");
    ASSERT_TRUE(parameters.ok());
    std::string seen;
    for (const auto& [name, value] : *parameters) seen += name + "[" + value + "]";
    EXPECT_EQ(seen, "a[1]b[x y+z]c[][d]e[f=g]");
    EXPECT_TRUE(parse_query("")->empty());
    const auto bad = parse_query("a=1&limit=%2");
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().field, "limit");
}

TEST(HttpMessage, lists_are_searched_by_whole_words) {
    EXPECT_TRUE(list_holds("a, Close ,b", "close"));
    EXPECT_FALSE(list_holds("closed, not-close", "close"));
    EXPECT_FALSE(list_holds("", "close"));
}

}  // namespace
}  // namespace duewheel::request_parser_test
