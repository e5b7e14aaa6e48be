// Load for a durable queue over loopback: one thread, many connections, the same program for every server it speaks to.
//
//   duewheel_load put   --server http://127.0.0.1:7420 --connections 64 --seconds 10 [--count N] [--pipeline 1]
//                       [--delay-min-ms 3600000 --delay-max-ms 86400000] [--body 200] [--queue q]
//   duewheel_load late  --server ... --rate 2000 --seconds 30 --connections 8
//                       puts RATE messages for each second ahead, takes them by long poll, acknowledges them
//   duewheel_load drain --server ... --connections 4 --batch 100     takes and acknowledges until the queue is empty
//
// `--server beanstalk://127.0.0.1:11300` speaks beanstalkd's protocol instead (put only). It prints one line of JSON:
// what was accepted, how long each request took, how late each message came, how many came early.
//
// Bodies are random and unique, so that no disk or file system can fold them together.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/histogram.h"
#include "base/random.h"
#include "base/system_clock.h"

namespace {

using duewheel::Histogram;
using duewheel::monotonic_now_ns;
using duewheel::Random;
using duewheel::wall_now_ms;

[[noreturn]] void die(const std::string& what) {
    std::fprintf(stderr, "duewheel_load: %s\n", what.c_str());
    std::exit(1);
}

struct Options {
    std::string server = "http://127.0.0.1:7420";
    std::string queue = "load";
    int connections = 64;
    double seconds = 10;
    std::uint64_t count = 0;  // 0: until the seconds are over
    int pipeline = 1;
    std::int64_t delay_min_ms = 3'600'000;
    std::int64_t delay_max_ms = 86'400'000;
    std::size_t body_bytes = 200;
    int rate = 2000;
    int batch = 100;
    std::uint64_t seed = 1;
};

struct Answer {
    bool ok = false;
    int status = 0;
    std::string_view body;
};

// One connection: sends requests as they come, reads answers in order.
class Connection {
  public:
    Connection(const std::string& host, std::uint16_t port, bool http) : http_(http) {
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
        if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            die("cannot connect to " + host + ": " + std::strerror(errno));
        }
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
    }
    ~Connection() { ::close(fd_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    int fd() const { return fd_; }
    std::size_t outstanding() const { return waiting_.size(); }

    void send(std::string_view request, std::function<void(const Answer&)> then) {
        out_.append(request);
        waiting_.push_back(std::move(then));
    }
    void flush() {
        while (!out_.empty()) {
            const ssize_t sent = ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EAGAIN) return;
            if (sent < 0) die(std::string("send: ") + std::strerror(errno));
            out_.erase(0, static_cast<std::size_t>(sent));
        }
    }
    bool wants_to_write() const { return !out_.empty(); }

    void read() {
        char buffer[65536];
        for (;;) {
            const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
            if (got < 0 && errno == EAGAIN) break;
            if (got <= 0) die("the server closed a connection");
            in_.append(buffer, static_cast<std::size_t>(got));
            if (got < static_cast<ssize_t>(sizeof buffer)) break;
        }
        std::size_t used = 0;
        for (Answer answer; take(used, answer);) {
            auto then = std::move(waiting_.front());
            waiting_.pop_front();
            then(answer);
        }
        in_.erase(0, used);
    }

  private:
    // The next whole answer in in_ from `used` on.
    bool take(std::size_t& used, Answer& answer) {
        const std::string_view rest = std::string_view(in_).substr(used);
        if (!http_) {
            const std::size_t end = rest.find("\r\n");
            if (end == std::string_view::npos) return false;
            answer = {rest.starts_with("INSERTED"), 0, rest.substr(0, end)};
            used += end + 2;
            return true;
        }
        const std::size_t head = rest.find("\r\n\r\n");
        if (head == std::string_view::npos) return false;
        const std::size_t field = rest.find("Content-Length: ");
        if (field == std::string_view::npos || field > head) die("an answer without Content-Length");
        std::size_t length = 0;
        std::from_chars(rest.data() + field + 16, rest.data() + head, length);
        if (rest.size() < head + 4 + length) return false;
        std::from_chars(rest.data() + 9, rest.data() + 12, answer.status);
        answer.ok = answer.status / 100 == 2;
        answer.body = rest.substr(head + 4, length);
        used += head + 4 + length;
        return true;
    }

    int fd_ = -1;
    bool http_;
    std::string out_;
    std::string in_;
    std::deque<std::function<void(const Answer&)>> waiting_;
};

class Load {
  public:
    explicit Load(const Options& options) : options_(options), random_(options.seed) {
        http_ = options.server.starts_with("http://");
        const std::size_t scheme = options.server.find("://");
        const std::size_t colon = options.server.rfind(':');
        if (scheme == std::string::npos || colon <= scheme)
            die("--server is http://ADDR:PORT or beanstalk://ADDR:PORT");
        host_ = options.server.substr(scheme + 3, colon - scheme - 3);
        port_ = static_cast<std::uint16_t>(std::stoi(options.server.substr(colon + 1)));
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        for (int i = 0; i < options.connections; ++i) open();
    }
    ~Load() { ::close(epoll_); }

