// A delay queue: elements have a time, and become available when it has come, in the order of their times.
//
// Like java.util.concurrent.DelayQueue: put() from any thread, take() waits until an element is due. Why choose it over
// a timer for each element: consumers fetch at their own pace, and many elements that become due at once wait here
// instead of running all together. A put costs O(1) with any number of elements, where the original's heap costs O(log
// n); due elements are in a heap until they are taken. Drawback: access to the first element that is not due yet takes
// a scan of all, like a search by value. A thread that waits in take() sleeps on the queue's clock, so a test with a
// ManualClock passes a year at once.
//
// An element becomes available at the first tick at or after its time, never before.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     DelayQueue<int> orders(clock);
//     for (const int seconds_left : {5, 3, 10}) {
//         if (const Status put = orders.put(seconds_left, seconds(seconds_left)); !put) return put.error();
//     }
//     assert(!orders.poll());                            // nothing is due
//     clock.advance(5s);
//     assert(orders.take() == 3 && orders.take() == 5);
//     assert(orders.move(10, 1h) && orders.remove(10) == 10 && orders.size() == 0);
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <duewheel/status.h>
#include <duewheel/timer_clock.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

// Thread safe. Neither copyable nor movable. No thread may be in a call when it is destroyed: close it before.
template <std::movable T>
class DelayQueue {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    // The clock must outlive the queue. Throws std::invalid_argument for a tick of zero or less.
    explicit DelayQueue(const TimerClock& clock = monotonic_clock(),
                        std::chrono::nanoseconds tick = std::chrono::milliseconds(1))
        : clock_(clock), tick_ns_(checked(tick)), wheel_(floor_tick(clock.now())) {}
    DelayQueue(const DelayQueue&) = delete;
    DelayQueue& operator=(const DelayQueue&) = delete;

    // Code: queue_closed. O(1). A delay of zero or less is due now.
    Status put(T value, std::chrono::nanoseconds delay) { return put_at(std::move(value), after(delay)); }
    Status put_at(T value, TimerInstant due);

    // The first due element; none if none is due. O(log of the due ones), like all that take.
    std::optional<T> poll();
    // Waits until one is due. Returns none once the queue is closed, or when the token ends this wait.
    std::optional<T> take(const std::stop_token& token = {}) { return wait_until(kNeverInstant, token); }
    // Waits no longer than this.
    std::optional<T> take_for(std::chrono::nanoseconds patience, const std::stop_token& token = {}) {
        return wait_until(after(patience), token);
    }
    // At most `count` due elements, in order.
    std::vector<T> drain(std::size_t count = kUnlimited);

    // A copy of what poll() would take.
    std::optional<T> peek() requires std::copyable<T>;
    // A copy of the first element, even if it is not due yet. O(size) if none is due.
    std::optional<T> peek_first() requires std::copyable<T>;

    // The first element, due or not, that equals `like`, which need not be a T: check for it; remove it; change its
    // time, behind those with the same time (false: there is none). O(size).
    template <class Like>
    [[nodiscard]] bool contains(const Like& like) const {
        const std::lock_guard lock(mutex_);
        return first_like(like).has_value();
    }
    template <class Like>
    std::optional<T> remove(const Like& like);
    template <class Like>
    bool move(const Like& like, std::chrono::nanoseconds delay) {
        return move_at(like, after(delay));
    }
    template <class Like>
    bool move_at(const Like& like, TimerInstant due);

    // When the first element is due: a past instant if one is due already, kNeverInstant if there is none.
    [[nodiscard]] TimerInstant next_due();

