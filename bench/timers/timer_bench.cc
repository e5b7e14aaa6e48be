// What the runtime of the timer library costs over its bare wheel, from its own thread and from others, beside
// Boost.Asio.
//
//     duewheel_timer_bench ROW [--quick]      one round: lines "workload<TAB>n<TAB>subject<TAB>unit<TAB>value"
//
// ROW is owner, producer, crowd, producers, coroutine, garbage or lateness. Times are the machine's clock around the
// loop, divided by the operations; set-up is outside. Deadlines are instants, so no clock is read in the loop;
// `schedule_after` reads one.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/timer_service_probe.h"
#include "shared/random.h"
#include "shared/system_clock.h"
#include <duewheel/coroutine.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/manual_clock.h>
#include <duewheel/task.h>
#include <duewheel/timer_thread.h>
#include <duewheel/timing_wheel.h>

namespace {

using namespace duewheel;
using namespace std::chrono_literals;

constexpr std::uint64_t kTimeoutMax = 60'000;

bool is_quick = false;

void print(const char* workload, std::size_t n, const std::string& subject, const char* unit, double value) {
    std::printf("%s\t%zu\t%s\t%s\t%.3f\n", workload, n, subject.c_str(), unit, value);
    std::fflush(stdout);
}

// Nanoseconds of this thread's processor time for each of `count` calls.
template <class Work>
double time_each(std::uint64_t count, Work&& work) {
    const std::int64_t begin = thread_cpu_ns();
    for (std::uint64_t i = 0; i < count; ++i) work();
    return static_cast<double>(thread_cpu_ns() - begin) / static_cast<double>(count);
}

TimerInstant instant(std::uint64_t ms) {
    return TimerInstant(std::chrono::milliseconds(ms));
}

// ---- pairs of cancel and schedule by the owner ----

// `replace(id, deadline in ms)` cancels and schedules timer `id`.
template <class Replace>
double owner_pairs(std::uint32_t n, Replace&& replace) {
    Random random(1);
    const auto pair = [&] { replace(random.below(n), 1000 + random.below(kTimeoutMax)); };
    const std::uint64_t pairs = is_quick ? 200'000 : 2'000'000;
    for (std::uint32_t i = 0; i < n; ++i) pair();
    return time_each(pairs, pair);
}

void measure_owner(std::uint32_t n) {
    {
        TimingWheel wheel;
        std::vector<TimerHandle> handles(n);
        for (std::uint32_t id = 0; id < n; ++id) handles[id] = wheel.schedule(1 + id % kTimeoutMax, id);
        print("schedule and cancel by the owner", n, "bare wheel, handles", "ns a pair",
              owner_pairs(n, [&](std::uint64_t id, Tick deadline) {
                  static_cast<void>(wheel.cancel(handles[id]));
                  handles[id] = wheel.schedule(deadline, id);
              }));
    }
    {
        struct Timer : IntrusiveLinks {};
        std::vector<Timer> timers(n);
        IntrusiveTimingWheel<Timer> wheel;
        print("schedule and cancel by the owner", n, "bare wheel, intrusive", "ns a pair",
              owner_pairs(n, [&](std::uint64_t id, Tick deadline) {
                  wheel.cancel(timers[id]);
                  wheel.schedule(timers[id], deadline);
              }));
        wheel.clear();
    }
    for (const bool reads_clock : {false, true}) {
        ManualClock told;
        TimerService service({}, reads_clock ? monotonic_clock() : told);
        service.advance();  // from here on this thread is its driver
        std::uint64_t fired = 0;
        std::vector<Timeout> timeouts(n);
        const auto start = [&](std::uint64_t id, std::uint64_t ms) {
            timeouts[id] = reads_clock ? service.schedule_after(std::chrono::milliseconds(ms), [&] { ++fired; }).value()
                                       : service.schedule_at(instant(ms), [&] { ++fired; }).value();
        };
        for (std::uint32_t id = 0; id < n; ++id) start(id, 1 + id % kTimeoutMax);
        print("schedule and cancel by the owner", n, reads_clock ? "TimerService, schedule_after" : "TimerService",
              "ns a pair", owner_pairs(n, [&](std::uint64_t id, std::uint64_t ms) {
                  timeouts[id].cancel();
                  start(id, ms);
              }));
    }
}

// ---- one producer ----

// The driver's thread takes out what comes as a thread of its own would: whenever it is not asleep.
void measure_producer(bool driver_sleeps) {
    const std::uint64_t count = is_quick ? 100'000 : 500'000;
    TimerService service;
    std::vector<Timeout> timeouts(count);
    std::atomic<bool> ends{false};
    std::unique_ptr<TimerThread> sleeper;
    std::thread driver;
    if (driver_sleeps) {
        sleeper = std::make_unique<TimerThread>(service);
    } else {
        driver = std::thread([&] {
            while (!ends) service.advance();
        });
    }
    Random random(1);
    const TimerInstant begin = service.clock().now() + 1h;
    double each = 0;
    for (int round = 0; round < 2; ++round) {  // the first one makes the nodes
        std::uint64_t i = 0;
        each = time_each(count, [&] {
            const std::chrono::milliseconds delay(random.below(kTimeoutMax));
            timeouts[i++] = service.schedule_at(begin + delay, [] {}).value();
        });
        for (Timeout& timeout : timeouts) timeout.cancel();
        std::fill(timeouts.begin(), timeouts.end(), Timeout());
        static_cast<void>(service.pending());
    }
    ends = true;
    if (driver.joinable()) driver.join();
    sleeper.reset();
    print("schedule from another thread", count,
          driver_sleeps ? "TimerService, driver asleep" : "TimerService, driver awake", "ns a call", each);
}

// ---- many producers ----

// Threads that schedule all at once; what single calls took by the machine's clock, one reading of it included.
void measure_crowd(unsigned producers) {
    const std::size_t count = is_quick ? 20'000 : 100'000;
    TimerService service;
    TimerThread thread(service);
    std::vector<std::vector<std::uint32_t>> took(producers, std::vector<std::uint32_t>(count));
    const auto produce = [&](unsigned number) {
        std::vector<Timeout> timeouts(count);
        Random random(number);
        for (int round = 0; round < 2; ++round) {  // the first one makes the nodes
            std::int64_t begin = monotonic_now_ns();
            for (std::size_t i = 0; i < count; ++i) {
                const TimerInstant deadline(1h + std::chrono::nanoseconds(begin) +
                                            std::chrono::milliseconds(random.below(kTimeoutMax)));
                timeouts[i] = service.schedule_at(deadline, [] {}).value();
                const std::int64_t end = monotonic_now_ns();
                took[number][i] = static_cast<std::uint32_t>(end - begin);
                begin = end;
            }
            for (Timeout& timeout : timeouts) std::exchange(timeout, Timeout()).cancel();
        }
    };
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < producers; ++number) threads.emplace_back(produce, number);
    for (std::thread& one : threads) one.join();
    std::vector<std::uint32_t> all;
    for (const std::vector<std::uint32_t>& one : took) all.insert(all.end(), one.begin(), one.end());
    std::sort(all.begin(), all.end());
    print("one call to schedule, by this many threads at once", producers, "TimerService, half of the calls",
          "ns at most", all[all.size() / 2]);
    print("one call to schedule, by this many threads at once", producers, "TimerService, 99 of 100", "ns at most",
          all[all.size() * 99 / 100]);
}

