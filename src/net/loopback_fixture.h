// For the tests of this module: a server on a thread of its own, and a client that sends exactly the bytes it is told.
//
// Nobody sleeps: a test waits for bytes, for the end of a connection, or for a condition that the server's thread looks
// at in every round of its loop. Waiting gives up after kPatience, which only a failing test reaches.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "net/http_server.h"

namespace duewheel {

inline constexpr std::chrono::seconds kPatience{20};

class LoopbackServer {
  public:
    explicit LoopbackServer(HttpHandler handler, const HttpLimits& limits = {})
        : server_(std::make_unique<HttpServer>(loop_, limits, std::move(handler))) {
        auto bound = server_->listen("127.0.0.1:0");
        EXPECT_TRUE(bound.ok());
        port_ = bound->port;
        thread_ = std::thread([this] {
            loop_.run([this] {
                check_conditions();
                return EventLoop::kOnEvents;
            });
        });
    }
    ~LoopbackServer() {
        on_loop([this] {
            conditions_.clear();  // those of a failed test still look at the server
            server_.reset();
        });
        loop_.stop();
        thread_.join();
    }

    int port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    HttpServer& server() { return *server_; }
    EventLoop& loop() { return loop_; }

    void on_loop(const std::function<void()>& function) {
        std::promise<void> done;
        loop_.post([&] {
            function();
            done.set_value();
        });
        done.get_future().wait();
    }
    HttpCounters counters() {
        HttpCounters copy;
        on_loop([&] { copy = server_->counters(); });
        return copy;
    }
    // Whether `condition`, called on the server's thread, becomes true.
    bool await(std::function<bool()> condition) {
        auto done = std::make_shared<std::promise<void>>();
        auto future = done->get_future();
        loop_.post([this, condition = std::move(condition), done = std::move(done)] {
            conditions_.push_back({condition, done});
        });
        return future.wait_for(kPatience) == std::future_status::ready;
    }

  private:
    struct Condition {
        std::function<bool()> holds;
        std::shared_ptr<std::promise<void>> done;
    };

    void check_conditions() {
        std::erase_if(conditions_, [](Condition& condition) {
            if (!condition.holds()) return false;
            condition.done->set_value();
            return true;
        });
    }

    EventLoop loop_;
    std::unique_ptr<HttpServer> server_;
    std::vector<Condition> conditions_;
    int port_ = 0;
    std::thread thread_;
};

class RawClient {
  public:
    explicit RawClient(int port, int receive_buffer_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval patience{kPatience.count(), 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (receive_buffer_bytes != 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    RawClient(RawClient&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_), input_(std::move(other.input_)) {}
    RawClient& operator=(RawClient&&) = delete;
    ~RawClient() { close(); }

    bool connected() const { return connected_; }
    // False if the server does not take it all.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void end_sending() { ::shutdown(socket_, SHUT_WR); }
    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    // Closes as a crash would: the server's next read or write fails.
    void reset() {
        const linger at_once{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

    // The next answer, head and body; what came of it if the connection ends before.
    std::string answer(bool with_body = true) {
        auto head_end = input_.find("\r\n\r\n");
        while (head_end == std::string::npos && receive()) head_end = input_.find("\r\n\r\n");
        if (head_end == std::string::npos) return std::exchange(input_, {});
        std::size_t size = head_end + 4;
        const auto length = input_.find("Content-Length: ");
        if (with_body && length < head_end) size += std::stoul(input_.substr(length + 16));
        while (input_.size() < size && receive()) {
        }
        size = std::min(size, input_.size());
        std::string answer = input_.substr(0, size);
        input_.erase(0, size);
        return answer;
    }
    // Everything up to the end of the connection.
    std::string rest() {
        while (receive()) {
        }
        return std::exchange(input_, {});
    }
    // Everything up to and including `end`.
    std::string until(std::string_view end) {
        auto at = input_.find(end);
        while (at == std::string::npos && receive()) at = input_.find(end);
        const std::string text = input_.substr(0, at == std::string::npos ? at : at + end.size());
        input_.erase(0, text.size());
        return text;
    }

  private:
    bool receive() {
        char buffer[16 * 1024];
        const auto size = ::recv(socket_, buffer, sizeof buffer, 0);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ADD_FAILURE() << "the server keeps silent";
        if (size <= 0) return false;
        input_.append(buffer, static_cast<std::size_t>(size));
        return true;
    }

    int socket_;
    bool connected_ = false;
    std::string input_;
};

inline std::string body_of(const std::string& answer) {
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
}
inline int status_of(const std::string& answer) {
    return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}

}  // namespace duewheel
