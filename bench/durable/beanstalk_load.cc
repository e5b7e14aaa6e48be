// The load of the benchmarks over beanstalkd's protocol for what duewheel_load does over HTTP only: messages that are
// all due at one time, and the runs with consumers. Its options and the line of JSON that it prints are those of that
// program, and also how many messages came twice or were never put.
//
//   duewheel_beanstalk_load put --server beanstalk://HOST:PORT --queue Q --count N --due-ms T --batch 500
//   duewheel_beanstalk_load fire ... --rate 5000 --seconds 15 --delay-min-ms 1000 --delay-max-ms 5000 --takers 200
//   duewheel_beanstalk_load drain ... --count N --connections 4 --take-batch 1000
//   duewheel_beanstalk_load cycle ... --seconds 5 --connections 64 --batch 1
//
// A connection sends `--batch` puts (consumers: `--take-batch` reserves or deletes) and then waits for their replies;
// with 1, a command at a time. The body of a message is its number, its due time and random text, so the consumers
// check that each comes once and none early. Delays are whole seconds: with `--due-ms`, messages are due in the second
// after it. One thread; what a connection does is a coroutine.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/histogram.h"
#include "beanstalk_connection.h"
#include "shared/random.h"
#include "shared/system_clock.h"

namespace {

using namespace duewheel;
using namespace duewheel::beanstalk_load;

constexpr int kEventsATurn = 256;
constexpr int kTurnMs = 10;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kNumberAt = 0, kNumberDigits = 12, kDueAt = 13, kDueDigits = 16;  // in a body

std::int64_t wall_now_us() {
    return wall_now_ns() / 1000;
}

struct Options {
    std::string server;
    std::string queue = "load";
    double seconds = 10;
    double patience_s = 30;  // without any reply
    std::uint64_t connections = 4;
    std::uint64_t takers = 4;  // consumers of fire
    std::uint64_t count = 0;
    std::uint64_t batch = 1;
    std::uint64_t take_batch = 1;
    std::uint64_t rate = 2000;
    std::int64_t due_ms = 0;
    std::int64_t delay_min_ms = 1000;
    std::int64_t delay_max_ms = 1000;
    std::uint64_t body_bytes = 200;
    std::uint64_t seed = 1;
};

// How often each message came, and how late.
struct Ledger {
    void delivered(std::string_view body, std::int64_t at_us) {
        const auto number = static_cast<std::uint64_t>(number_in(body.substr(kNumberAt, kNumberDigits)));
        const std::int64_t late_us = at_us - number_in(body.substr(kDueAt, kDueDigits));
        if (number >= came.size()) {
            ++unknown;
        } else if (std::exchange(came[number], 1) != 0) {
            ++twice;
        } else {
            if (late_us < 0) ++early;
            late.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, late_us)));
        }
    }

    std::vector<char> came;  // of each message that was put, by its number: whether it came
    std::uint64_t early = 0;
    std::uint64_t twice = 0;
    std::uint64_t unknown = 0;
    Histogram late;  // us
};

class Run {
  public:
    explicit Run(const Options& options)
        : options_(options), random_(options.seed), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
    ~Run() {
        connections_.clear();
        ::close(epoll_);
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void put();
    void fire();
    void drain();
    void cycle();
    // Returns whether each command did what it should, and no message came early.
    bool report(const std::string& what) const;

  private:
    using Condition = std::function<bool()>;

    // Connections on which these commands have been answered.
    std::span<const std::unique_ptr<Connection>> connect(std::size_t count, const std::string& commands);
    Work send(Connection& connection, std::string commands);
    void restart_clock();
    double elapsed_s() const { return static_cast<double>(monotonic_now_ns() - began_ns_) / kNsPerSecond; }
    void turn(int wait_ms);
    void until(const Condition& condition, double within_s = 1e9);
    bool is_any_at_work() const;

    std::string put_commands(std::uint64_t count);
    std::int64_t delay_s(std::int64_t at_us);
    void note_puts(Replies replies);
    std::string note_reserved(Replies replies);
    void note_deleted(Replies replies);
    void refuse(const Reply& reply);

    Work put_all(Connection& connection);
    Work put_once(Connection& connection, std::uint64_t count);
    Work take(Connection& connection, Condition goes_on);
    Work cycle_one(Connection& connection);
    Work cycle_pipelined(Connection& connection);

    const Options& options_;
    Random random_;
    int epoll_;
    std::vector<std::unique_ptr<Connection>> connections_;
    Ledger ledger_;
    bool due_at_once_ = false;
    std::uint64_t submitted_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t refused_ = 0;
    std::string refusal_;
    std::uint64_t reserved_ = 0;  // messages in the newest replies
    Histogram took_us_;
    std::int64_t began_ns_ = 0;
    std::int64_t cpu_ns_ = 0;
    std::int64_t replied_ns_ = 0;
};

std::span<const std::unique_ptr<Connection>> Run::connect(std::size_t count, const std::string& commands) {
    const sockaddr_in to = address_of(options_.server);
    const std::size_t first = connections_.size();
    for (std::size_t i = 0; i < count; ++i) {
        connections_.push_back(std::make_unique<Connection>(to));
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = connections_.back().get();
        if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_.back()->descriptor(), &event) != 0)
            throw system_error("epoll_ctl");
        send(*connections_.back(), commands);
    }
    restart_clock();
    until([this] { return !is_any_at_work(); });
    return std::span(connections_).subspan(first);
}

