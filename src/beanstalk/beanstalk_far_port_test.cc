// Sessions with sockets on one thread, and the engine on another.
#include "beanstalk/beanstalk_far_port.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "beanstalk/beanstalk_session.h"
#include "beanstalk/trial_port_fixture.h"
#include "net/loopback_fixture.h"
#include "net/stream_server.h"

namespace duewheel::beanstalk_far_port_test {
namespace {

class TwoThreads : public ::testing::Test {
  protected:
    void SetUp() override {
        const Result<std::string> address = server_.listen("127.0.0.1:0");
        ASSERT_TRUE(address.ok());
        port_ = std::stoi(address->substr(address->rfind(':') + 1));
        engines_ = std::thread([this] {
            engine_loop_.run([this] {
                engine_.deliver();
                far_.publish();
                return EventLoop::kOnEvents;
            });
        });
        sessions_ = std::thread([this] { own_loop_.run(); });
    }
    void TearDown() override {
        own_loop_.stop();
        sessions_.join();
        engine_loop_.stop();
        engines_.join();
    }
    // All replies to these commands, of a client that then leaves.
    std::string replies_to(const std::string& commands) {
        RawClient client(port_);
        client.send(commands + "quit\r\n");
        return client.rest();
    }

    int port_ = 0;

  private:
    EventLoop engine_loop_, own_loop_;
    TrialPort engine_;
    BeanstalkNearPort near_{engine_, nullptr};
    BeanstalkFarPort far_{near_, engine_loop_, own_loop_};
    BeanstalkService service_{far_, {}, [] { return std::int64_t{5'000}; }};
    StreamServer server_{own_loop_, {}, [this](StreamClient& client) { return service_.open(client); }};
    std::thread engines_, sessions_;
};

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

TEST_F(TwoThreads, every_command_has_its_effect_and_its_reply) {
    RawClient client(port_);
    const auto ask = [&](const std::string& command) {
        client.send(command + "\r\n");
        return client.until("\r\n");
    };
    EXPECT_EQ(ask("put 5 0 60 1\r\na"), "INSERTED 1024\r\n");
    EXPECT_EQ(ask("use b"), "USING b\r\n");
    EXPECT_EQ(ask("put 3 0 60 1\r\nb"), "INSERTED 2048\r\n");
    EXPECT_EQ(ask("peek-ready"), "FOUND 2048 1\r\n");
    EXPECT_EQ(client.until("\r\n"), "b\r\n");
    EXPECT_EQ(ask("watch b"), "WATCHING 2\r\n");
    EXPECT_EQ(ask("reserve"), "RESERVED 2048 1\r\n") << "the smallest priority of both tubes";
    EXPECT_EQ(client.until("\r\n"), "b\r\n");
    EXPECT_EQ(ask("delete 2048"), "DELETED\r\n");
    EXPECT_EQ(ask("delete 2048"), "NOT_FOUND\r\n");
    EXPECT_EQ(ask("kick 1"), "KICKED 0\r\n");
    EXPECT_TRUE(ask("stats").starts_with("OK "));
}

// Producers, consumers that leave with their jobs, and consumers that leave while they wait: a lease that comes when
// its client is gone is given back.
TEST_F(TwoThreads, no_job_is_lost_by_clients_that_come_and_go) {
    constexpr int kClients = 8;
    constexpr int kJobs = 40;
    std::vector<std::thread> clients;
    for (int number = 0; number < kClients; ++number) {
        clients.emplace_back([this] {
            for (int i = 0; i < kJobs / 10; ++i) {
                RawClient leaves(port_);
                leaves.send("watch other\r\nreserve\r\n");
                const std::string replies = replies_to(repeated("put 1 0 60 1\r\nx\r\n", 10));
                EXPECT_EQ(count(replies, "INSERTED"), 10U) << replies;
            }
        });
    }
    for (std::thread& client : clients) client.join();
    // Those who have just left may still have some.
    std::size_t left = kClients * kJobs;
    for (int tries = 0; left > 0 && tries < 10'000; ++tries) {
        RawClient client(port_);
        client.send("reserve-with-timeout 0\r\n");
        const std::string reply = client.until("\r\n");
        if (!reply.starts_with("RESERVED ")) continue;
        const std::string id = reply.substr(9, reply.find(' ', 9) - 9);
        client.send("delete " + id + "\r\n");
        client.until("DELETED\r\n");
        --left;
    }
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(replies_to("reserve-with-timeout 0\r\n"), "TIMED_OUT\r\n");
}

}  // namespace
}  // namespace duewheel::beanstalk_far_port_test
