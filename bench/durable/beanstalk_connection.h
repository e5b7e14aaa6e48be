// A client's connection over beanstalkd's protocol, for loads: what it does is a coroutine that sends commands and
// waits for all their replies. One thread, which polls the connections.
#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace duewheel::beanstalk_load {

inline std::int64_t number_in(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

inline std::runtime_error system_error(const std::string& what) {
    return std::runtime_error(what + ": " + std::strerror(errno));
}

// Throws on anything but beanstalk://ADDRESS:PORT.
inline sockaddr_in address_of(const std::string& server) {
    constexpr std::string_view kScheme = "beanstalk://";
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const std::size_t colon = server.rfind(':');
    if (server.starts_with(kScheme) && colon > kScheme.size()) {
        const std::string host = server.substr(kScheme.size(), colon - kScheme.size());
        address.sin_port = htons(static_cast<std::uint16_t>(number_in(std::string_view(server).substr(colon + 1))));
        if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1) return address;
    }
    throw std::runtime_error("\"" + server + "\" is not an address; write beanstalk://127.0.0.1:11300");
}

// What a connection does, from its start to its first wait and from reply to reply. It destroys itself at its end.
struct Work {
    struct promise_type {
        Work get_return_object() { return {}; }
        std::suspend_never initial_suspend() const { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const {}
        void unhandled_exception() const { throw; }
    };
};

struct Reply {
    std::string_view line;
    std::string_view body;  // of RESERVED
    bool is_reserved() const { return line.starts_with("RESERVED "); }
};
using Replies = std::span<const Reply>;

class Connection {
  public:
    explicit Connection(const sockaddr_in& to) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
            throw system_error("no server responds");
        const int on = 1;
        ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~Connection() {
        if (waiting_) waiting_.destroy();
        ::close(descriptor_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    int descriptor() const { return descriptor_; }
    bool has_work() const { return waiting_ != nullptr; }
    bool expects_replies() const { return expected_ > 0; }

    // co_await connection.call(commands, n): sends the commands and returns their n replies, which are valid until the
    // next call.
    struct Call {
        Connection& connection;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> caller) const { connection.waiting_ = caller; }
        Replies await_resume() const { return connection.replies_; }
    };
    Call call(std::string commands, std::size_t replies) {
        output_ = std::move(commands);
        sent_ = 0;
        expected_ = replies;
        flush();
        return {*this};
    }

    void flush() {
        while (sent_ < output_.size()) {
            const ssize_t sent =
                ::send(descriptor_, output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EAGAIN) return;
            if (sent < 0) throw system_error("a connection broke");
            sent_ += static_cast<std::size_t>(sent);
        }
    }

    // Reads what is there; continues the work when all its replies are.
    void read() {
        static std::array<char, 64 * 1024> buffer;
        for (;;) {
            const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) break;
            if (got < 0) throw system_error("a connection broke");
            if (got == 0) throw std::runtime_error("the server closed a connection");
            input_.append(buffer.data(), static_cast<std::size_t>(got));
            if (got < static_cast<ssize_t>(buffer.size())) break;
        }
        while (ends_.size() < expected_ && find_reply()) continue;
        if (expected_ == 0 || ends_.size() < expected_) return;
        replies_.clear();
        std::size_t at = 0;
        for (const End& end : ends_) {
            const std::string_view text = std::string_view(input_).substr(at, end.all - at);
            replies_.push_back({text.substr(0, end.line - at), {}});
            if (end.all > end.line + 2) replies_.back().body = text.substr(end.line + 2 - at, end.all - end.line - 4);
            at = end.all;
        }
        expected_ = 0;
        std::exchange(waiting_, nullptr).resume();
        ends_.clear();
        input_.erase(0, at);
    }

  private:
    struct End {
        std::size_t line;  // of it without its line end
        std::size_t all;
    };

    // The next reply that is there as a whole.
    bool find_reply() {
        const std::size_t from = ends_.empty() ? 0 : ends_.back().all;
        const std::size_t end = input_.find("\r\n", from);
        if (end == std::string::npos) return false;
        const std::string_view line = std::string_view(input_).substr(from, end - from);
        std::size_t all = end + 2;
        if (line.starts_with("RESERVED ")) {
            all += static_cast<std::size_t>(number_in(line.substr(line.rfind(' ') + 1))) + 2;
            if (input_.size() < all) return false;
        }
        ends_.push_back({end, all});
        return true;
    }

    int descriptor_;
    std::coroutine_handle<> waiting_;
    std::string output_;
    std::size_t sent_ = 0;
    std::size_t expected_ = 0;
    std::string input_;
    std::vector<End> ends_;  // of the replies found in input_
    std::vector<Reply> replies_;
};

}  // namespace duewheel::beanstalk_load