    int put() {
        start_ns_ = monotonic_now_ns();
        const std::int64_t end_ns = start_ns_ + static_cast<std::int64_t>(options_.seconds * 1e9);
        auto more = [&] { return options_.count != 0 ? submitted_ < options_.count : monotonic_now_ns() < end_ns; };
        for (auto& connection : connections_) {
            for (int i = 0; i < options_.pipeline && more(); ++i) send_put(*connection, more);
        }
        while (finished_ < submitted_) turn(1000);
        report("put");
        return refused_ == 0 ? 0 : 1;
    }

    // Half of the connections put RATE messages a second, due within the next seconds; the others take them.
    int late() {
        if (!http_) die("late speaks HTTP only");
        start_ns_ = monotonic_now_ns();
        const std::int64_t end_ns = start_ns_ + static_cast<std::int64_t>(options_.seconds * 1e9);
        const std::size_t half = std::max<std::size_t>(1, connections_.size() / 2);
        for (std::size_t i = half; i < connections_.size(); ++i) send_lease(*connections_[i], "1s");
        std::uint64_t due = 0;
        std::size_t next = 0;
        while (monotonic_now_ns() < end_ns) {
            const auto elapsed = monotonic_now_ns() - start_ns_;
            const auto wanted =
                static_cast<std::uint64_t>(elapsed / 1000) * static_cast<std::uint64_t>(options_.rate) / 1'000'000;
            for (; due < wanted; ++due) send_put(*connections_[next++ % half], [] { return false; });
            turn(1);
        }
        const std::int64_t give_up = monotonic_now_ns() + (options_.delay_max_ms + 10'000) * 1'000'000;
        while (taken_ < accepted_ && monotonic_now_ns() < give_up) turn(10);
        report("late");
        return early_ == 0 && taken_ == accepted_ ? 0 : 1;
    }

    int drain() {
        if (!http_) die("drain speaks HTTP only");
        start_ns_ = monotonic_now_ns();
        draining_ = true;
        for (auto& connection : connections_) send_lease(*connection, "0s");
        while (empty_in_a_row_ < connections_.size()) turn(1000);
        report("drain");
        return 0;
    }

  private:
    void open() {
        connections_.push_back(std::make_unique<Connection>(host_, port_, http_));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = connections_.back().get();
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_.back()->fd(), &event);
    }

    void turn(int wait_ms) {
        for (auto& connection : connections_) connection->flush();
        epoll_event events[256];
        const int count = ::epoll_wait(epoll_, events, 256, wait_ms);
        for (int i = 0; i < count; ++i) static_cast<Connection*>(events[i].data.ptr)->read();
    }

    std::string body() {
        std::string text(options_.body_bytes, ' ');
        static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
        for (std::size_t i = 0; i < text.size();) {
            std::uint64_t bits = random_.next();
            for (int k = 0; k < 10 && i < text.size(); ++k, bits >>= 6) text[i++] = kDigits[bits & 63];
        }
        return text;
    }

    void send_put(Connection& connection, const std::function<bool()>& more) {
        const std::int64_t delay = random_.between(options_.delay_min_ms, options_.delay_max_ms);
        ++submitted_;
        std::string request;
        if (http_) {
            const std::string json = "{\"body\":\"" + body() + "\",\"delay\":" + std::to_string(delay) + "}";
            request = http_request("/v1/queues/" + options_.queue + "/messages", json);
        } else {
            request = "put 0 " + std::to_string(delay / 1000) + " 60 " + std::to_string(options_.body_bytes) + "\r\n" +
                      body() + "\r\n";
        }
        const std::int64_t sent_ns = monotonic_now_ns();
        connection.send(request, [this, &connection, sent_ns, more](const Answer& answer) {
            ++finished_;
            took_us_.record(static_cast<std::uint64_t>((monotonic_now_ns() - sent_ns) / 1000));
            if (answer.ok) {
                ++accepted_;
            } else if (++refused_ == 1) {
                std::fprintf(stderr, "refused: %.*s\n", static_cast<int>(answer.body.size()), answer.body.data());
            }
            if (more()) send_put(connection, more);
        });
    }