    // All elements, due or not.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return wheel_.size() + due_.size();
    }

    // Removes all elements, in order. Threads that wait in take() continue to wait.
    std::vector<T> clear() {
        const std::lock_guard lock(mutex_);
        return take_all();
    }

    // From now on puts are refused, and threads in take() return with none. Returns all remaining elements, in order.
    // The second call returns none.
    std::vector<T> close();
    [[nodiscard]] bool is_closed() const {
        const std::lock_guard lock(mutex_);
        return is_closed_;
    }

  private:
    struct Element {
        T value;
        TimerInstant due;
        std::uint64_t number;  // of its put(), or its last move()
        TimerHandle timer{};   // fires when it is due; then it is in due_
    };
    using Slot = std::uint32_t;

    // A thread in take(), in the line of waiting threads. The first in line sleeps until an element is due, the others
    // until they are first, so that an element wakes one thread.
    struct Waiting {
        DelayQueue& queue;
        TimerInstant limit;
        std::unique_ptr<TimerAlarm> alarm;

        Waiting(DelayQueue& queue_, TimerInstant limit_)
            : queue(queue_), limit(limit_), alarm(queue_.clock_.make_alarm()) {
            queue.line_.push_back(this);
        }
        ~Waiting() {  // with the lock held
            std::erase(queue.line_, this);
            queue.wake_first();
        }
    };

    static std::int64_t checked(std::chrono::nanoseconds tick) {
        if (tick.count() > 0) return tick.count();
        throw std::invalid_argument("DelayQueue: a tick of " + std::to_string(tick.count()) +
                                    " ns. Take at least 1 ns.");
    }

    Tick floor_tick(TimerInstant instant) const {
        const std::int64_t since = instant.time_since_epoch().count();
        return since <= 0 ? 0 : static_cast<Tick>(since / tick_ns_);
    }
    Tick ceil_tick(TimerInstant instant) const {
        if (instant == kNeverInstant) return kNever;
        const std::int64_t since = instant.time_since_epoch().count();
        return since <= 0 ? 0 : static_cast<Tick>((since - 1) / tick_ns_) + 1;
    }
    TimerInstant begin_of(Tick tick) const {
        const auto ticks_most = static_cast<Tick>(kNeverInstant.time_since_epoch().count() / tick_ns_);
        if (tick > ticks_most) return kNeverInstant;
        return TimerInstant(std::chrono::nanoseconds(static_cast<std::int64_t>(tick) * tick_ns_));
    }
    TimerInstant after(std::chrono::nanoseconds delay) const {
        const TimerInstant now = clock_.now();
        return delay > kNeverInstant - now ? kNeverInstant : now + delay;
    }

    // These functions require the lock.
    auto comes_after() const {
        return [this](Slot a, Slot b) {
            return std::pair(slots_[a]->due, slots_[a]->number) > std::pair(slots_[b]->due, slots_[b]->number);
        };
    }
    bool has_due();
    T take_due();
    T take_out(Slot slot);
    std::vector<T> take_all();
    bool is_before(Slot a, Slot b) const { return comes_after()(b, a); }
    template <class Wanted>
    std::optional<Slot> first_of(Wanted wanted) const;
    template <class Like>
    std::optional<Slot> first_like(const Like& like) const {
        return first_of([&](const T& value) { return value == like; });
    }
    Tick tick_of(TimerInstant due) const {  // what is due now waits for no tick
        return due <= clock_.now() ? 0 : ceil_tick(due);
    }
    void forget_due(Slot slot) {
        std::erase(due_, slot);
        std::make_heap(due_.begin(), due_.end(), comes_after());
    }
    TimerInstant next_due_locked() { return due_.empty() ? begin_of(wheel_.next_expiry()) : TimerInstant::min(); }
    void wake_first() {
        if (line_.empty()) return;
        const TimerInstant due = is_closed_ ? TimerInstant::min() : next_due_locked();
        line_.front()->alarm->set(std::min(line_.front()->limit, due));
    }
    std::optional<T> wait_until(TimerInstant limit, const std::stop_token& token);

    const TimerClock& clock_;
    const std::int64_t tick_ns_;
    mutable std::mutex mutex_;  // guards everything below
    TimingWheel wheel_;         // cookies are slots
    std::vector<std::optional<Element>> slots_;
    std::vector<Slot> free_;
    std::vector<Slot> due_;  // taken from the wheel: a heap, the first one on top
    std::deque<Waiting*> line_;
    std::uint64_t puts_ = 0;
    bool is_closed_ = false;
};

template <std::movable T>
Status DelayQueue<T>::put_at(T value, TimerInstant due) {
    const std::lock_guard lock(mutex_);
    if (is_closed_)
        return Error{ErrorCode::queue_closed, "The delay queue is closed. Put before it is closed, or into another."};
    if (free_.empty()) {
        slots_.emplace_back();
        free_.push_back(static_cast<Slot>(slots_.size() - 1));
    }
    const Slot slot = free_.back();
    const TimerInstant first_before = next_due_locked();
    slots_[slot].emplace(Element{std::move(value), due, puts_});  // may throw, without any change
    try {
        slots_[slot]->timer = wheel_.schedule(tick_of(due), slot);
    } catch (...) {
        slots_[slot].reset();
        throw;
    }
    free_.pop_back();
    ++puts_;
    if (next_due_locked() < first_before) wake_first();
    return {};
}

// Whether an element is due. It also checks the wheel if one is known to be due: a newer one with a past time may come
// first.
template <std::movable T>
bool DelayQueue<T>::has_due() {
    wheel_.advance_to(floor_tick(clock_.now()), [&](std::uint64_t slot, Tick) {
        due_.push_back(static_cast<Slot>(slot));
        std::push_heap(due_.begin(), due_.end(), comes_after());
    });
    return !due_.empty();
}