// ---- two producers ----

constexpr std::uint32_t kShared = 100'000;

// Two threads with half of the timers each, replace(id, random) as fast as they can.
template <class Replace>
void two_producers(const char* subject, Replace&& replace) {
    const std::uint64_t pairs = is_quick ? 100'000 : 1'000'000;
    const auto produce = [&](std::uint32_t half) {
        Random random(half + 1);
        for (std::uint64_t i = 0; i < pairs; ++i) {
            const auto id = static_cast<std::uint32_t>(random.below(kShared / 2)) * 2 + half;
            replace(id, 1 + random.below(kTimeoutMax));
        }
    };
    const std::int64_t begin = monotonic_now_ns();
    std::thread other(produce, 1);
    produce(0);
    other.join();
    print("cancel and schedule by two producers", kShared, subject, "ns a pair",
          static_cast<double>(monotonic_now_ns() - begin) / static_cast<double>(2 * pairs));
}

void measure_producers_here() {
    TimerService service;
    TimerThread thread(service);
    std::vector<Timeout> timeouts(kShared);
    const auto start = [&](std::uint32_t id, std::uint64_t ms) {
        timeouts[id] = service.schedule_after(10min + std::chrono::milliseconds(ms), [] {}).value();
    };
    for (std::uint32_t id = 0; id < kShared; ++id) start(id, id % kTimeoutMax);
    two_producers("TimerService", [&](std::uint32_t id, std::uint64_t ms) {
        timeouts[id].cancel();
        start(id, ms);
    });
}

void measure_producers_asio() {
    boost::asio::io_context context;
    auto work = boost::asio::make_work_guard(context);
    std::thread thread([&] { context.run(); });
    std::vector<boost::asio::steady_timer> timers;
    timers.reserve(kShared);
    for (std::uint32_t id = 0; id < kShared; ++id) timers.emplace_back(context);
    const auto start = [&](std::uint32_t id, std::uint64_t ms) {
        timers[id].expires_after(10min + std::chrono::milliseconds(ms));
        timers[id].async_wait([](const boost::system::error_code&) {});
    };
    for (std::uint32_t id = 0; id < kShared; ++id) start(id, id % kTimeoutMax);
    // expires_after() cancels what waits.
    two_producers("asio", start);
    work.reset();
    context.stop();
    thread.join();
}

// ---- coroutines ----

struct Ready {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return 1; }
};

Task<void> await_ready_work(TimerService& service, std::uint64_t count, std::uint64_t& sum) {
    for (std::uint64_t i = 0; i < count; ++i) sum += (co_await with_timeout(service, 1s, Ready{})).has_value();
}

