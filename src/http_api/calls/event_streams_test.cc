// Event streams over real sockets. The test says when the state is sent; the streams read no clock but for that.
#include "http_api/calls/event_streams.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::event_streams_test {
namespace {

constexpr DueMs kNow = 1'798'783'200'250;

QueueCounters queue(const std::string& name, std::uint64_t pending) {
    QueueCounters counters{.name = {"default", name}};
    counters.pending = pending;
    return counters;
}

struct Event {
    std::string name, id, data;
};

// A client of a stream. It knows that the server sends each event as a chunk.
class EventClient {
  public:
    EventClient(ApiServer& server, const std::string& query = "", const std::string& fields = "")
        : client_(server.server().port()) {
        client_.send(get("/v1/events" + query, fields));
        head_ = client_.until("\r\n\r\n");
    }
    const std::string& head() const { return head_; }
    Event next() {
        const std::string size = client_.until("\r\n");
        if (size.empty() || size == "0\r\n") return {"end", size, client_.rest()};
        const std::string text = client_.until("\r\n");
        if (text == ": heartbeat\n\n\r\n") return {"heartbeat", "", ""};
        const auto part = [&](const std::string& name) {
            const std::size_t at = text.find(name + ": ") + name.size() + 2;
            return text.substr(at, text.find('\n', at) - at);
        };
        EXPECT_TRUE(text.ends_with("\n\n\r\n")) << text;
        return {part("event"), part("\nid"), part("\ndata")};
    }
    std::string rest() { return client_.rest(); }

  private:
    RawClient client_;
    std::string head_;
};

class EventStreamsTest : public ::testing::Test {
  protected:
    explicit EventStreamsTest(HttpApiOptions options = {}) : recent_(quiet_) {
        options.recent_log = &recent_;
        server_ = std::make_unique<ApiServer>(std::move(options));
        change([](PlayedShard& shard) { shard.clock_status.server_ms = kNow; });
    }
    template <class Change>
    void change(Change changed) {
        server_->server().on_loop([&] { changed(server_->shard()); });
    }
    // The next tick, whenever it is due.
    void tick(std::int64_t later_ns = 0) {
        server_->server().on_loop([&] {
            const std::int64_t due_ns = server_->api().send_events(0);
            if (due_ns != EventStreams::kNever) server_->api().send_events(due_ns + later_ns);
        });
    }

