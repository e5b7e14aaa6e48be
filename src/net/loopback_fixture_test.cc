#include "net/loopback_fixture.h"

#include <cstdlib>
#include <thread>

#include "shared/system_clock.h"

namespace duewheel {

namespace {

std::size_t io_threads() {
    const char* const text = std::getenv("DUEWHEEL_TEST_IO_THREADS");
    return text == nullptr ? 0 : std::stoul(text);
}

Result<std::shared_ptr<void>> start_thread(std::size_t, std::function<void()> run) {
    return std::shared_ptr<void>(std::make_shared<std::jthread>(std::move(run)));
}

}  // namespace

struct LoopbackServer::Thread {
    std::thread runs;
};

LoopbackServer::LoopbackServer(HttpHandler handler, const HttpLimits& limits, HttpRouter router)
    : server_(std::make_unique<HttpThreads>(loop_, io_threads(), start_thread, limits, std::move(handler),
                                            plain_problem, std::move(router))) {
    auto bound = server_->listen("127.0.0.1:0");
    EXPECT_TRUE(bound.ok());
    port_ = bound->port;
    loop_.add(*this);  // after the server, so that this hook sees what the server's did
    thread_ = std::make_unique<Thread>();
    thread_->runs = std::thread([this] {
        loop_.run([this] {
            check_conditions();
            // What I/O threads do is no event of this loop.
            if (io_threads() == 0 || conditions_.empty()) return EventLoop::kOnEvents;
            return EventLoop::TimePoint(std::chrono::nanoseconds(monotonic_now_ns() + 1'000'000));
        });
    });
}

LoopbackServer::~LoopbackServer() {
    on_loop([this] {
        loop_.remove(*this);
        conditions_.clear();  // those of a failed test still look at the server
        server_.reset();
    });
    loop_.stop();
    thread_->runs.join();
}

void LoopbackServer::on_loop(const std::function<void()>& function) {
    std::promise<void> done;
    loop_.post([&] {
        function();
        done.set_value();
    });
    done.get_future().wait();
}

// I/O threads publish their counters when an iteration ends, when a client may already have what it wrote: so these are
// the counters when ten looks at them, a millisecond apart, see no change.
HttpCounters LoopbackServer::counters() {
    HttpCounters copy;
    on_loop([&] { copy = server_->counters(); });
    if (io_threads() == 0) return copy;
    int same = 0;
    await([&] {
        const HttpCounters later = server_->counters();
        same = later == std::exchange(copy, later) ? same + 1 : 0;
        return same == 10;
    });
    return copy;
}

bool LoopbackServer::await(std::function<bool()> condition) {
    auto done = std::make_shared<std::promise<void>>();
    auto future = done->get_future();
    loop_.post([this, condition = std::move(condition), done = std::move(done)] {
        conditions_.push_back({condition, done});
    });
    return future.wait_for(kPatience) == std::future_status::ready;
}

bool LoopbackServer::after_turn() {
    const HttpCounters now = server_->counters();
    const bool wrote = std::exchange(seen_bytes_out_, now.bytes_out) != now.bytes_out;
    return (std::exchange(seen_open_, now.connections_open) != now.connections_open) || wrote;
}

void LoopbackServer::check_conditions() {
    std::erase_if(conditions_, [](Condition& condition) {
        if (!condition.holds()) return false;
        condition.done->set_value();
        return true;
    });
}

}  // namespace duewheel
