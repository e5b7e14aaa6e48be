#include "net/http/http_server.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "net/loopback_fixture.h"
#include "shared/system_clock.h"

namespace duewheel::http_server_test {
namespace {

using std::chrono::milliseconds;
const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + kStandingText;

TEST(HttpServer, keeps_the_connection_between_requests) {
    LoopbackServer server(echo);
    RawClient client(server.port());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(client.send(post("/a", "hello")));
        EXPECT_EQ(client.answer(), kOk + "Content-Length: 13\r\n\r\nPOST /a|hello");
    }
    const HttpCounters counters = server.counters();
    EXPECT_EQ(counters.connections_accepted, 1u);
    EXPECT_EQ(counters.connections_open, 1u);
    EXPECT_EQ(counters.requests, 3u);
    EXPECT_EQ(counters.bytes_in, 3 * post("/a", "hello").size());
    EXPECT_EQ(counters.bytes_out, 3u * (78 + kStandingText.size()));
}

TEST(HttpServer, knows_who_sent_each_request) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        EXPECT_FALSE(request.peer.is_tls);
        EXPECT_TRUE(request.peer.certificate_names.empty());
        reply.answer({.body = request.peer.address});
    });
    RawClient client(server.port());
    for (int i = 0; i < 2; ++i) {
        client.send(get("/"));
        EXPECT_EQ(body_of(client.answer()), "127.0.0.1");
    }
}

TEST(HttpServer, closes_when_asked_to_and_after_http_1_0) {
    LoopbackServer server(echo);
    RawClient closing(server.port());
    closing.send(get("/a", "Connection: close\r\n") + get("/ignored"));
    EXPECT_EQ(closing.rest(), kOk + "Content-Length: 7\r\nConnection: close\r\n\r\nGET /a|");
    RawClient old(server.port());
    old.send("GET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(body_of(old.rest()), "GET /b|");
    RawClient old_but_staying(server.port());
    for (int i = 0; i < 2; ++i) {
        old_but_staying.send("GET /c HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        EXPECT_NE(old_but_staying.answer().find("Connection: keep-alive\r\n"), std::string::npos);
    }
}

TEST(HttpServer, answers_head_without_a_body) {
    LoopbackServer server(echo);
    RawClient client(server.port());
    client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/b"));
    EXPECT_EQ(client.answer(false), kOk + "Content-Length: 8\r\n\r\n");
    EXPECT_EQ(body_of(client.answer()), "GET /b|");
}

TEST(HttpServer, sends_no_body_and_no_length_with_204) {
    LoopbackServer server([](const HttpRequest&, HttpReply reply) {
        reply.answer({.status = 204, .headers = {{"X-One", "1"}}});
    });
    RawClient client(server.port());
    client.send(get("/"));
    EXPECT_EQ(client.answer(), "HTTP/1.1 204 No Content\r\nX-One: 1\r\n" + kStandingText + "\r\n");
}

TEST(HttpServer, reads_a_chunked_body_sent_in_single_bytes) {
    LoopbackServer server(echo);
    RawClient client(server.port());
    for (const char c :
         std::string("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) {
        ASSERT_TRUE(client.send({&c, 1}));
    }
    EXPECT_EQ(body_of(client.answer()), "POST /c|abc");
}

TEST(HttpServer, tells_a_waiting_client_to_continue_and_in_its_turn) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/first") +
                "POST /second HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 1; }));
    server.on_loop([&] { desk.answer("/first"); });
    EXPECT_EQ(body_of(client.answer()), "/first");
    EXPECT_EQ(client.answer(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("z");
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 1; }));
    server.on_loop([&] { desk.answer("/second"); });
    EXPECT_EQ(body_of(client.answer()), "/second");
}

TEST(HttpServer, answers_leave_in_the_order_of_the_requests) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/1") + get("/2") + get("/3") + get("/4"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 4; }));
    server.on_loop([&] {
        desk.answer("/3");
        desk.answer("/2");
    });
    EXPECT_EQ(server.counters().bytes_out, 0u) << "the first is not answered yet";
    server.on_loop([&] { desk.answer("/1"); });
    for (const auto* expected : {"/1", "/2", "/3"}) EXPECT_EQ(body_of(client.answer()), expected);
    server.on_loop([&] { desk.answer("/4"); });
    EXPECT_EQ(body_of(client.answer()), "/4");
}