    RecordingLog quiet_;
    RecentLog recent_;
    std::unique_ptr<ApiServer> server_;
};

TEST_F(EventStreamsTest, the_state_is_sent_at_once_and_with_each_tick) {
    change([](PlayedShard& shard) {
        shard.levels.pending = 7;
        shard.queue_levels = {queue("mail", 7)};
    });
    EventClient client(*server_);
    EXPECT_EQ(client.head(), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n" +
                                 kStandingText + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    Event stats = client.next();
    EXPECT_EQ(stats.name, "stats");
    EXPECT_EQ(stats.data, body_of(server_->ask({"GET", "/v1/stats"})));
    const Event queues = client.next();
    EXPECT_EQ(queues.name, "queues");
    EXPECT_EQ(queues.data,
              R"({"queues":[{"queue":"mail","pending":7,"ready":0,"leased":0,"dead":0,"paused":false}],"more":false})");
    const Event lateness = client.next();
    EXPECT_EQ(lateness.name, "lateness");
    EXPECT_EQ(lateness.data, R"({"time_ms":1798783195000,"count":0,"p50_ms":0,"p99_ms":0,"max_ms":0,"wait_p50_ms":0,)"
                             R"("wait_p99_ms":0,"wait_max_ms":0})");
    change([](PlayedShard& shard) { shard.levels.pending = 8; });
    tick();
    stats = client.next();
    EXPECT_EQ(stats.name, "stats");
    EXPECT_NE(stats.data.find("\"pending\":8"), std::string::npos);
}

TEST_F(EventStreamsTest, a_second_client_gets_the_same_state_without_a_new_reading) {
    EventClient first(*server_, "?only=stats");
    const std::string before = first.next().data;
    change([](PlayedShard& shard) { shard.levels.pending = 9; });
    EventClient second(*server_, "?only=stats");
    EXPECT_EQ(second.next().data, before) << "at most twice a second";
    tick();
    EXPECT_EQ(second.next().data, first.next().data);
}

TEST_F(EventStreamsTest, queues_are_sent_when_they_change) {
    change([](PlayedShard& shard) {
        shard.levels.queues = 3;
        shard.queue_levels = {queue("a", 1), queue("b", 2)};
    });
    EventClient client(*server_, "?only=queues");
    const auto names = [&] {
        std::string all;
        const boost::json::value data = boost::json::parse(client.next().data);
        for (const auto& row : data.at("queues").as_array()) all += row.at("queue").as_string().c_str();
        return all + (data.at("more").as_bool() ? "+" : "");
    };
    EXPECT_EQ(names(), "ab+");
    tick();
    change([](PlayedShard& shard) { shard.queue_levels[1].paused = true; });
    tick();
    EXPECT_EQ(names(), "b+") << "nothing was sent in between";
    change([](PlayedShard& shard) { shard.queue_levels.push_back(queue("c", 0)); });
    EventClient late(*server_, "?only=queues");
    tick();
    EXPECT_EQ(names(), "c");
}

TEST_F(EventStreamsTest, lateness_is_sent_once_a_row) {
    EventClient client(*server_, "?only=lateness");
    EXPECT_NE(client.next().data.find("1798783195000"), std::string::npos);
    tick();
    change([](PlayedShard& shard) {
        shard.history.deliver(kNow, {"default", "a"}, 1).record(12, 30);
        shard.clock_status.server_ms += LatenessHistory::kRowMs;
    });
    tick();
    EXPECT_EQ(client.next().data, R"({"time_ms":1798783200000,"count":1,"p50_ms":12,"p99_ms":12,"max_ms":12,)"
                                  R"("wait_p50_ms":30,"wait_p99_ms":30,"wait_max_ms":30})");
}

TEST_F(EventStreamsTest, log_lines_follow_the_last_one_that_the_client_has) {
    recent_.info("started", "Not sent.");
    for (int line = 0; line < 150; ++line) recent_.warning("slow", "A disk is slow.", {{"line", line}});
    EventClient client(*server_, "?only=log");
    std::string id;
    for (int line = 50; line < 150; ++line) {
        const Event event = client.next();
        ASSERT_EQ(event.name, "log");
        EXPECT_NE(event.data.find(R"("level":"warning","event":"slow","message":"A disk is slow.","line":)" +
                                  std::to_string(line) + "}"),
                  std::string::npos)
            << event.data;
        EXPECT_TRUE(event.data.starts_with("{\"time_ms\":"));
        if (line == 147) id = event.id;
    }
    recent_.error("full", "The disk is full.");
    tick();
    EXPECT_NE(client.next().data.find("\"full\""), std::string::npos);
    EventClient resumed(*server_, "?only=log", "Last-Event-ID: " + id + "\r\n");
    EXPECT_NE(resumed.next().data.find("\"line\":148"), std::string::npos);
    EXPECT_NE(resumed.next().data.find("\"line\":149"), std::string::npos);
    EXPECT_NE(resumed.next().data.find("\"full\""), std::string::npos);
    EventClient of_later_run(*server_, "?only=log", "Last-Event-ID: 99999999999999999999\r\n");
    EXPECT_NE(of_later_run.next().data.find("\"line\":51"), std::string::npos) << "a number of no line: all";
}

TEST_F(EventStreamsTest, long_log_lines_are_cut) {
    recent_.warning("long", "A path is long.", {{"path", std::string(10'000, 'x')}});
    const std::vector<RecentLog::Line> lines = recent_.lines_after(0);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].json.find("\"message\":\"A path is long.\"}"), std::string::npos) << lines[0].json;
}

// It is never sent old events one after the other.
TEST_F(EventStreamsTest, a_slow_reader_misses_events_and_costs_no_memory) {
    change([](PlayedShard& shard) {
        for (int i = 0; i < 100; ++i) shard.queue_levels.push_back(queue(std::string(190, 'q') + std::to_string(i), 1));
    });
    RawClient slow(server_->server().port(), 4096);
    slow.send(get("/v1/events"));
    std::uint64_t unsent = 0;
    for (int ticks = 0; ticks < 2'000; ++ticks) {
        change([&](PlayedShard& shard) { shard.levels.pending = static_cast<std::uint64_t>(ticks); });
        tick();
        unsent = std::max(unsent, server_->server().counters().unsent_bytes);
    }
    EXPECT_LE(unsent, 16u * 1024 + 64u * 1024) << "the limit, and one event";
    change([](PlayedShard& shard) { shard.queue_levels = {queue("new", 1)}; });
    std::string text;
    while (text.find("{\"queues\":[{\"queue\":\"new\",") == std::string::npos) {
        text = text.substr(text.size() - std::min<std::size_t>(text.size(), 100)) + slow.some();
        tick();
    }
}

TEST_F(EventStreamsTest, at_most_64_are_open) {
    std::vector<std::unique_ptr<EventClient>> clients;
    for (std::size_t i = 0; i < kEventStreamsMax; ++i) {
        clients.push_back(std::make_unique<EventClient>(*server_));
        ASSERT_TRUE(clients.back()->head().starts_with("HTTP/1.1 200")) << i;
    }
    const std::string refused = server_->ask({"GET", "/v1/events"});
    EXPECT_EQ(status_of(refused), 503);
    EXPECT_EQ(member_of(refused, "code"), "stream_limit");
    EXPECT_NE(field_of(refused, "Retry-After"), "");
    EXPECT_EQ(status_of(server_->ask({"GET", "/healthz"})), 200) << "that connection goes on";
    clients.pop_back();
    ASSERT_TRUE(server_->server().await([&] {
        server_->server().loop().post([] {});
        return server_->server().server().counters().streams_open < kEventStreamsMax;
    }));
    EXPECT_EQ(status_of(server_->ask({"GET", "/v1/events"})), 200);
}

TEST_F(EventStreamsTest, an_idle_stream_has_a_heartbeat) {
    EventClient client(*server_, "?only=log");
    tick(EventStreams::kHeartbeatNs - 2 * EventStreams::kTickNs);
    tick(2 * EventStreams::kTickNs);
    EXPECT_EQ(client.next().name, "heartbeat");
    recent_.warning("a", "b");
    tick();
    EXPECT_EQ(client.next().name, "log") << "one heartbeat was enough";
}

TEST_F(EventStreamsTest, a_stop_ends_all_and_admits_none) {
    EventClient client(*server_, "?only=log");
    server_->server().on_loop([&] { server_->api().stop_events(); });
    EXPECT_EQ(client.next().name, "end");
    EXPECT_EQ(server_->server().counters().streams_open, 0u);
    EXPECT_EQ(member_of(server_->ask({"GET", "/v1/events"}), "code"), "stream_limit");
}

TEST_F(EventStreamsTest, requests_are_checked) {
    const auto code = [&](const std::string& query) {
        return member_of(server_->ask({"GET", "/v1/events" + query}), "code");
    };
    for (const char* query : {"?only=nonsense", "?only=stats,", "?only=,stats", "?only=stats,,log", "?only="}) {
        EXPECT_EQ(code(query), "bad_parameter") << query;
    }
    EXPECT_EQ(code("?events=stats"), "unknown_parameter");
    const std::string head = server_->ask({"HEAD", "/v1/events"});
    EXPECT_EQ(status_of(head), 200);
    EXPECT_EQ(field_of(head, "Content-Type"), "text/event-stream");
    EXPECT_EQ(status_of(server_->ask({"GET", "/healthz"})), 200) << "HEAD opens no stream";
}

class EventStreamsWithTokens : public EventStreamsTest {
  protected:
    EventStreamsWithTokens() : EventStreamsTest(with_auth()) { set(known_token("a", {Scope::read})); }
    void set(const AccessToken& token) {
        change([&](PlayedShard& shard) { shard.tokens[token.id] = token; });
    }
    EventClient with_token() { return {*server_, "?only=log", "Authorization: " + bearer("a") + "\r\n"}; }
};

TEST_F(EventStreamsWithTokens, a_stream_ends_with_its_token) {
    AccessToken token = known_token("a", {Scope::read});
    const std::vector<std::function<void()>> ends = {
        [&] { change([](PlayedShard& shard) { shard.tokens.clear(); }); },
        [&] {
            token.revision = 2;  // a change may take the right away, or the secret
            set(token);
        },
        [&] { change([](PlayedShard& shard) { shard.clock_status.server_ms = kNow + 1'000; }); },
    };
    for (std::size_t i = 0; i < ends.size(); ++i) {
        token.revision = 1;
        token.expires_ms = kNow + 1'000;
        set(token);
        EventClient client = with_token();
        ASSERT_TRUE(client.head().starts_with("HTTP/1.1 200")) << i;
        tick();
        ends[i]();
        tick();
        EXPECT_EQ(client.next().name, "end") << i;
    }
}

TEST_F(EventStreamsWithTokens, a_stream_needs_the_scope_read_on_the_whole_server) {
    set(known_token("a", {Scope::put}));
    EXPECT_TRUE(with_token().head().starts_with("HTTP/1.1 403"));
    set(known_token("a", {Scope::read}, {{"shop"}, ""}));
    EXPECT_TRUE(with_token().head().starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(EventClient(*server_).head().starts_with("HTTP/1.1 401"));
}

}  // namespace
}  // namespace duewheel::event_streams_test
