// How the server protects itself: limits, deadlines, and clients that are too many, too slow or send too much.
#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "net/http/http_server.h"
#include "net/loopback_fixture.h"
#include "shared/system_clock.h"

namespace duewheel::http_server_defence_test {
namespace {

using std::chrono::milliseconds;

TEST(HttpServerDefence, stops_reading_from_a_client_that_does_not_read) {
    HttpLimits limits = hasty();
    limits.output_bytes_max = 50'000;
    LoopbackServer server(
        [&](const HttpRequest&, HttpReply reply) { reply.answer({.body = std::string(10'000, 'x')}); }, limits);
    RawClient client(server.port(), 4096);
    std::string requests;
    for (int i = 0; i < 5000; ++i) requests += get("/");
    // The kernel may take all of it or not; either way the server reads only a part.
    std::thread sender([&] { (void)client.send(requests); });
    EXPECT_TRUE(server.await([&] {
        return server.server().counters().connections_open == 0 && server.server().counters().connections_accepted == 1;
    }));
    sender.join();
    const HttpCounters counters = server.counters();
    EXPECT_EQ(counters.timeouts_write, 1u);
    EXPECT_LT(counters.requests, 5000u) << "answers pile up in memory";
}

// As many reads as may be pipelined were worked on, and their answers prepared, before the first counted as unsent.
TEST(HttpServerDefence, works_on_few_reads_of_one_connection_at_a_time) {
    Desk desk;
    HttpLimits limits;
    limits.reads_max = 3;
    LoopbackServer server(desk.handler(), limits);
    RawClient client(server.port());
    std::string requests;
    for (int i = 0; i < 7; ++i) requests += get("/" + std::to_string(i));
    client.send(requests);
    for (const int first : {0, 3, 6}) {
        const int last = std::min(first + 3, 7);
        ASSERT_TRUE(server.await([&] { return desk.pending.size() == static_cast<std::size_t>(last - first); }));
        EXPECT_EQ(server.counters().requests, static_cast<std::uint64_t>(last)) << "no more are handed over";
        for (int i = first; i < last; ++i) {
            const std::string path = "/" + std::to_string(i);
            server.on_loop([&] { desk.answer(path); });
            EXPECT_EQ(body_of(client.answer()), path);
        }
    }
}

// The requests that are handled between two iterations of a loop.
class RequestsInTurn final : public AfterTurn {
  public:
    bool after_turn() override {
        most = std::max(most, std::exchange(now, 0));
        return false;
    }
    int now = 0, most = 0;
};

// All requests that a connection had sent, 64 KiB at a time, were handled before the loop went on to other connections.
// A put beside a client that floods waited for hundreds of its requests, of each of its connections.
TEST(HttpServerDefence, a_connection_that_sends_many_requests_takes_turns_with_others) {
    constexpr int kRequests = 2'000, kPerTurn = 64;
    RequestsInTurn requests;
    LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
        ++requests.now;
        echo(request, std::move(reply));
    });
    server.on_loop([&] { server.loop().add(requests); });
    RawClient client(server.port());
    std::string many;
    for (int i = 0; i < kRequests; ++i) many += get("/");
    client.send(many);
    client.end_sending();
    const std::string answers = client.rest();
    server.on_loop([&] { server.loop().remove(requests); });
    int found = 0;
    for (auto at = answers.find("HTTP/1.1 200"); at != std::string::npos; at = answers.find("HTTP/1.1 200", at + 1))
        ++found;
    EXPECT_EQ(found, kRequests);
    // One turn while sockets are read, and that of the next iteration when its output is sent.
    EXPECT_LE(requests.most, 2 * kPerTurn);
}

// What waits for its turn has arrived in full.
TEST(HttpServerDefence, a_server_that_drains_answers_requests_that_wait_for_their_turn) {
    constexpr int kRequests = 300;
    std::atomic<bool> drained{false};
    std::optional<LoopbackServer> server;
    server.emplace([&](const HttpRequest& request, HttpReply reply) {
        if (request.path == "/drain") {
            server->loop().post([&] { server->server().drain(kPatience, [&] { drained = true; }); });
        }
        echo(request, std::move(reply));
    });
    RawClient client(server->port());
    std::string many = get("/drain");
    for (int i = 1; i < kRequests; ++i) many += get("/" + std::to_string(i));
    // In one piece, which the server reads at once.
    client.send(many);
    const std::string answers = client.rest();
    EXPECT_NE(answers.find("GET /" + std::to_string(kRequests - 1) + "|"), std::string::npos);
    client.close();
    EXPECT_TRUE(server->await([&] { return drained.load(); }));
}

TEST(HttpServerDefence, cuts_the_clients_with_the_most_unread_bytes_before_memory_is_exhausted) {
    HttpLimits limits;
    limits.output_bytes_max = 50'000'000;
    limits.unsent_bytes_max = 30'000'000;
    LoopbackServer server(
        [&](const HttpRequest& request, HttpReply reply) {
            reply.answer({.body = std::string(request.path == "/large" ? 1'000'000 : 10, 'x')});
        },
        limits);
    RawClient modest(server.port());
    RawClient hoarder(server.port(), 4096);
    std::string requests;
    for (int i = 0; i < 45; ++i) requests += get("/large");
    (void)hoarder.send(requests);
    EXPECT_TRUE(server.await([&] { return server.server().counters().cut_unread == 1; }));
    EXPECT_EQ(server.counters().connections_open, 1u);
    EXPECT_EQ(server.counters().unsent_bytes, 0u);
    modest.send(get("/large"));
    EXPECT_EQ(body_of(modest.answer()).size(), 1'000'000u);
}

TEST(HttpServerDefence, sends_errors_as_problem_documents_and_closes) {
    HttpLimits limits;
    limits.body_bytes_max = 10;
    LoopbackServer server(echo, limits);
    const std::vector<std::pair<std::string, int>> cases = {
        {"nonsense\r\n\r\n", 400},
        {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
        {get("/" + std::string(5000, 'a')), 414},
        {get("/", "X: " + std::string(9000, 'a') + "\r\n"), 431},
        {get("/", "Transfer-Encoding: gzip\r\n"), 501},
        {get("/", "Expect: magic\r\n"), 417},
        {get("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
        {post("/", "12345678901"), 413},
    };
    for (const auto& [request, status] : cases) {
        RawClient client(server.port());
        client.send(get("/before") + request + get("/smuggled"));
        EXPECT_EQ(body_of(client.answer()), "GET /before|");
        const std::string refusal = client.rest();
        EXPECT_EQ(status_of(refusal), status);
        EXPECT_NE(refusal.find("Content-Type: application/problem+json\r\n"), std::string::npos);
        EXPECT_NE(refusal.find("Connection: close\r\n"), std::string::npos);
        EXPECT_NE(refusal.find("\"status\":" + std::to_string(status) + ",\"code\":\""), std::string::npos);
        EXPECT_EQ(refusal.find("smuggled"), std::string::npos);
    }
    const HttpCounters counters = server.counters();
    EXPECT_EQ(counters.requests, cases.size());
    EXPECT_EQ(counters.refused_malformed, 5u);
    EXPECT_EQ(counters.refused_too_large, 3u);
}

TEST(HttpServerDefence, a_refusal_waits_for_the_answers_before_it) {
    Desk desk;
    LoopbackServer server(desk.handler());
    RawClient client(server.port());
    client.send(get("/1") + "nonsense\r\n\r\n");
    ASSERT_TRUE(server.await([&] { return server.server().counters().refused_malformed == 1; }));
    EXPECT_EQ(server.counters().bytes_out, 0u);
    server.on_loop([&] { desk.answer("/1"); });
    EXPECT_EQ(body_of(client.answer()), "/1");
    EXPECT_EQ(status_of(client.rest()), 400);
}

TEST(HttpServerDefence, a_client_that_still_sends_a_large_body_reads_why_it_was_refused) {
    HttpLimits limits;
    limits.body_bytes_max = 1000;
    LoopbackServer server(echo, limits);
    RawClient client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n");
    EXPECT_TRUE(client.send(std::string(8'000'000, 'x'))) << "closing at once would reset the connection";
    EXPECT_EQ(status_of(client.rest()), 413);
}

TEST(HttpServerDefence, holds_a_limit_on_unfinished_requests_of_all_clients) {
    HttpLimits limits;
    limits.unfinished_bytes_max = 10'000;
    LoopbackServer server(echo, limits);
    RawClient first(server.port()), second(server.port());
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6000\r\n\r\n";
    first.send(head + std::string(5999, 'x'));
    ASSERT_TRUE(server.await([&] { return server.server().counters().bytes_in == head.size() + 5999; }));
    second.send(head + std::string(5000, 'x'));
    EXPECT_EQ(status_of(second.rest()), 503);
    first.send("x");
    EXPECT_EQ(status_of(first.answer()), 200);
    EXPECT_EQ(server.counters().refused_overload, 1u);
    // What the two held is given back: a third one fits.
    first.send(head + std::string(6000, 'x'));
    EXPECT_EQ(status_of(first.answer()), 200);
}

TEST(HttpServerDefence, the_bytes_of_unfinished_requests_are_released) {
    HttpLimits limits;
    limits.unfinished_bytes_max = 10'000;
    LoopbackServer server(echo, limits);
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6000\r\n\r\n";
    std::uint64_t sent = 0;
    const auto arrived = [&] { return server.server().counters().bytes_in == sent; };
    for (int i = 0; i < 5; ++i) {
        RawClient gone(server.port());
        gone.send(head + std::string(5999, 'x'));
        sent += head.size() + 5999;
        ASSERT_TRUE(server.await(arrived));
        gone.close();
        ASSERT_TRUE(server.await([&] { return server.server().counters().connections_open == 0; }));
    }
    RawClient client(server.port());
    for (int i = 0; i < 5; ++i) {
        for (const std::string& piece : {head, std::string(3000, 'x'), std::string(2999, 'x')}) {
            client.send(piece);
            sent += piece.size();
            ASSERT_TRUE(server.await(arrived));
        }
        client.send("x");
        sent += 1;
        ASSERT_EQ(status_of(client.answer()), 200);
    }
}

TEST(HttpServerDefence, answers_that_waited_their_turn_no_longer_count_as_output) {
    Desk desk;
    HttpLimits limits;
    limits.output_bytes_max = 10'000;
    LoopbackServer server(desk.handler(), limits);
    RawClient client(server.port());
    const std::string first = "/" + std::string(900, 'a'), second = "/" + std::string(900, 'b');
    for (int i = 0; i < 20; ++i) {
        client.send(get(first) + get(second));
        ASSERT_TRUE(server.await([&] { return desk.pending.size() == 2; })) << "round " << i;
        server.on_loop([&] { desk.answer(second); });
        server.on_loop([&] { desk.answer(first); });
        EXPECT_EQ(body_of(client.answer()), first);
        EXPECT_EQ(body_of(client.answer()), second);
    }
}

// After the beginning of a request, which this counter counts.
void expect_408(const std::string& begun, std::uint64_t HttpCounters::*timeouts) {
    LoopbackServer server(echo, hasty());
    RawClient client(server.port());
    client.send(begun);
    EXPECT_EQ(status_of(client.rest()), 408);
    EXPECT_EQ(server.counters().*timeouts, 1u);
}

TEST(HttpServerDefence, a_slow_header_gets_408) {
    expect_408("GET / HTTP/1.1\r\nHo", &HttpCounters::timeouts_header);
}

TEST(HttpServerDefence, a_header_that_trickles_in_is_not_given_more_time) {
    // A quick machine brings the 8 KiB that a header may have within its time, and was then refused for that.
    HttpLimits limits = hasty();
    limits.header_bytes_max = 64 << 20;
    LoopbackServer server(echo, limits);
    RawClient client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: x\r\nX: ");
    // Byte after byte for as long as the server listens.
    const bool refused = server.await([&] {
        client.send("a");
        server.loop().post([] {});
        return server.server().counters().timeouts_header == 1;
    });
    EXPECT_TRUE(refused);
}

TEST(HttpServerDefence, a_slow_body_gets_408) {
    expect_408("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell", &HttpCounters::timeouts_body);
}

TEST(HttpServerDefence, idle_and_silent_connections_are_closed_without_a_response) {
    LoopbackServer server(echo, hasty());
    RawClient silent(server.port()), idle(server.port());
    idle.send(get("/"));
    EXPECT_EQ(status_of(idle.answer()), 200);
    EXPECT_EQ(idle.rest(), "");
    EXPECT_EQ(silent.rest(), "");
    const HttpCounters counters = server.counters();
    EXPECT_EQ(counters.timeouts_idle, 1u);
    EXPECT_EQ(counters.timeouts_header, 1u);
}

// The idle time counted from the request. A request that waited for longer was followed by the end of the connection,
// and where a sweep came before the write, its answer was lost.
TEST(HttpServerDefence, a_pending_answer_is_not_idleness) {
    Desk desk;
    LoopbackServer server(desk.handler(), hasty());
    RawClient waiting(server.port()), watch(server.port());
    waiting.send(get("/1"));
    ASSERT_TRUE(server.await([&] { return desk.pending.size() == 1; }));
    EXPECT_EQ(watch.rest(), "");  // its deadline is longer than any the waiting one could miss
    RawClient again(server.port());
    EXPECT_EQ(again.rest(), "");
    const std::int64_t answered_ns = monotonic_now_ns();
    server.on_loop([&] { desk.answer("/1"); });
    EXPECT_EQ(body_of(waiting.answer()), "/1");
    EXPECT_EQ(waiting.rest(), "");
    EXPECT_GE(std::chrono::nanoseconds(monotonic_now_ns() - answered_ns), hasty().idle_timeout);
}

TEST(HttpServerDefence, accepts_up_to_its_limit_and_the_next_when_one_leaves) {
    HttpLimits limits;
    limits.connections_max = 3;
    limits.sweep = std::chrono::hours(1);
    Desk desk;
    LoopbackServer server(desk.handler(), limits);
    std::vector<RawClient> clients;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back(server.port());
        ASSERT_TRUE(clients.back().connected()) << "the kernel queues those over the limit";
        ASSERT_TRUE(clients.back().send(get("/" + std::to_string(i))));
        if (i == 3) continue;
        ASSERT_TRUE(server.await([&] { return desk.pending.size() == clients.size(); }));
    }
    ASSERT_TRUE(server.await([&] { return server.server().counters().accept_pauses == 1; }));
    EXPECT_EQ(server.counters().connections_open, 3u);
    EXPECT_EQ(server.counters().descriptors_lacked, 0u);
    server.on_loop([&] { desk.answer("/1"); });
    EXPECT_EQ(body_of(clients[1].answer()), "/1");
    clients[1].close();
    ASSERT_TRUE(server.await([&] { return desk.pending.contains("/3"); }));
    EXPECT_EQ(server.counters().connections_open, 3u);
    EXPECT_EQ(server.counters().connections_evicted, 0u);
    server.on_loop([&] {
        for (const auto* target : {"/0", "/2", "/3"}) desk.answer(target);
    });
}

// Idle connections of strangers kept all others out.
TEST(HttpServerDefence, closes_the_connection_that_has_waited_longest_for_nothing_to_make_room) {
    HttpLimits limits;
    limits.connections_max = 3;
    LoopbackServer server(
        [](const HttpRequest& request, HttpReply reply) {
            if (request.target == "/trusted") reply.trust();
            echo(request, std::move(reply));
        },
        limits);
    RawClient trusted(server.port()), first(server.port()), second(server.port());
    for (auto* client : {&trusted, &first, &second, &first}) {
        client->send(get(client == &trusted ? "/trusted" : "/"));
        EXPECT_EQ(status_of(client->answer()), 200);
    }
    RawClient third(server.port());
    third.send(get("/"));
    EXPECT_EQ(status_of(third.answer()), 200);
    EXPECT_EQ(second.rest(), "");
    first.send("GET / HTTP/1.1\r\n");  // a part of a request is no reason to stay
    ASSERT_TRUE(server.await([&] { return server.server().counters().bytes_in > 5 * get("/").size() + 15; }));
    RawClient fourth(server.port());
    fourth.send(get("/"));
    EXPECT_EQ(status_of(fourth.answer()), 200);
    EXPECT_EQ(first.rest(), "");
    for (auto* client : {&trusted, &third, &fourth}) {
        client->send(get("/"));
        EXPECT_EQ(status_of(client->answer()), 200);
    }
    EXPECT_EQ(server.counters().connections_evicted, 2u);
}

// Bodies were collected before anything of the head was checked.
TEST(HttpServerDefence, a_request_that_is_refused_by_its_head_gets_no_memory_and_no_100_continue) {
    std::string seen;
    LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
        seen +=
            std::string(request.target) + (request.is_head_only ? " head " : " all ") + std::string(request.body) + "|";
        reply.answer({.status = request.is_head_only ? 401 : 200});
    });
    server.on_loop([&] {
        server.server().set_gatekeeper(
            [](const HttpRequest& request) { return HttpAdmission{.is_admitted = request.target != "/no"}; });
    });
    for (const std::string& rest : {std::string(), std::string("hel"), std::string("Expect: 100-continue\r\n")}) {
        RawClient client(server.port());
        const bool expects = rest.size() > 5;
        client.send("POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" +
                    (expects ? rest + "\r\n" : "\r\n" + rest));
        EXPECT_EQ(status_of(client.answer()), 401);
        client.send("lo" + get("/more"));
        EXPECT_EQ(client.rest(), "");
    }
    RawClient client(server.port());
    client.send("POST /yes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.answer(false), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    EXPECT_EQ(status_of(client.answer()), 200);
    client.send(post("/no", "hello"));  // at once: there is nothing to save
    EXPECT_EQ(status_of(client.answer()), 200);
    server.on_loop([&] { EXPECT_EQ(seen, "/no head |/no head |/no head |/yes all hello|/no all hello|"); });
}

TEST(HttpServerDefence, a_head_is_looked_at_again_after_the_requests_in_front_of_it) {
    Desk desk;
    bool admits = false;
    LoopbackServer server(desk.handler());
    server.on_loop([&] {
        server.server().set_gatekeeper([&](const HttpRequest&) { return HttpAdmission{.is_admitted = admits}; });
    });
    RawClient client(server.port());
    client.send(get("/1") + "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
    ASSERT_TRUE(server.await([&] { return desk.pending.contains("/1"); }));
    server.on_loop([&] {
        admits = true;
        desk.answer("/1");
    });
    EXPECT_EQ(body_of(client.answer()), "/1");
    client.send("lo");
    ASSERT_TRUE(server.await([&] { return desk.pending.contains("/2"); }));
    server.on_loop([&] {
        admits = false;
        desk.answer("/2");
    });
    EXPECT_EQ(body_of(client.answer()), "/2");
}

// One client could use all of the memory for unfinished requests, and all others were refused.
TEST(HttpServerDefence, a_holder_has_half_of_the_memory_for_unfinished_requests) {
    HttpLimits limits;
    limits.unfinished_bytes_max = 40'000;
    limits.body_bytes_max = 10'000;
    LoopbackServer server(echo, limits);
    server.on_loop([&] {
        server.server().set_gatekeeper(
            [](const HttpRequest& request) { return HttpAdmission{.holder = std::string(request.target.substr(1))}; });
    });
    const auto half = [&](const std::string& target) {
        return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + std::string(8'000, 'x');
    };
    std::vector<RawClient> greedy;
    for (int i = 0; i < 3; ++i) {
        greedy.emplace_back(server.port());
        greedy.back().send(half("/greedy"));
        if (i < 2) {
            ASSERT_TRUE(
                server.await([&, i] { return server.server().counters().unfinished_bytes > 8'000u * (i + 1); }));
        }
    }
    EXPECT_EQ(status_of(greedy[2].answer()), 503);
    RawClient other(server.port());
    other.send(half("/other") + std::string(1'000, 'x'));
    EXPECT_EQ(status_of(other.answer()), 200);
    greedy[0].send(std::string(1'000, 'x'));
    EXPECT_EQ(status_of(greedy[0].answer()), 200);
    RawClient again(server.port());
    again.send(half("/greedy") + std::string(1'000, 'x'));
    EXPECT_EQ(status_of(again.answer()), 200);
}

TEST(HttpServerDefence, outlives_running_out_of_file_descriptors) {
    HttpLimits limits;
    limits.sweep = milliseconds(5);
    LoopbackServer server(echo, limits);
    RawClient first(server.port()), second(server.port());
    first.send(get("/"));
    EXPECT_EQ(status_of(first.answer()), 200);
    // A third client, connected before the limit falls so that only the server's side runs into it.
    server.on_loop([] {});
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    std::optional<RawClient> third;
    server.on_loop([&] {
        third.emplace(server.port());
        const rlimit none{3, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    });
    EXPECT_TRUE(server.await([&] { return server.server().counters().accept_pauses >= 2; }));
    const HttpCounters counters = server.counters();  // of one moment
    EXPECT_EQ(counters.descriptors_lacked, counters.accept_pauses);
    first.send(get("/"));
    EXPECT_EQ(status_of(first.answer()), 200) << "those who are in are served on";
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    third->send(get("/third"));
    EXPECT_EQ(body_of(third->answer()), "GET /third|");
}

// An I/O thread told its owner of a refused request when the owner was half destroyed.
TEST(HttpServerDefence, may_be_destroyed_while_it_refuses_requests) {
    for (int round = 0; round < 30; ++round) {
        auto server = std::make_unique<LoopbackServer>(echo);
        server->on_loop([&] { server->server().on_refusal([](int, ErrorCode) {}); });
        std::vector<RawClient> clients;
        for (int i = 0; i < 20; ++i) clients.emplace_back(server->port()).send("no request\r\n\r\n");
        server.reset();
    }
}

TEST(HttpServerDefence, serves_a_thousand_connections_at_once) {
    rlimit descriptors{};  // of which both ends are this process's
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &descriptors), 0);
    descriptors.rlim_cur = descriptors.rlim_max;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &descriptors), 0);
    LoopbackServer server(echo);
    std::vector<RawClient> clients;
    constexpr int kClients = 1000;
    for (int i = 0; i < kClients; ++i) {
        clients.emplace_back(server.port());
        ASSERT_TRUE(clients.back().connected()) << i;
    }
    for (int round = 0; round < 3; ++round) {
        for (auto& client : clients) ASSERT_TRUE(client.send(get("/a")));
        for (auto& client : clients) ASSERT_EQ(body_of(client.answer()), "GET /a|");
    }
    const HttpCounters counters = server.counters();
    EXPECT_EQ(counters.connections_open, 1000u);
    EXPECT_EQ(counters.requests, 3000u);
    clients.clear();
    EXPECT_TRUE(server.await([&] { return server.server().counters().connections_open == 0; }));
}

// A message's body could be sniffed as a page, and only the dashboard's files said that they are not to be. Refusals of
// the server itself and streams did not.
TEST(HttpServerDefence, every_response_has_the_standing_fields) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        if (request.path == "/own") return reply.answer({.headers = {{"cache-control", "max-age=1"}}});
        HttpStream stream = reply.stream({});
        stream.finish();
    });
    const auto response_to = [&](const std::string& bytes) {
        RawClient client(server.port());
        client.send(bytes);
        return client.rest();
    };
    for (const char* refused : {"GET / HTTP/1.1\r\n\r\n", "GARBAGE\r\n\r\n", "GET / HTTP/3.0\r\nHost: x\r\n\r\n",
                                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n"}) {
        EXPECT_NE(response_to(refused).find("\r\n" + kStandingText), std::string::npos) << refused;
    }
    EXPECT_NE(response_to(get("/stream")).find("\r\n" + kStandingText), std::string::npos);
    const std::string own = response_to(get("/own", "Connection: close\r\n"));
    EXPECT_EQ(own.find("no-store"), std::string::npos) << own;
    EXPECT_NE(own.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos) << own;
    EXPECT_EQ(own.find("Strict-Transport-Security"), std::string::npos) << "not over TLS";
}

}  // namespace
}  // namespace duewheel::http_server_defence_test