template <std::movable T>
T DelayQueue<T>::take_due() {
    std::pop_heap(due_.begin(), due_.end(), comes_after());
    const Slot slot = due_.back();
    due_.pop_back();
    return take_out(slot);
}

// For one that is neither on the wheel nor among the due ones.
template <std::movable T>
T DelayQueue<T>::take_out(Slot slot) {
    free_.push_back(slot);
    T value = std::move(slots_[slot]->value);
    slots_[slot].reset();
    return value;
}

template <std::movable T>
template <class Wanted>
auto DelayQueue<T>::first_of(Wanted wanted) const -> std::optional<Slot> {
    std::optional<Slot> first;
    for (Slot slot = 0; slot < slots_.size(); ++slot) {
        if (!slots_[slot] || !wanted(slots_[slot]->value)) continue;
        if (!first || is_before(slot, *first)) first = slot;
    }
    return first;
}

template <std::movable T>
template <class Like>
std::optional<T> DelayQueue<T>::remove(const Like& like) {
    const std::lock_guard lock(mutex_);
    const std::optional<Slot> slot = first_like(like);
    if (!slot) return std::nullopt;
    if (!wheel_.cancel(slots_[*slot]->timer)) forget_due(*slot);
    T value = take_out(*slot);
    wake_first();  // no longer for this one
    return value;
}

template <std::movable T>
template <class Like>
bool DelayQueue<T>::move_at(const Like& like, TimerInstant due) {
    const std::lock_guard lock(mutex_);
    const std::optional<Slot> slot = first_like(like);
    if (!slot) return false;
    Element& element = *slots_[*slot];
    if (!wheel_.reschedule(element.timer, tick_of(due))) {
        element.timer = wheel_.schedule(tick_of(due), *slot);
        forget_due(*slot);
    }
    element.due = due;
    element.number = puts_++;
    wake_first();
    return true;
}

template <std::movable T>
std::optional<T> DelayQueue<T>::poll() {
    const std::lock_guard lock(mutex_);
    if (!has_due()) return std::nullopt;
    return take_due();
}

template <std::movable T>
std::optional<T> DelayQueue<T>::wait_until(TimerInstant limit, const std::stop_token& token) {
    std::optional<Waiting> waiting;
    const std::stop_callback on_stop(token, [&] {
        const std::lock_guard lock(mutex_);
        if (!waiting) return;  // it checks the token before it waits
        waiting->limit = TimerInstant::min();
        waiting->alarm->set(waiting->limit);
    });
    std::unique_lock lock(mutex_);  // released before `on_stop` is destroyed, which waits for a running one
    struct Leave {
        std::optional<Waiting>& waiting;
        ~Leave() { waiting.reset(); }
    } const leave{waiting};
    while (!is_closed_) {
        if (has_due()) return take_due();
        if (clock_.now() >= limit || token.stop_requested()) return std::nullopt;
        if (!waiting) waiting.emplace(*this, limit);
        if (line_.front() == &*waiting) {
            wake_first();
        } else {
            waiting->alarm->set(limit);
        }
        lock.unlock();
        waiting->alarm->wait();
        lock.lock();
    }
    return std::nullopt;
}

template <std::movable T>
std::vector<T> DelayQueue<T>::drain(std::size_t count) {
    const std::lock_guard lock(mutex_);
    std::vector<T> taken;
    while (taken.size() < count && has_due()) taken.push_back(take_due());
    return taken;
}

template <std::movable T>
std::optional<T> DelayQueue<T>::peek() requires std::copyable<T> {
    const std::lock_guard lock(mutex_);
    if (!has_due()) return std::nullopt;
    return slots_[due_.front()]->value;
}

template <std::movable T>
std::optional<T> DelayQueue<T>::peek_first() requires std::copyable<T> {
    const std::lock_guard lock(mutex_);
    const std::optional<Slot> first = has_due() ? due_.front() : first_of([](const T&) { return true; });
    if (!first) return std::nullopt;
    return slots_[*first]->value;
}

template <std::movable T>
TimerInstant DelayQueue<T>::next_due() {
    const std::lock_guard lock(mutex_);
    return next_due_locked();
}

template <std::movable T>
std::vector<T> DelayQueue<T>::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    wake_first();  // who wakes the next in line
    return take_all();
}

template <std::movable T>
std::vector<T> DelayQueue<T>::take_all() {
    std::vector<Slot> order;
    for (Slot slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot]) order.push_back(slot);
    }
    std::sort(order.begin(), order.end(), [this](Slot a, Slot b) { return is_before(a, b); });
    std::vector<T> values;
    values.reserve(order.size());
    for (const Slot slot : order) values.push_back(std::move(slots_[slot]->value));
    wheel_.clear();
    due_.clear();
    slots_.clear();
    free_.clear();
    return values;
}

}  // namespace duewheel
