// For the tests of this module: a server on a separate thread, and a client that sends exactly the given bytes.
//
// There are no sleeps: a test waits for bytes, for the end of a connection, or for a condition that the server's thread
// checks in every iteration of its loop. Waiting ends after kPatience, which only a failing test reaches.
//
// With DUEWHEEL_TEST_IO_THREADS the server has that many I/O threads.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/event_loop.h"
#include "net/http/http_server.h"
#include "net/http/http_threads.h"

namespace duewheel {

inline constexpr std::chrono::seconds kPatience{20};

class LoopbackServer final : private AfterTurn {
  public:
    explicit LoopbackServer(HttpHandler handler, const HttpLimits& limits = {}, HttpRouter router = route_by_method);
    ~LoopbackServer();

    int port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    HttpThreads& server() { return *server_; }
    EventLoop& loop() { return loop_; }

    // Runs `function` on the server's thread and waits for its end.
    void on_loop(const std::function<void()>& function);
    HttpCounters counters();
    // Whether `condition`, called on the server's thread, becomes true.
    bool await(std::function<bool()> condition);

  private:
    struct Condition {
        std::function<bool()> holds;
        std::shared_ptr<std::promise<void>> done;
    };
    struct Thread;

    void check_conditions();
    // Asks for another round, and so for another look at the conditions, after one that wrote or closed something.
    bool after_turn() override;

    EventLoop loop_;
    std::unique_ptr<HttpThreads> server_;
    std::vector<Condition> conditions_;
    std::uint64_t seen_bytes_out_ = 0, seen_open_ = 0;
    int port_ = 0;
    std::unique_ptr<Thread> thread_;
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
    // What has arrived, or arrives next; empty at the end of the connection.
    std::string some() {
        if (input_.empty()) (void)receive();
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
    // Everything up to the end of the connection.
    std::string rest() {
        while (receive()) {
        }
        return std::exchange(input_, {});
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

inline std::string get(const std::string& target, const std::string& fields = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}
// The fields that the server adds to every response over plain HTTP.
inline const std::string kStandingText =
    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nCross-Origin-Resource-Policy: same-origin\r\n";

inline std::string post(const std::string& target, const std::string& body) {
    return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

inline std::string body_of(const std::string& answer) {
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
}
inline int status_of(const std::string& answer) {
    return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}

// Answers with the method, the target and the body of the request.
inline void echo(const HttpRequest& request, HttpReply reply) {
    std::string text(request.method);
    text.append(" ").append(request.target).append("|").append(request.body);
    reply.answer({.content_type = "text/plain", .body = text});
}

// Keeps every reply until the test answers it.
struct Desk {
    std::map<std::string, HttpReply> pending;  // by target

    HttpHandler handler() {
        return [this](const HttpRequest& request, HttpReply reply) {
            pending.emplace(std::string(request.target), std::move(reply));
        };
    }
    void answer(const std::string& target) {
        const auto found = pending.find(target);
        ASSERT_NE(found, pending.end());
        found->second.answer({.body = target});
        pending.erase(found);
    }
};

// Deadlines that strike within a test, with the sweep to match. That of a header counts from the connect, after which a
// test may be held up before it sends.
inline HttpLimits hasty() {
    HttpLimits limits;
    limits.sweep = std::chrono::milliseconds(5);
    limits.header_deadline = std::chrono::seconds(1);
    limits.body_deadline = limits.idle_timeout = limits.write_deadline = std::chrono::milliseconds(50);
    limits.linger = std::chrono::milliseconds(50);
    return limits;
}

}  // namespace duewheel
