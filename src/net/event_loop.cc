#include "net/event_loop.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "shared/system_clock.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

// The maximum of handlers, and of their time, before the hook runs: ready sockets must not starve due work, whether
// they are many or slow.
constexpr int kHandlersPerRound = 512;
constexpr std::int64_t kRoundNs = 500'000;

}  // namespace

struct EventLoop::Parts {
    // Only post() comes from other threads, so the reactor needs no lock of its own; the queue of handlers keeps one.
    asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
    asio::executor_work_guard<Executor> keep_running{context.get_executor()};
    Timer timer{context.get_executor()};
    std::optional<asio::signal_set> signals;
    std::function<void(int)> signal_handler;
    std::vector<AfterTurn*> hooks;
    std::atomic<bool> stop_requested{false};
    TimePoint armed = kOnEvents;  // what the timer is set to
    bool woken_by_disarmed_timer = false;

    bool run_ready_handlers();
    bool run_hooks();
    void set_timer(TimePoint wake);
    void sleep_until(TimePoint wake);
    void wait_for_signal();
};

bool EventLoop::Parts::run_ready_handlers() {
    const std::int64_t until_ns = monotonic_now_ns() + kRoundNs;
    bool any = false;
    for (int ran = 0; ran < kHandlersPerRound && context.poll_one() != 0; ++ran) {
        any = true;
        if (monotonic_now_ns() >= until_ns) break;
    }
    return any;
}

bool EventLoop::Parts::run_hooks() {
    bool more = false;
    for (std::size_t i = 0; i < hooks.size(); ++i) more |= hooks[i]->after_turn();
    return more;
}

void EventLoop::Parts::set_timer(TimePoint wake) {
    if (wake == armed) return;
    armed = wake;
    if (wake == kOnEvents) {
        timer.cancel();
        return;
    }
    timer.expires_at(wake);
    timer.async_wait([this](const boost::system::error_code& error) {
        // Setting the timer again completes the previous wait; that alone is no reason to wake up.
        if (error) {
            woken_by_disarmed_timer = true;
        } else {
            armed = kOnEvents;
        }
    });
}

void EventLoop::Parts::sleep_until(TimePoint wake) {
    set_timer(wake);
    do {
        woken_by_disarmed_timer = false;
        context.run_one();
    } while (woken_by_disarmed_timer && !stop_requested.load(std::memory_order_acquire));
}

void EventLoop::Parts::wait_for_signal() {
    signals->async_wait([this](const boost::system::error_code& error, int signal) {
        if (error) return;
        wait_for_signal();
        signal_handler(signal);
    });
}

EventLoop::EventLoop() : parts_(std::make_unique<Parts>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::run(const Turn& turn) noexcept {
    Parts& parts = *parts_;
    while (!parts.stop_requested.load(std::memory_order_acquire)) {
        parts.run_ready_handlers();
        const TimePoint wake = turn();
        const bool more = parts.run_hooks();
        if (more || wake == kAtOnce || parts.stop_requested.load(std::memory_order_acquire)) continue;
        // The timer costs a system call to set, so look for work once more before going to sleep.
        if (parts.context.poll_one() == 0) parts.sleep_until(wake);
    }
    parts.stop_requested.store(false, std::memory_order_release);
}

void EventLoop::run() noexcept {
    run([] { return kOnEvents; });
}

void EventLoop::post(std::function<void()> function) {
    asio::post(parts_->context, std::move(function));
}

void EventLoop::stop() {
    parts_->stop_requested.store(true, std::memory_order_release);
    asio::post(parts_->context, [] {});
}

void EventLoop::on_signals(std::initializer_list<int> signals, std::function<void(int)> handler) {
    assert(!parts_->signals);
    parts_->signals.emplace(parts_->context);
    for (const int signal : signals) parts_->signals->add(signal);
    parts_->signal_handler = std::move(handler);
    parts_->wait_for_signal();
}

void EventLoop::add(AfterTurn& hook) {
    parts_->hooks.push_back(&hook);
}
void EventLoop::remove(AfterTurn& hook) {
    std::erase(parts_->hooks, &hook);
}

asio::io_context& EventLoop::context() {
    return parts_->context;
}

}  // namespace duewheel