Work Run::send(Connection& connection, std::string commands) {
    const auto lines = static_cast<std::size_t>(std::count(commands.begin(), commands.end(), '\n'));
    co_await connection.call(std::move(commands), lines);
}

void Run::restart_clock() {
    began_ns_ = replied_ns_ = monotonic_now_ns();
    cpu_ns_ = thread_cpu_ns();
}

// A connection that could not send all reports when it can go on, as it reports replies.
void Run::turn(int wait_ms) {
    std::array<epoll_event, kEventsATurn> events;
    const int count = ::epoll_wait(epoll_, events.data(), kEventsATurn, wait_ms);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        auto& connection = *static_cast<Connection*>(event.data.ptr);
        if ((event.events & EPOLLOUT) != 0) connection.flush();
        if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) connection.read();
    }
    const std::int64_t now_ns = monotonic_now_ns();
    const auto waits = [](const auto& connection) { return connection->expects_replies(); };
    if (count > 0 || std::none_of(connections_.begin(), connections_.end(), waits)) {
        replied_ns_ = now_ns;
    } else if (static_cast<double>(now_ns - replied_ns_) > options_.patience_s * kNsPerSecond) {
        throw std::runtime_error("no reply for " + std::to_string(options_.patience_s) + " s, with " +
                                 std::to_string(accepted_) + " puts accepted, " + std::to_string(taken_) +
                                 " messages reserved and " + std::to_string(acknowledged_) + " deleted");
    }
}

void Run::until(const Condition& condition, double within_s) {
    const double end_s = elapsed_s() + within_s;
    while (!condition() && elapsed_s() < end_s) turn(kTurnMs);
}

bool Run::is_any_at_work() const {
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->has_work(); });
}

