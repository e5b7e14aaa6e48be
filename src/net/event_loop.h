// The loop of one thread: sockets, posted functions, signals, and iterations of the thread's own work.
//
// An iteration of the loop is: run the socket work that is ready, call `turn`, let registered objects write collected
// output (AfterTurn), and sleep in the kernel if nothing is left to do. `turn` returns when it must be called again at
// the latest, so a thread without due work sleeps without a single wake-up, and one with due work sleeps to the
// microsecond. Work that arrives during an iteration is collected: a hundred requests read in one iteration are handled
// by one turn, which results in group commit and in one write for many responses.
//
// The loop does not read clocks and cannot be shared: everything except post() and stop() belongs to the thread that
// calls run(). A function that throws ends the process.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace duewheel {

// Called once in every iteration, after the turn and before the loop may sleep.
class AfterTurn {
  public:
    // True if this created new work for the turn: the loop then iterates again instead of sleeping.
    virtual bool after_turn() = 0;

  protected:
    ~AfterTurn() = default;
};

class EventLoop {
  public:
    // On the clock that shared/system_clock.h calls monotonic: TimePoint(std::chrono::nanoseconds(monotonic_now_ns())).
    using TimePoint = std::chrono::steady_clock::time_point;
    // The thread's own work; returns when it must be called again at the latest: a time point, kAtOnce or kOnEvents. It
    // may be called earlier.
    using Turn = std::function<TimePoint()>;

    static constexpr TimePoint kAtOnce = TimePoint::min();
    static constexpr TimePoint kOnEvents = TimePoint::max();

    EventLoop();
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // Runs until stop(). May be called again afterwards.
    void run(const Turn& turn) noexcept;
    void run() noexcept;

    // Any thread: `function` runs on the loop's thread, in the order of posting, and wakes it if it sleeps. What is
    // still waiting when the loop is destroyed is destroyed without being run.
    void post(std::function<void()> function);
    // Any thread: run() returns after the round it is in. A stop() before run() makes the next run() return at once.
    void stop();

    // `handler` runs on the loop's thread with the signal's number whenever one of `signals` arrives, for the life of
    // the loop. Call at most once.
    void on_signals(std::initializer_list<int> signals, std::function<void(int)> handler);

    // `hook` must be removed before it dies.
    void add(AfterTurn& hook);
    void remove(AfterTurn& hook);

    // For code that opens its own sockets on this loop.
    boost::asio::io_context& context();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
