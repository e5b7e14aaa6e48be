#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

#include "runtime/thread_number.h"
#include "shared/random.h"
#include <duewheel/patterns/retry.h>

namespace duewheel {
namespace {

using std::chrono::nanoseconds;

// A part of `longest`, from none of it to `percent` of it, drawn by seed and attempt.
nanoseconds drawn_part(nanoseconds longest, unsigned percent, std::uint64_t seed, unsigned attempt) {
    const std::int64_t most = longest.count() / 100 * std::min(percent, 100U);
    if (most <= 0) return nanoseconds(0);
    std::uint64_t state = seed;
    state = splitmix64(state) + attempt;
    return nanoseconds(Random(state).between(0, most));
}

void check(const RetryPolicy& policy) {
    const auto refuse = [](const char* setting, auto value, const char* remedy) {
        throw std::invalid_argument("Retry: RetryPolicy::" + std::string(setting) + " is " + std::to_string(value) +
                                    remedy);
    };
    if (policy.attempts_max == 0) refuse("attempts_max", 0, ". Allow at least 1.");
    if (policy.jitter_percent > 100) refuse("jitter_percent", policy.jitter_percent, ". Take from 0 to 100.");
    constexpr const char* kNoTime = " ns. Take 0 ns or more.";
    if (policy.first_delay.count() < 0) refuse("first_delay", policy.first_delay.count(), kNoTime);
    if (policy.delay.count() < 0) refuse("delay", policy.delay.count(), kNoTime);
    if (policy.delay_max.count() < 0) refuse("delay_max", policy.delay_max.count(), kNoTime);
}

}  // namespace

nanoseconds RetryPolicy::delay_before(unsigned attempt) const {
    if (attempt <= 1) return std::max(first_delay, nanoseconds(0));
    nanoseconds longest = std::clamp(delay, nanoseconds(0), std::max(delay_max, nanoseconds(0)));
    if (growth == Growth::doubling && longest > nanoseconds(0)) {
        const unsigned doublings = attempt - 2;
        const bool beyond = doublings >= 62 || longest.count() > delay_max.count() >> doublings;
        longest = beyond ? delay_max : nanoseconds(longest.count() << doublings);
    }
    return longest - drawn_part(longest, jitter_percent, seed, attempt);
}

struct Retry::Course : std::enable_shared_from_this<Course> {
    Course(TimerService& service_, RetryPolicy policy_, Attempt attempt_, GiveUp give_up_)
        : service(service_), policy(policy_), attempt(std::move(attempt_)), give_up(std::move(give_up_)) {}

    TimerService& service;
    const RetryPolicy policy;
    const Attempt attempt;
    const GiveUp give_up;
    mutable std::mutex mutex;
    RetryState state = RetryState::waiting;  // guarded by mutex
    unsigned attempts = 0;                   // guarded by mutex
    Timeout timeout;                         // guarded by mutex

    // The thread that starts a timer now, with the lock held: a turn that the service refuses is destroyed in that
    // call.
    std::atomic<std::uint32_t> arming{0};

    // The task of a timer. The service destroys it if the attempt never runs: it was stopped, or its executor drops
    // tasks.
    struct Turn {
        explicit Turn(std::shared_ptr<Course> course_) : course(std::move(course_)) {}
        Turn(Turn&&) noexcept = default;
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (course != nullptr && !has_run) course->end_without_attempt();
        }
        void operator()() {
            has_run = true;
            course->try_once();
        }

        std::shared_ptr<Course> course;  // none: it was moved elsewhere
        bool has_run = false;
    };

    // With the lock held.
    Status wait_for_next() {
        struct Arming {
            std::atomic<std::uint32_t>& thread;
            ~Arming() { thread = 0; }
        } const here{arming};
        arming = this_thread_number();
        Result<Timeout> next = service.schedule_after(policy.delay_before(attempts + 1), Turn(shared_from_this()));
        if (!next) return std::move(next).error();
        timeout = *std::move(next);
        return {};
    }

    void try_once() {
        unsigned number = 0;
        {
            const std::lock_guard lock(mutex);
            if (state != RetryState::waiting) return;
            number = ++attempts;
        }
        bool succeeded = false;
        try {
            succeeded = attempt(number);
        } catch (...) {
            after_attempt(false);
            throw;
        }
        after_attempt(succeeded);
    }

    void after_attempt(bool succeeded) {
        unsigned tried = 0;
        {
            const std::lock_guard lock(mutex);
            if (state != RetryState::waiting) return;  // cancelled meanwhile
            tried = attempts;
            if (succeeded) {
                state = RetryState::succeeded;
                return;
            }
            if (tried < policy.attempts_max && wait_for_next()) return;
            state = RetryState::given_up;
        }
        if (give_up) give_up(tried);
    }

    // In a destructor: the service calls the handler, and receives its exceptions.
    void end_without_attempt() {
        if (arming == this_thread_number()) return;  // refused, which is reported otherwise
        unsigned tried = 0;
        {
            const std::lock_guard lock(mutex);
            if (state != RetryState::waiting) return;  // cancelled, which is why the timer was
            state = RetryState::given_up;
            tried = attempts;
        }
        if (give_up) service.dispatch([self = shared_from_this(), tried] { self->give_up(tried); });
    }
};

Result<Retry> Retry::start(TimerService& service, RetryPolicy policy, Attempt attempt, GiveUp give_up) {
    check(policy);
    if (!attempt) throw std::invalid_argument("Retry: there is nothing to attempt. Give start() what to call.");
    const auto course = std::make_shared<Course>(service, policy, std::move(attempt), std::move(give_up));
    const std::lock_guard lock(course->mutex);
    if (Status waiting = course->wait_for_next(); !waiting) return std::move(waiting).error();
    return Retry(course);
}

bool Retry::cancel() {
    Timeout timeout;
    {
        const std::lock_guard lock(course_->mutex);
        if (course_->state != RetryState::waiting) return false;
        course_->state = RetryState::cancelled;
        timeout = std::move(course_->timeout);
    }
    timeout.cancel();
    return true;
}

RetryState Retry::state() const {
    const std::lock_guard lock(course_->mutex);
    return course_->state;
}

unsigned Retry::attempts() const {
    const std::lock_guard lock(course_->mutex);
    return course_->attempts;
}

}  // namespace duewheel