std::int64_t Run::delay_s(std::int64_t at_us) {
    if (due_at_once_) return 0;
    if (options_.due_ms == 0) return random_.between(options_.delay_min_ms / 1000, options_.delay_max_ms / 1000);
    return std::max<std::int64_t>(0, (options_.due_ms * 1000 - at_us + 999'999) / 1'000'000);
}

std::string Run::put_commands(std::uint64_t count) {
    static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    std::string commands;
    commands.reserve(count * (options_.body_bytes + 40));
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::int64_t at_us = wall_now_us() / 1000 * 1000;  // servers count whole milliseconds
        const std::int64_t seconds = delay_s(at_us);
        std::array<char, 80> head;
        std::snprintf(head.data(), head.size(), "put 0 %lld 60 %llu\r\n%012llu %016lld ",
                      static_cast<long long>(seconds), static_cast<unsigned long long>(options_.body_bytes),
                      static_cast<unsigned long long>(submitted_++),
                      static_cast<long long>(at_us + seconds * 1'000'000));
        commands.append(head.data());
        constexpr std::size_t kHead = kDueAt + kDueDigits + 1;
        for (std::uint64_t at = kHead, bits = 0; at < options_.body_bytes; ++at, bits >>= 6) {
            if ((at - kHead) % 10 == 0) bits = random_.next();
            commands.push_back(kDigits[bits & 63]);
        }
        commands.append("\r\n");
    }
    ledger_.came.resize(submitted_);
    return commands;
}

void Run::note_puts(Replies replies) {
    for (const Reply& reply : replies) {
        if (reply.line.starts_with("INSERTED")) {
            ++accepted_;
        } else {
            refuse(reply);
        }
    }
}

// Returns the commands that delete what was reserved; their number is in reserved_.
std::string Run::note_reserved(Replies replies) {
    const std::int64_t at_us = wall_now_us();
    std::string deletes;
    reserved_ = 0;
    for (const Reply& reply : replies) {
        if (reply.is_reserved()) {
            ledger_.delivered(reply.body, at_us);
            const std::string_view id = reply.line.substr(reply.line.find(' ') + 1);
            deletes.append("delete ").append(id.substr(0, id.find(' '))).append("\r\n");
            ++reserved_;
        } else if (reply.line != "TIMED_OUT") {
            refuse(reply);
        }
    }
    taken_ += reserved_;
    return deletes;
}

void Run::note_deleted(Replies replies) {
    for (const Reply& reply : replies) {
        if (reply.line == "DELETED") {
            ++acknowledged_;
        } else {
            refuse(reply);
        }
    }
}

void Run::refuse(const Reply& reply) {
    if (refused_++ == 0) refusal_ = reply.line;
}

Work Run::put_all(Connection& connection) {
    while (submitted_ < options_.count) {
        const std::uint64_t count = std::min(options_.batch, options_.count - submitted_);
        const Replies replies = co_await connection.call(put_commands(count), count);
        note_puts(replies);
    }
}

Work Run::put_once(Connection& connection, std::uint64_t count) {
    const Replies replies = co_await connection.call(put_commands(count), count);
    note_puts(replies);
}

// Waits up to a second for a message, takes up to `take_batch`, and deletes them.
Work Run::take(Connection& connection, Condition goes_on) {
    std::string reserves = "reserve-with-timeout 1\r\n";
    for (std::uint64_t i = 1; i < options_.take_batch; ++i) reserves.append("reserve-with-timeout 0\r\n");
    while (goes_on()) {
        const Replies replies = co_await connection.call(reserves, options_.take_batch);
        std::string deletes = note_reserved(replies);
        if (const std::uint64_t count = reserved_; count > 0) {
            const Replies deleted = co_await connection.call(std::move(deletes), count);
            note_deleted(deleted);
        }
    }
}

Work Run::cycle_one(Connection& connection) {
    while (elapsed_s() < options_.seconds) {
        const std::int64_t began_ns = monotonic_now_ns();
        const Replies put = co_await connection.call(put_commands(1), 1);
        note_puts(put);
        const Replies reserved = co_await connection.call("reserve\r\n", 1);
        std::string deletes = note_reserved(reserved);
        if (reserved_ == 0) continue;  // refused
        const Replies deleted = co_await connection.call(std::move(deletes), 1);
        note_deleted(deleted);
        took_us_.record(static_cast<std::uint64_t>((monotonic_now_ns() - began_ns) / 1000));
    }
}

// The deletes come before the next reserves, so a reserve that waits holds back none of them; and before it come as
// many puts, so there is always a message for one of those that wait.
Work Run::cycle_pipelined(Connection& connection) {
    std::string deletes;
    std::uint64_t count = 0;
    for (;;) {
        const std::uint64_t more = elapsed_s() < options_.seconds ? options_.batch : 0;
        if (more + count == 0) co_return;
        std::string commands = deletes + put_commands(more);
        for (std::uint64_t i = 0; i < more; ++i) commands.append("reserve\r\n");
        const Replies replies = co_await connection.call(std::move(commands), count + 2 * more);
        note_deleted(replies.first(count));
        note_puts(replies.subspan(count, more));
        deletes = note_reserved(replies.subspan(count + more));
        count = reserved_;
    }
}

void Run::put() {
    const auto connections = connect(options_.connections, "use " + options_.queue + "\r\n");
    restart_clock();
    for (const auto& connection : connections) put_all(*connection);
    until([this] { return !is_any_at_work(); });
}

void Run::fire() {
    const std::string watch = "watch " + options_.queue + "\r\nignore default\r\n";
    connect(options_.takers, watch);
    connect(options_.connections, "use " + options_.queue + "\r\n");
    const auto consumers = std::span(connections_).first(options_.takers);
    const auto producers = std::span(connections_).subspan(options_.takers);
    restart_clock();
    for (const auto& consumer : consumers) take(*consumer, [] { return true; });
    while (elapsed_s() < options_.seconds) {
        std::vector<Connection*> idle;
        for (const auto& producer : producers) {
            if (!producer->has_work()) idle.push_back(producer.get());
        }
        for (std::size_t i = 0; i < idle.size(); ++i) {
            const auto allowed = static_cast<std::uint64_t>(elapsed_s() * static_cast<double>(options_.rate));
            const std::uint64_t left = allowed - std::min(allowed, submitted_);
            const std::uint64_t share = (left + idle.size() - i - 1) / (idle.size() - i);
            if (share > 0) put_once(*idle[i], share);
        }
        turn(1);
    }
    until([this] { return acknowledged_ + refused_ >= submitted_; },
          static_cast<double>(options_.delay_max_ms) / 1000 + options_.patience_s);
}

void Run::drain() {
    ledger_.came.resize(options_.count);
    const auto connections = connect(options_.connections, "watch " + options_.queue + "\r\nignore default\r\n");
    restart_clock();
    bool is_over = false;
    for (const auto& connection : connections) {
        take(*connection, [&] { return taken_ < options_.count && !is_over; });
    }
    std::uint64_t taken = 0;
    double at_s = 0;
    while (is_any_at_work()) {
        turn(kTurnMs);
        if (taken_ > taken) {
            taken = taken_;
            at_s = elapsed_s();
        }
        is_over = elapsed_s() - at_s > options_.patience_s;  // what has not come by then is lost
    }
}

void Run::cycle() {
    due_at_once_ = true;
    const std::string& queue = options_.queue;
    const auto connections =
        connect(options_.connections, "use " + queue + "\r\nwatch " + queue + "\r\nignore default\r\n");
    restart_clock();
    for (const auto& connection : connections) {
        if (options_.batch == 1) {
            cycle_one(*connection);
        } else {
            cycle_pipelined(*connection);
        }
    }
    until([this] { return !is_any_at_work(); });
}

bool Run::report(const std::string& what) const {
    const double seconds = elapsed_s();
    const double cpu_s = static_cast<double>(thread_cpu_ns() - cpu_ns_) / kNsPerSecond;
    const auto ull = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    const auto print_levels = [](const char* name, const Histogram& of, double unit) {
        const auto at = [&](std::uint64_t parts) { return static_cast<double>(of.percentile(parts)) / unit; };
        std::printf("\"%s\":{\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f},", name, at(50'000), at(99'000),
                    at(99'900), at(Histogram::kWhole));
    };
    std::printf("{\"what\":\"%s\",\"seconds\":%.3f,\"per_second\":%.0f,", what.c_str(), seconds,
                static_cast<double>(what == "put" ? accepted_ : acknowledged_) / seconds);
    std::printf("\"accepted\":%llu,\"refused\":%llu,\"taken\":%llu,\"acknowledged\":%llu,", ull(accepted_),
                ull(refused_), ull(taken_), ull(acknowledged_));
    std::printf("\"early\":%llu,\"twice\":%llu,\"unknown\":%llu,", ull(ledger_.early), ull(ledger_.twice),
                ull(ledger_.unknown));
    print_levels("took_us", took_us_, 1);
    print_levels("late_ms", ledger_.late, 1000);
    std::printf("\"client_cpu_seconds\":%.3f}\n", cpu_s);
    if (refused_ > 0) std::fprintf(stderr, "refused: %s\n", refusal_.c_str());
    return refused_ == 0 && ledger_.early == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, void (Run::*)()> runs = {
        {"put", &Run::put}, {"fire", &Run::fire}, {"drain", &Run::drain}, {"cycle", &Run::cycle}};
    Options options;
    std::string what;
    CLI::App app{"Load over beanstalkd's protocol and loopback."};
    app.add_option("RUN", what, "put, fire, drain or cycle")->required()->check(CLI::IsMember(runs));
    app.add_option("--server", options.server)->required();
    app.add_option("--queue", options.queue);
    app.add_option("--connections", options.connections);
    app.add_option("--takers", options.takers);
    app.add_option("--seconds", options.seconds);
    app.add_option("--patience", options.patience_s, "Seconds without any reply after which the run has failed");
    app.add_option("--count", options.count);
    app.add_option("--delay-min-ms", options.delay_min_ms);
    app.add_option("--delay-max-ms", options.delay_max_ms);
    app.add_option("--due-ms", options.due_ms);
    app.add_option("--body", options.body_bytes)->check(CLI::Range(64, 1 << 24));
    app.add_option("--rate", options.rate);
    app.add_option("--batch", options.batch)->check(CLI::PositiveNumber);
    app.add_option("--take-batch", options.take_batch)->check(CLI::PositiveNumber);
    app.add_option("--seed", options.seed);
    CLI11_PARSE(app, argc, argv);
    try {
        Run run(options);
        (run.*runs.at(what))();
        return run.report(what) ? 0 : 1;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "duewheel_beanstalk_load: %s: %s\n", what.c_str(), problem.what());
        return 1;
    }
}