// Pipelined requests overtook each other: a lease sent behind a put was answered as if the put had not been sent. Sent
// in one write, in two, and in single bytes, so that what is held back stands in the input or in the parser.
TEST(HttpServer, requests_that_must_not_run_concurrently_wait_for_earlier_responses) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{10'000}}) {
        SCOPED_TRACE("in pieces of " + std::to_string(piece));
        Desk desk;
        std::string seen;
        LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
            seen.append(request.target).append("|").append(request.body).append(" ");
            desk.pending.emplace(std::string(request.target), std::move(reply));
        });
        RawClient client(server.port());
        const std::string requests =
            post("/1", "one") + post("/2", "two") + get("/3") + get("/4") + post("/5", "") + get("/6");
        std::thread sender([&] {
            for (std::size_t at = 0; at < requests.size(); at += piece) {
                EXPECT_TRUE(client.send(std::string_view(requests).substr(at, piece)));
            }
        });
        const auto expect_seen = [&](const std::string& expected, std::vector<std::string> to_answer) {
            ASSERT_TRUE(server.await([&] { return seen.size() >= expected.size(); }));
            server.on_loop([&] {
                EXPECT_EQ(seen, expected);
                seen.clear();
                for (const std::string& target : to_answer) desk.answer(target);
            });
        };
        expect_seen("/1|one ", {"/1"});
        expect_seen("/2|two ", {"/2"});
        expect_seen("/3| /4| ", {"/4", "/3"});
        expect_seen("/5| ", {"/5"});
        expect_seen("/6| ", {"/6"});
        for (const auto* expected : {"/1", "/2", "/3", "/4", "/5", "/6"}) EXPECT_EQ(body_of(client.answer()), expected);
        sender.join();
    }
}

TEST(HttpServer, requests_of_one_group_run_concurrently_and_another_group_waits_for_them) {
    Desk desk;
    LoopbackServer server(desk.handler(), {}, [](const HttpRequest& request) -> HttpRoute {
        return {request.target.starts_with("/put") ? kFirstOwnGroup : kFirstOwnGroup + 1};
    });
    RawClient client(server.port());
    client.send(post("/put1", "") + post("/put2", "") + post("/end1", "") + post("/end2", "") + post("/put3", ""));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() >= 2; }));
    server.on_loop([&] {
        EXPECT_EQ(desk.pending.size(), 2u);
        desk.answer("/put2");
    });
    server.on_loop([&] {
        EXPECT_EQ(desk.pending.size(), 1u) << "the first put is not answered yet";
        desk.answer("/put1");
    });
    ASSERT_TRUE(server.await([&] { return desk.pending.contains("/end2"); }));
    server.on_loop([&] {
        EXPECT_TRUE(desk.pending.contains("/end1"));
        EXPECT_EQ(desk.pending.size(), 2u);
        desk.answer("/end1");
        desk.answer("/end2");
    });
    ASSERT_TRUE(server.await([&] { return desk.pending.contains("/put3"); }));
    server.on_loop([&] { desk.answer("/put3"); });
    for (const auto* expected : {"/put1", "/put2", "/end1", "/end2", "/put3"}) {
        EXPECT_EQ(body_of(client.answer()), expected);
    }
}

TEST(HttpServer, waiting_requests_are_answered_after_the_client_stopped_sending) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(post("/1", "") + get("/2"));
    client.end_sending();
    for (const auto* target : {"/1", "/2"}) {
        ASSERT_TRUE(server.await([&] { return desk.pending.contains(target); }));
        server.on_loop([&] { desk.answer(target); });
    }
    EXPECT_EQ(body_of(client.answer()), "/1");
    EXPECT_EQ(body_of(client.rest()), "/2");
}

