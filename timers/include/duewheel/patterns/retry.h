// Retries: repeats an attempt after a delay, a limited number of times.
//
// It is what Dubbo's FailbackClusterInvoker does with failed calls. Why choose it over a loop that sleeps: no thread
// waits. The delays are a plain value, RetryPolicy, that needs no timer: fixed or doubling, up to a maximum, with
// jitter so that a thousand clients of one failed server do not return all at once. Drawback: an attempt must report at
// once whether it succeeded. For attempts with a later response use pending_requests.h, and start a retry when that
// reports a failure.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     int calls = 0;
//     const RetryPolicy policy{.attempts_max = 5, .first_delay = 5s, .delay = 3s};
//     const Result<Retry> retry = Retry::start(service, policy, [&](unsigned) { return ++calls == 2; });
//     if (!retry) return retry.error();
//     clock.advance(5s);
//     service.advance();
//     clock.advance(3s);
//     service.advance();
//     assert(calls == 2 && retry->state() == RetryState::succeeded);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <duewheel/status.h>
#include <duewheel/timer_service.h>

namespace duewheel {

struct RetryPolicy {
    enum class Growth : std::uint8_t { fixed, doubling };

    // At least one attempt, and no negative time.
    unsigned attempts_max = 3;
    std::chrono::nanoseconds first_delay{0};                               // before the first attempt; zero: at once
    std::chrono::nanoseconds delay = std::chrono::seconds(1);              // before the second one
    Growth growth = Growth::fixed;                                         // what becomes of it before the third ...
    std::chrono::nanoseconds delay_max = std::chrono::nanoseconds::max();  // ... up to this
    unsigned jitter_percent = 0;  // 0 to 100: delays after the first are shortened by chance, up to this part of them
    std::uint64_t seed = 0;       // of chance: the same gives the same delays

    // How long to wait before attempt number 1, 2, ... Pure, O(1).
    [[nodiscard]] std::chrono::nanoseconds delay_before(unsigned attempt) const;
};

enum class RetryState : std::uint8_t { waiting, succeeded, given_up, cancelled };

// A handle: cheap to copy, used by any thread, also when the service has gone; dropping it changes nothing.
class Retry {
  public:
    // True: done. It gets the number of the attempt, from 1 on. If it throws, it has failed, and the exception goes to
    // the service's on_error.
    using Attempt = std::function<bool(unsigned attempt)>;
    // Once, after the last attempt has failed; or, with as many as there have been, when the service is stopped before
    // the next one: then by who stops it, or on its executor. A service that is destroyed is stopped, so what this
    // refers to outlives the service, or the retry is cancelled before.
    using GiveUp = std::function<void(unsigned attempts)>;

    // Codes: timers_full, timers_stopped. Where one of these comes between two attempts, it gives up. Throws
    // std::invalid_argument for a policy that is out of range, and where there is no `attempt`.
    static Result<Retry> start(TimerService& service, RetryPolicy policy, Attempt attempt, GiveUp give_up = {});

    // True: no attempt begins any more, nor is anything given up. False: it had ended before.
    bool cancel();

    [[nodiscard]] RetryState state() const;
    // Attempts that have begun.
    [[nodiscard]] unsigned attempts() const;

  private:
    struct Course;

    explicit Retry(std::shared_ptr<Course> course) : course_(std::move(course)) {}

    // Shared with the timer, which keeps it while there is no handle.
    std::shared_ptr<Course> course_;
};

}  // namespace duewheel
