#include "load/pipe.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kEventsATurn = 256;

Error broken(const std::string& what) {
    return Error{"unreachable"_code, "the connection broke: " + what + "; look at what the server says of it", ""};
}

struct AddressList {
    addrinfo* first = nullptr;
    AddressList() = default;
    ~AddressList() {
        if (first != nullptr) ::freeaddrinfo(first);
    }
    AddressList(const AddressList&) = delete;
    AddressList& operator=(const AddressList&) = delete;
};

Result<int> connect_to(const std::string& host, const std::string& port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    AddressList addresses;
    if (const int failure = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &addresses.first); failure != 0) {
        return Error{"unreachable"_code, "the address of " + host + " is unknown: " + ::gai_strerror(failure), ""};
    }
    int reason = 0;
    for (const addrinfo* address = addresses.first; address != nullptr; address = address->ai_next) {
        const int descriptor = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor >= 0 && ::connect(descriptor, address->ai_addr, address->ai_addrlen) == 0) {
            const int on = 1;
            ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
            return descriptor;
        }
        reason = errno;
        if (descriptor >= 0) ::close(descriptor);
    }
    return Error{"unreachable"_code,
                 "no server responds at " + host + ":" + port + " (" + std::strerror(reason) +
                     "): is it running, and is this its address?",
                 ""};
}

// The value of Content-Length, in any case of its name; npos if there is none.
std::size_t content_length(std::string_view head) {
    constexpr std::string_view kName = "\r\ncontent-length:";
    const auto same = [](char wanted, char given) {
        return wanted == (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given);
    };
    const auto found = std::search(head.begin(), head.end(), kName.begin(), kName.end(),
                                   [&](char given, char wanted) { return same(wanted, given); });
    if (found == head.end()) return std::string_view::npos;
    auto at = static_cast<std::size_t>(found - head.begin()) + kName.size();
    while (at < head.size() && head[at] == ' ') ++at;
    std::size_t length = std::string_view::npos;
    std::from_chars(head.data() + at, head.data() + head.size(), length);
    return length;
}

}  // namespace

Pipe::~Pipe() {
    ::close(descriptor_);
}

void Pipe::send(std::string_view request, Then then) {
    out_.append(request);
    waiting_.push_back(std::move(then));
}

Status Pipe::flush() {
    while (sent_ < out_.size()) {
        const ssize_t sent = ::send(descriptor_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return {};
        if (sent < 0) return broken(std::strerror(errno));
        sent_ += static_cast<std::size_t>(sent);
    }
    out_.clear();
    sent_ = 0;
    return {};
}

Status Pipe::read() {
    std::array<char, kReadBytes> buffer;
    for (;;) {
        const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EAGAIN) break;
        if (got < 0) return broken(std::strerror(errno));
        if (got == 0) return broken("the server closed it");
        in_.append(buffer.data(), static_cast<std::size_t>(got));
        if (got < static_cast<ssize_t>(buffer.size())) break;
    }
    std::size_t used = 0;
    while (!waiting_.empty()) {
        PipeAnswer answer;
        const Result<std::size_t> length = first_answer(std::string_view(in_).substr(used), answer);
        if (!length) return length.error();
        if (*length == 0) break;
        used += *length;
        const Then then = std::move(waiting_.front());
        waiting_.pop_front();
        then(answer);
    }
    in_.erase(0, used);
    return {};
}

Result<std::size_t> Pipe::first_answer(std::string_view text, PipeAnswer& answer) const {
    if (protocol_ == PipeProtocol::beanstalkd) {
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos) return std::size_t{0};
        answer.body = text.substr(0, end);
        answer.status = 200;
        return end + 2;
    }
    const std::size_t head = text.find("\r\n\r\n");
    if (head == std::string_view::npos) return std::size_t{0};
    const std::size_t length = content_length(text.substr(0, head));
    if (!text.starts_with("HTTP/1.1 ") || length == std::string_view::npos) {
        return Error{"bad_answer"_code, "a response is not HTTP/1.1 with a Content-Length: is it a Duewheel server?",
                     ""};
    }
    if (text.size() < head + 4 + length) return std::size_t{0};
    std::from_chars(text.data() + 9, text.data() + 12, answer.status);
    answer.body = text.substr(head + 4, length);
    return head + 4 + length;
}

Result<std::unique_ptr<PipeSet>> PipeSet::open(std::string_view server, std::size_t connections) {
    std::unique_ptr<PipeSet> set(new PipeSet());
    const std::size_t scheme_end = server.find("://");
    const std::string_view scheme = server.substr(0, scheme_end);
    if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "beanstalk")) {
        return Error{"bad_address"_code,
                     "\"" + std::string(server) +
                         "\" is not an address that can be measured; write http://HOST:PORT, such as "
                         "http://127.0.0.1:7420. The load generator does not speak TLS.",
                     ""};
    }
    set->protocol_ = scheme == "http" ? PipeProtocol::http : PipeProtocol::beanstalkd;
    set->authority_ = server.substr(scheme_end + 3);
    while (set->authority_.ends_with('/')) set->authority_.pop_back();
    std::string host = set->authority_;
    std::string port = set->protocol_ == PipeProtocol::http ? "80" : "11300";
    if (const std::size_t colon = host.rfind(':'); colon != std::string::npos && host.find(']', colon) == host.npos) {
        port = host.substr(colon + 1);
        host.erase(colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    set->epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (set->epoll_ < 0) return broken(std::strerror(errno));
    for (std::size_t i = 0; i < connections; ++i) {
        const Result<int> descriptor = connect_to(host, port);
        if (!descriptor) return descriptor.error();
        set->pipes_.push_back(std::make_unique<Pipe>(*descriptor, set->protocol_));
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = set->pipes_.back().get();
        if (::epoll_ctl(set->epoll_, EPOLL_CTL_ADD, *descriptor, &event) != 0) return broken(std::strerror(errno));
    }
    return set;
}

PipeSet::~PipeSet() {
    if (epoll_ >= 0) ::close(epoll_);
}

// Edge-triggered events are reported once: flush() runs in every iteration, so that no chance to write is missed, and
// read() reads until a read returns less than its buffer, after which another edge reports more.
Status PipeSet::turn(int wait_ms) {
    for (const auto& pipe : pipes_) {
        if (Status flushed = pipe->flush(); !flushed) return flushed;
    }
    std::array<epoll_event, kEventsATurn> events;
    const int count = ::epoll_wait(epoll_, events.data(), kEventsATurn, wait_ms);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) continue;
        if (Status read = static_cast<Pipe*>(event.data.ptr)->read(); !read) return read;
    }
    return {};
}

}  // namespace duewheel