TEST(HttpServer, pauses_reading_at_the_pipeline_limit_and_loses_nothing) {
    for (const std::size_t sent : {3u, 4u, 5u, 50u}) {
        SCOPED_TRACE(std::to_string(sent) + " requests, 4 allowed");
        Desk desk;
        HttpLimits limits;
        limits.pipeline_max = 4;
        LoopbackServer server(desk.handler(), limits);
        RawClient client(server.port());
        std::string requests;
        for (std::size_t i = 0; i < sent; ++i) requests += get("/" + std::to_string(i));
        client.send(requests);
        ASSERT_TRUE(server.await([&] { return server.server().counters().bytes_in == requests.size(); }));
        server.on_loop([&] { EXPECT_EQ(desk.pending.size(), std::min<std::size_t>(sent, 4)); });
        for (std::size_t i = 0; i < sent; ++i) {
            const std::string target = "/" + std::to_string(i);
            ASSERT_TRUE(server.await([&] { return desk.pending.contains(target); }));
            server.on_loop([&] {
                EXPECT_LE(desk.pending.size(), 4u);
                desk.answer(target);
            });
            EXPECT_EQ(body_of(client.answer()), target);
        }
    }
}

TEST(HttpServer, a_request_parsed_after_the_hook_runs_it_again) {
    // One at a time: answering the first lets the second in after the turn, and only the turn answers.
    Desk desk;
    HttpLimits limits;
    limits.pipeline_max = 1;
    limits.sweep = std::chrono::hours(1);  // which would bring another turn, too
    EventLoop loop;
    HttpServer server(loop, limits, desk.handler());
    const auto bound = server.listen("127.0.0.1:0");
    ASSERT_TRUE(bound.ok());
    RawClient client(bound->port);
    client.send(get("/1") + get("/2") + get("/3"));
    const EventLoop::TimePoint give_up(std::chrono::nanoseconds(monotonic_now_ns()) + kPatience);
    int answered = 0;
    loop.run([&] {
        for (; !desk.pending.empty(); ++answered) desk.answer(desk.pending.begin()->first);
        if (answered == 3 || monotonic_now_ns() >= give_up.time_since_epoch().count()) loop.stop();
        return give_up;
    });
    ASSERT_EQ(answered, 3);
    for (const auto* expected : {"/1", "/2", "/3"}) EXPECT_EQ(body_of(client.answer()), expected);
}

TEST(HttpServer, many_answers_ready_together_leave_in_order_though_the_buffer_fills) {
    HttpLimits limits;
    limits.output_bytes_max = 10'000;
    const std::string filling(997, 'f');
    LoopbackServer server([&](const HttpRequest& request,
                              HttpReply reply) { reply.answer({.body = std::string(request.target) + filling}); },
                          limits);
    RawClient client(server.port(), 4096);
    constexpr int kRequests = 3000;
    std::string requests;
    for (int i = 1000; i < 1000 + kRequests; ++i) requests += get("/" + std::to_string(i));
    std::thread sender([&] { EXPECT_TRUE(client.send(requests)); });
    for (int i = 1000; i < 1000 + kRequests; ++i) {
        ASSERT_EQ(body_of(client.answer()), "/" + std::to_string(i) + filling);
    }
    sender.join();
}

TEST(HttpServer, a_client_that_closes_while_its_answer_is_pending_is_noticed) {
    for (const bool reset : {false, true}) {
        SCOPED_TRACE(reset ? "reset" : "closed");
        std::optional<HttpReply> kept;
        int told = 0;
        LoopbackServer server([&](const HttpRequest&, HttpReply reply) {
            reply.on_client_gone([&] { ++told; });
            EXPECT_FALSE(reply.client_gone());
            kept = std::move(reply);
        });
        RawClient client(server.port());
        client.send(get("/"));
        ASSERT_TRUE(server.await([&] { return kept.has_value(); }));
        if (reset) {
            client.reset();
        } else {
            client.close();
        }
        ASSERT_TRUE(server.await([&] { return told == 1; }));
        server.on_loop([&] {
            EXPECT_TRUE(kept->client_gone());
            kept->answer({});
            kept.reset();
        });
        ASSERT_TRUE(server.await([&] { return server.server().counters().connections_open == 0; }));
        EXPECT_EQ(server.counters().clients_gone, 1u);
        EXPECT_EQ(told, 1);
    }
}