void measure_coroutine() {
    TimerService service;
    const std::uint64_t count = is_quick ? 1'000'000 : 10'000'000;
    std::uint64_t sum = 0;
    const std::int64_t begin = thread_cpu_ns();
    start(await_ready_work(service, count, sum));
    print("ready work with a time limit", 1, "with_timeout", "ns a call",
          static_cast<double>(thread_cpu_ns() - begin) / static_cast<double>(sum));
}

// ---- garbage ----

void measure_garbage() {
    constexpr std::int64_t kTimers = 100'000;
    const auto held = std::make_shared<int>();
    TimerService service;
    TimerThread thread(service);
    std::vector<Timeout> timeouts;
    for (std::int64_t i = 0; i < kTimers; ++i) {
        timeouts.push_back(service.schedule_after(24h, [held] {}).value());
    }
    std::int64_t most = 0;
    std::int64_t most_held = 0;
    std::int64_t live = kTimers;
    for (Timeout& timeout : timeouts) {
        timeout.cancel();
        --live;
        most = std::max(most, static_cast<std::int64_t>(TimerServiceProbe::filed(service)) - live);
        most_held = std::max(most_held, held.use_count() - 1 - live);
    }
    const char* const kept = "cancelled far timers kept while the driver sleeps";
    print(kept, kTimers, "TimerService", "entries", static_cast<double>(most));
    print(kept, kTimers, "what their tasks held", "objects", static_cast<double>(most_held));
}

// ---- lateness ----

constexpr std::size_t kAwaited = 2'000;

// Timers at random instants, 200 a second, on a thread that does nothing else. `start(index, deadline)` arms a timer
// that notes when it fires.
template <class Start>
void measure_lateness(const char* subject, std::vector<std::atomic<std::int64_t>>& fired_ns, Start&& start) {
    const std::size_t count = is_quick ? kAwaited / 10 : kAwaited;
    Random random(1);
    std::vector<std::int64_t> deadlines_ns(count);
    const std::int64_t begin = monotonic_now_ns() + 100'000'000;
    for (std::size_t i = 0; i < count; ++i) {
        deadlines_ns[i] = begin + static_cast<std::int64_t>(random.below(count * 5'000'000));
        fired_ns[i] = 0;
        start(i, deadlines_ns[i]);
    }
    std::vector<double> late_us(count);
    for (std::size_t i = 0; i < count; ++i) {
        while (fired_ns[i] == 0) std::this_thread::sleep_for(10ms);
        late_us[i] = static_cast<double>(fired_ns[i] - deadlines_ns[i]) / 1000;
    }
    std::sort(late_us.begin(), late_us.end());
    if (late_us[0] < 0) {
        std::fprintf(stderr, "%s: a timer fired %.0f us early\n", subject, -late_us[0]);
        std::exit(1);
    }
    const std::string name = subject;
    print("lateness on a thread of its own", count, name + ", half", "us at most", late_us[count / 2]);
    print("lateness on a thread of its own", count, name + ", 99 of 100", "us at most", late_us[count * 99 / 100]);
}

void measure_lateness_here() {
    TimerService service;
    TimerThread thread(service);
    std::vector<std::atomic<std::int64_t>> fired_ns(kAwaited);
    measure_lateness("TimerService", fired_ns, [&](std::size_t i, std::int64_t deadline_ns) {
        static_cast<void>(service.schedule_at(TimerInstant(std::chrono::nanoseconds(deadline_ns)),
                                              [&fired_ns, i] { fired_ns[i] = monotonic_now_ns(); }));
    });
}

void measure_lateness_asio() {
    boost::asio::io_context context;
    auto work = boost::asio::make_work_guard(context);
    std::thread thread([&] { context.run(); });
    std::vector<std::atomic<std::int64_t>> fired_ns(kAwaited);
    std::vector<boost::asio::steady_timer> timers;
    timers.reserve(kAwaited);
    measure_lateness("asio", fired_ns, [&](std::size_t i, std::int64_t deadline_ns) {
        timers.emplace_back(context);
        timers[i].expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns)));
        timers[i].async_wait([&fired_ns, i](const boost::system::error_code&) { fired_ns[i] = monotonic_now_ns(); });
    });
    work.reset();
    context.stop();
    thread.join();
}

}  // namespace

int main(int count, char** words) {
    const std::string row = count > 1 ? words[1] : "";
    is_quick = count > 2 && std::strcmp(words[2], "--quick") == 0;
    if (row == "owner") {
        for (const std::uint32_t n : {10'000U, 100'000U, 1'000'000U}) measure_owner(n);
    } else if (row == "producer") {
        measure_producer(false);
        measure_producer(true);
    } else if (row == "crowd") {
        for (const unsigned producers : {1U, 2U, 4U, 8U}) measure_crowd(producers);
    } else if (row == "producers") {
        measure_producers_here();
        measure_producers_asio();
    } else if (row == "coroutine") {
        measure_coroutine();
    } else if (row == "garbage") {
        measure_garbage();
    } else if (row == "lateness") {
        measure_lateness_here();
        measure_lateness_asio();
    } else {
        std::fprintf(stderr,
                     "usage: duewheel_timer_bench owner | producer | crowd | producers | coroutine | garbage | "
                     "lateness [--quick]\n");
        return 2;
    }
    return 0;
}
