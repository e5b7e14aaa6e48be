#include "net/stream_server.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/loopback_fixture.h"

namespace duewheel::stream_server_test {
namespace {

constexpr std::size_t kReplyBytes = 100;

// Takes one byte at a time, and replies with many like it.
class Repeater final : public StreamSession {
  public:
    Repeater(StreamClient& client, int& takes) : client_(client), takes_(takes) {}

    std::size_t consume(std::string_view bytes) override {
        if (bytes.empty()) return 0;
        ++takes_;
        client_.write(std::string(kReplyBytes, bytes.front()));
        client_.resume();
        return 1;
    }
    bool owes_replies() const override { return false; }

  private:
    StreamClient& client_;
    int& takes_;
};

class StreamServers : public ::testing::Test {
  protected:
    void serve(std::size_t unsent_bytes_max) {
        server_ = std::make_unique<StreamServer>(
            loop_, StreamLimits{.connections_max = 10, .unsent_bytes_max = unsent_bytes_max},
            [this](StreamClient& client) { return std::make_unique<Repeater>(client, takes_); });
        const Result<std::string> address = server_->listen("127.0.0.1:0");
        ASSERT_TRUE(address.ok());
        port_ = std::stoi(address->substr(address->rfind(':') + 1));
        thread_ = std::thread([this] {
            loop_.run([this] {
                takes_max_ = std::max(takes_max_, std::exchange(takes_, 0));
                return EventLoop::kOnEvents;
            });
        });
    }
    std::string replies_to(const std::string& bytes) {
        RawClient client(port_);
        client.send(bytes);
        client.end_sending();
        return client.rest();
    }
    void stop() {
        loop_.stop();
        thread_.join();
    }

    EventLoop loop_;
    std::unique_ptr<StreamServer> server_;
    std::thread thread_;
    int port_ = 0;
    int takes_ = 0;  // since the last turn
    int takes_max_ = 0;
};

// What a client had sent was offered to its session before its output was sent, and not again afterwards: a client
// whose output had reached the limit waited for ever if the kernel then took all of it at once.
TEST_F(StreamServers, a_session_is_offered_the_rest_when_its_output_has_been_sent) {
    serve(kReplyBytes / 2);
    EXPECT_EQ(replies_to("abc"),
              std::string(kReplyBytes, 'a') + std::string(kReplyBytes, 'b') + std::string(kReplyBytes, 'c'));
    stop();
}

// Idle connections kept all others out.
TEST_F(StreamServers, a_connection_that_never_sent_a_byte_makes_room_for_another) {
    serve(1'000'000);
    RawClient first(port_), silent(port_);
    first.send("a");
    EXPECT_FALSE(first.some().empty());
    std::vector<RawClient> others;
    for (int i = 0; i < 9; ++i) {
        others.emplace_back(port_);
        others.back().send("b");
        EXPECT_FALSE(others.back().some().empty());
    }
    EXPECT_EQ(silent.rest(), "");
    first.send("c");
    EXPECT_NE(first.until("c"), "");
    first.close();
    others.clear();
    stop();
}

// All that one client had sent was worked on before the loop went on to others.
TEST_F(StreamServers, a_session_that_takes_a_part_of_its_bytes_gets_the_next_in_the_next_iteration) {
    serve(1'000'000);
    EXPECT_EQ(replies_to(std::string(1'000, 'x')).size(), 1'000 * kReplyBytes);
    stop();
    EXPECT_LE(takes_max_, 2);
}

}  // namespace
}  // namespace duewheel::stream_server_test