TEST(HttpServer, a_gone_clients_reply_may_be_dropped_from_its_callback) {
    std::optional<HttpReply> kept;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) {
        kept = std::move(reply);
        kept->on_client_gone([&] { kept.reset(); });
    });
    RawClient client(server.port());
    client.send(get("/"));
    ASSERT_TRUE(server.await([&] { return kept.has_value(); }));
    client.close();
    ASSERT_TRUE(server.await([&] { return server.server().counters().connections_open == 0; }));
    EXPECT_FALSE(kept.has_value());
    EXPECT_EQ(server.counters().answers_dropped, 0u);
}

TEST(HttpServer, dropping_a_gone_clients_reply_loses_no_answer_before_it) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/1") + get("/2") + get("/3"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 3; }));
    client.end_sending();
    ASSERT_TRUE(server.await([&] { return server.server().counters().clients_gone == 1; }));
    server.on_loop([&] {
        desk.pending.erase("/2");
        desk.answer("/3");
        desk.answer("/1");
    });
    EXPECT_EQ(body_of(client.rest()), "/1") << "and nothing after the one that is missing";
}

TEST(HttpServer, a_client_that_only_stopped_sending_is_still_answered) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/1") + get("/2"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 2; }));
    client.end_sending();
    ASSERT_TRUE(server.await([&] { return server.server().counters().clients_gone == 1; }));
    server.on_loop([&] {
        desk.answer("/2");
        desk.answer("/1");
    });
    EXPECT_EQ(body_of(client.answer()), "/1");
    EXPECT_EQ(body_of(client.answer()), "/2");
    EXPECT_EQ(client.rest(), "");
}

TEST(HttpServerDeathTest, a_dropped_reply_is_a_bug_answered_with_500) {
    const auto drop_one = [] {
        LoopbackServer server([](const HttpRequest&, HttpReply) {});
        RawClient client(server.port());
        client.send(get("/"));
        EXPECT_EQ(status_of(client.answer()), 500);
        EXPECT_EQ(server.counters().answers_dropped, 1u);
    };
#ifdef NDEBUG
    drop_one();
#else
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(drop_one(), "destroyed without an answer");
#endif
}

// Everything that a client sends behind the request of a stream is ignored: its response never comes to an end.
TEST(HttpServer, streams_in_chunks_until_it_is_finished) {
    std::optional<HttpStream> stream;
    const HttpRouter alone = [](const HttpRequest&) { return HttpRoute{kAlone}; };
    LoopbackServer server(
        [&](const HttpRequest& request, HttpReply reply) {
            if (request.path != "/events") return echo(request, std::move(reply));
            stream = reply.stream({.content_type = "text/event-stream"});
            EXPECT_TRUE(stream->write("one"));
        },
        {}, alone);
    RawClient client(server.port());
    client.send(get("/before") + get("/events") + get("/behind"));
    EXPECT_EQ(body_of(client.answer()), "GET /before|");
    EXPECT_EQ(client.until("one\r\n"), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + kStandingText +
                                           "Transfer-Encoding: chunked\r\n"
                                           "Connection: close\r\n\r\n3\r\none\r\n");
    EXPECT_EQ(server.counters().streams_open, 1u);
    client.send(get("/later"));
    server.on_loop([&] { EXPECT_TRUE(stream->write("two, two, two, two")); });
    EXPECT_EQ(client.until("two\r\n"), "12\r\ntwo, two, two, two\r\n");
    server.on_loop([&] {
        EXPECT_FALSE(stream->is_over());
        stream->finish();
        EXPECT_TRUE(stream->is_over());
        EXPECT_FALSE(stream->write("three"));
    });
    EXPECT_EQ(client.rest(), "0\r\n\r\n");
    EXPECT_EQ(server.counters().streams_open, 0u);
    EXPECT_EQ(server.counters().requests, 2u);
}

TEST(HttpServer, a_stream_to_an_old_client_ends_with_the_connection) {
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) {
        HttpStream stream = reply.stream({});
        EXPECT_TRUE(stream.write("one"));
        stream.finish();
    });
    RawClient client(server.port());
    client.send("GET / HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.rest(), "HTTP/1.1 200 OK\r\n" + kStandingText + "Connection: close\r\n\r\none");
}