    void send_lease(Connection& connection, const std::string& wait) {
        const std::string json =
            "{\"max\":" + std::to_string(options_.batch) + ",\"lease\":\"60s\",\"wait\":\"" + wait + "\"}";
        connection.send(http_request("/v1/queues/" + options_.queue + ":lease", json),
                        [this, &connection, wait](const Answer& answer) {
                            if (!answer.ok) die("lease refused: " + std::string(answer.body));
                            const std::size_t before = taken_;
                            acknowledge_all(connection, answer.body);
                            empty_in_a_row_ = taken_ == before ? empty_in_a_row_ + 1 : 0;
                            if (!draining_ || taken_ != before || empty_in_a_row_ < connections_.size()) {
                                send_lease(connection, wait);
                            }
                        });
    }

    void acknowledge_all(Connection& connection, std::string_view messages) {
        const std::int64_t now = wall_now_ms();
        for (std::size_t at = 0; (at = messages.find("\"lease\":\"", at)) != std::string_view::npos;) {
            at += 9;
            const std::string_view token = messages.substr(at, messages.find('"', at) - at);
            std::size_t field = messages.find("\"due_ms\":", at);
            std::int64_t due = 0;
            std::from_chars(messages.data() + field + 9, messages.data() + messages.size(), due);
            field = messages.find("\"delivered_ms\":", at);
            std::int64_t delivered = 0;
            std::from_chars(messages.data() + field + 15, messages.data() + messages.size(), delivered);
            ++taken_;
            if (delivered < due || now < due) ++early_;
            late_ms_.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - due)));
            connection.send(http_request("/v1/leases/" + std::string(token) + ":ack", ""),
                            [this](const Answer& answer) { ++(answer.ok ? acknowledged_ : refused_); });
        }
    }

    std::string http_request(const std::string& path, const std::string& json) const {
        return "POST " + path + " HTTP/1.1\r\nHost: " + host_ +
               "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(json.size()) + "\r\n\r\n" +
               json;
    }

    void report(const char* what) const {
        const double seconds = static_cast<double>(monotonic_now_ns() - start_ns_) / 1e9;
        const double per_second = static_cast<double>(*what == 'd' ? taken_ : accepted_) / seconds;
        std::printf(
            "{\"what\":\"%s\",\"seconds\":%.3f,\"accepted\":%llu,\"refused\":%llu,\"taken\":%llu,\"acknowledged\":%llu,"
            "\"per_second\":%.0f,\"early\":%llu,\"took_us\":{\"p50\":%llu,\"p99\":%llu,\"p999\":%llu,\"max\":%llu},"
            "\"late_ms\":{\"p50\":%llu,\"p99\":%llu,\"p999\":%llu,\"max\":%llu},\"client_cpu_seconds\":%.3f}\n",
            what, seconds, ull(accepted_), ull(refused_), ull(taken_), ull(acknowledged_), per_second, ull(early_),
            ull(took_us_.percentile(50'000)), ull(took_us_.percentile(99'000)), ull(took_us_.percentile(99'900)),
            ull(took_us_.most()), ull(late_ms_.percentile(50'000)), ull(late_ms_.percentile(99'000)),
            ull(late_ms_.percentile(99'900)), ull(late_ms_.most()),
            static_cast<double>(duewheel::thread_cpu_ns()) / 1e9);
    }
    static unsigned long long ull(std::uint64_t value) { return value; }

    Options options_;
    Random random_;
    bool http_ = true;
    std::string host_;
    std::uint16_t port_ = 0;
    int epoll_ = -1;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::int64_t start_ns_ = 0;
    std::uint64_t submitted_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t early_ = 0;
    std::size_t empty_in_a_row_ = 0;
    bool draining_ = false;
    Histogram took_us_;
    Histogram late_ms_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"Load for a durable queue over loopback."};
    app.require_subcommand(1);
    auto* put = app.add_subcommand("put", "Accepted puts a second");
    auto* late = app.add_subcommand("late", "How late messages are delivered at a rate");
    auto* drain = app.add_subcommand("drain", "Takes and acknowledges all that is due");
    for (CLI::App* command : {put, late, drain}) {
        command->add_option("--server", options.server);
        command->add_option("--queue", options.queue);
        command->add_option("--connections", options.connections);
        command->add_option("--seconds", options.seconds);
        command->add_option("--count", options.count);
        command->add_option("--pipeline", options.pipeline);
        command->add_option("--delay-min-ms", options.delay_min_ms);
        command->add_option("--delay-max-ms", options.delay_max_ms);
        command->add_option("--body", options.body_bytes);
        command->add_option("--rate", options.rate);
        command->add_option("--batch", options.batch);
        command->add_option("--seed", options.seed);
    }
    CLI11_PARSE(app, argc, argv);
    Load load(options);
    if (*put) return load.put();
    if (*late) return load.late();
    return load.drain();
}