TEST(HttpServer, a_stream_takes_no_more_than_its_limit_for_a_slow_client_and_ends_without_it) {
    std::optional<HttpStream> stream;
    HttpLimits limits;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) { stream = reply.stream({}); }, limits);
    RawClient client(server.port(), 4096);
    client.send(get("/"));
    client.until("\r\n\r\n");
    const std::string piece(10'000, 'p');
    ASSERT_TRUE(server.await([&] {
        server.loop().post([] {});
        return !stream->write(piece);
    })) << "a client that does not read must not fill the memory";
    EXPECT_LE(server.counters().unsent_bytes, limits.stream_bytes_max + piece.size() + 10);
    client.reset();
    ASSERT_TRUE(server.await([&] {
        static_cast<void>(stream->write("p"));
        server.loop().post([] {});
        return stream->is_over();
    }));
    EXPECT_EQ(server.counters().streams_open, 0u);
    EXPECT_EQ(server.counters().clients_gone, 0u) << "that is how streams end";
    server.on_loop([&] { stream.reset(); });
}

TEST(HttpServer, an_unfinished_stream_cuts_the_connection) {
    std::optional<HttpStream> stream;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) {
        stream = reply.stream({});
        EXPECT_TRUE(stream->write("a"));
    });
    RawClient client(server.port());
    client.send(get("/"));
    client.until("1\r\na\r\n");
    server.on_loop([&] { stream.reset(); });
    EXPECT_EQ(client.rest(), "") << "the client can tell that the end is missing";
}

TEST(HttpServer, a_stream_outlives_idle_times_and_ends_if_its_client_reads_nothing) {
    std::optional<HttpStream> stream;
    LoopbackServer server(
        [&](const HttpRequest& request, HttpReply reply) {
            if (request.path == "/events") {
                stream = reply.stream({});
            } else {
                reply.answer({});
            }
        },
        hasty());
    RawClient client(server.port(), 4096);
    client.send(get("/events"));
    client.until("\r\n\r\n");
    RawClient idle(server.port());
    idle.send(get("/"));
    EXPECT_EQ(status_of(idle.rest()), 200) << "ended by the idle timeout, which is that of this stream too";
    server.on_loop([&] { EXPECT_FALSE(stream->is_over()); });
    ASSERT_TRUE(server.await([&] {
        server.loop().post([] {});
        if (!stream->is_over()) static_cast<void>(stream->write(std::string(10'000, 'p')));
        return stream->is_over();
    })) << "by the write deadline";
    EXPECT_EQ(server.counters().timeouts_write, 1u);
}

TEST(HttpServer, refuses_addresses_it_cannot_listen_on_and_says_why) {
    LoopbackServer server(echo);
    server.on_loop([&] {
        const auto code = [&](const std::string& address) {
            const auto bound = server.server().listen(address);
            return bound.ok() ? "ok " + bound->host : std::string(name_of(bound.error().code));
        };
        for (const auto* bad :
             {"", "7420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "1.2.3:1", "localhost.invalid:1",
              "::1:80", "[127.0.0.1]:80", ":80", "127.0.0.1:-1", "203.0.113.1:0"}) {
            EXPECT_EQ(code(bad), "bad_address") << bad;
        }
        EXPECT_EQ(code("localhost:0"), "ok 127.0.0.1");
        const auto taken = server.server().listen("127.0.0.1:" + std::to_string(server.port()));
        ASSERT_TRUE(!taken.ok() && taken.error().code == "port_in_use"_code);
        EXPECT_NE(taken.error().message.find(std::to_string(server.port())), std::string::npos);
    });
}

TEST(HttpServer, an_address_that_is_only_bound_is_ours_and_refuses_clients_until_it_accepts) {
    LoopbackServer server(echo);
    std::uint16_t port = 0;
    server.on_loop([&] { port = server.server().bind("127.0.0.1:0")->port; });
    const auto connects = [port] {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool done = ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        return done;
    };
    EXPECT_FALSE(connects());
    server.on_loop([&] {
        EXPECT_TRUE(server.server().start_accepting().ok());
        EXPECT_TRUE(server.server().start_accepting().ok()) << "once more changes nothing";
    });
    EXPECT_TRUE(connects());
}

TEST(HttpServer, drain_answers_what_was_accepted_and_closes_the_rest) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient idle(server.port()), pending(server.port()), partial(server.port());
    pending.send(get("/1") + get("/2"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 2; }));
    partial.send("POST /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nh");
    ASSERT_TRUE(server.await(
        [&] { return server.server().counters().connections_open == 3 && server.server().counters().bytes_in > 80; }));
    // A part of a request delayed the end by the whole time to drain, and a client that does not close by seconds.
    const std::int64_t began_ns = monotonic_now_ns();
    bool drained = false;
    server.on_loop([&] { server.server().drain(std::chrono::minutes(1), [&] { drained = true; }); });
    EXPECT_EQ(idle.rest(), "");
    EXPECT_FALSE(RawClient(server.port()).connected());
    EXPECT_EQ(partial.rest(), "");
    pending.send(get("/too late"));
    server.on_loop([&] {
        EXPECT_FALSE(drained);
        for (const auto* target : {"/2", "/1"}) desk.answer(target);
    });
    EXPECT_EQ(pending.answer(), "HTTP/1.1 200 OK\r\n" + kStandingText + "Content-Length: 2\r\n\r\n/1");
    EXPECT_EQ(pending.rest(),
              "HTTP/1.1 200 OK\r\n" + kStandingText + "Content-Length: 2\r\nConnection: close\r\n\r\n/2");
    EXPECT_TRUE(server.await([&] { return drained; }));
    EXPECT_LT(std::chrono::nanoseconds(monotonic_now_ns() - began_ns), HttpLimits().linger);
}

TEST(HttpServer, drain_cuts_what_is_left_at_its_deadline) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/1"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 1; }));
    int drained = 0;
    server.on_loop([&] { server.server().drain(milliseconds(10), [&] { ++drained; }); });
    EXPECT_EQ(client.rest(), "");
    EXPECT_TRUE(server.await([&] { return drained == 1; }));
    server.on_loop([&] { desk.answer("/1"); });
}

TEST(HttpServer, drain_of_an_unused_server_ends_at_once) {
    LoopbackServer server(echo);
    bool drained = false;
    server.on_loop([&] { server.server().drain(std::chrono::minutes(1), [&] { drained = true; }); });
    EXPECT_TRUE(server.await([&] { return drained; }));
}

TEST(HttpServer, may_be_destroyed_while_busy_with_replies_outstanding) {
    Desk desk;
    {
        LoopbackServer server(desk.handler());
        std::vector<RawClient> clients;
        for (int i = 0; i < 20; ++i) {
            clients.emplace_back(server.port());
            clients.back().send(get("/" + std::to_string(i)) + get("/more/" + std::to_string(i)) + "GET / HT");
        }
        ASSERT_TRUE(server.await([&] { return desk.pending.size() == 40; }));
        clients.clear();
    }
    for (auto& [target, reply] : desk.pending) {
        EXPECT_TRUE(reply.client_gone());
        reply.answer({.body = target});
    }
}

TEST(HttpServer, handlers_may_be_stopped_while_requests_stream_in) {
    LoopbackServer server(echo);
    std::vector<std::thread> senders;
    for (int i = 0; i < 4; ++i) {
        senders.emplace_back([&] {
            RawClient client(server.port());
            while (client.send(get("/a") + get("/b")) && status_of(client.answer()) == 200 &&
                   status_of(client.answer()) == 200) {
            }
        });
    }
    ASSERT_TRUE(server.await([&] { return server.server().counters().requests > 200; }));
    bool drained = false;
    server.on_loop([&] { server.server().drain(std::chrono::seconds(10), [&] { drained = true; }); });
    EXPECT_TRUE(server.await([&] { return drained; }));
    for (auto& sender : senders) sender.join();
}

}  // namespace
}  // namespace duewheel::http_server_test
