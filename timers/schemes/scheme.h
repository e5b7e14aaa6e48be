// What all schemes of this folder have in common, so that each file holds nothing but its own idea: where a timer lies,
// and how the next ones that are due are found. Here are the names of timers, the late ones, and the passes of
// advance_to(), as wheel/timer_queue.h promises them.
//
// A scheme derives from Scheme<itself>, has Scheme as a friend, and offers
//
//     void file(Timer&)          puts away a timer that is due after the tick the scheme has worked up to
//     void unfile(Timer&)        takes it out again; only if there is more to it than leaving its list
//     bool collect(Tick limit)   goes on to the next tick that has timers due, at most to `limit`, and gives them to
//                                make_due(). False when it has come to `limit` and found none.
//     Tick earliest() const      when the next of the filed timers fires; kNever if there is none
//     std::size_t check_filed() const      verifies the scheme's own invariants; how many timers are filed
//     Place locate(const Timer&) const     where a filed timer lies
//     std::vector<Row> rows() const        what there is to lie in
//
// A pass works in three steps. What is due at one tick lies in the list `due_`, and is fired from its front: so a sink
// may cancel or move any peer, and a budget may stop anywhere. When the list is empty it is filled again: by the late
// timers once all has fired that was due when they were armed, else by the scheme's next tick. Timers that are armed
// late meanwhile go to another list, which is looked at when the next call begins.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "schemes/place.h"
#include "schemes/timer_list.h"
#include "schemes/timer_pool.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

template <class Self>
class Scheme {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    Scheme(const Scheme&) = delete;
    Scheme& operator=(const Scheme&) = delete;

    // What these do is said in wheel/timer_queue.h, what they cost in each scheme.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie) {
        if (!takes(deadline)) return TimerHandle{};
        Timer& timer = pool_.acquire();
        timer.cookie = cookie;
        arm(timer, deadline);
        return TimerPool::handle_of(timer);
    }

    [[nodiscard]] bool cancel(TimerHandle handle) {
        Timer* const timer = pool_.find(handle);
        if (timer == nullptr || timer->state == Timer::State::firing) return false;
        disarm(*timer);
        pool_.release(*timer);
        return true;
    }

    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline) {
        Timer* const timer = pool_.find(handle);
        if (timer == nullptr || !takes(deadline)) return false;
        if (timer->state != Timer::State::firing) disarm(*timer);
        arm(*timer, deadline);
        return true;
    }

    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited) {
        assert(!in_sink_ && "advance_to() called from its own sink");
        begin_pass(now);
        std::size_t fired = 0;
        // What comes next is looked for even if the budget is used up: when nothing does, the scheme has come to `now`.
        while ((!due_.empty() || refill_due()) && fired < budget) {
            fire(due_.front(), sink);
            ++fired;
        }
        return fired;
    }

    [[nodiscard]] bool caught_up() const { return due_.empty() && waiting_.empty() && self().earliest() > now_; }

    [[nodiscard]] Tick next_expiry() const {
        if (!late_.empty() || !due_.empty() || !waiting_.empty()) return now_;
        return std::max(now_, self().earliest());
    }

    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const {
        const Timer* const timer = pool_.find(handle);
        if (timer == nullptr || timer->state == Timer::State::firing) return std::nullopt;
        return timer->deadline;
    }

    [[nodiscard]] Tick now() const { return now_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    void clear() {
        for (std::size_t index = 0; index < pool_.size(); ++index) {
            Timer& timer = pool_.at(index);
            if (is_pending(timer)) disarm(timer);
            if (timer.state != Timer::State::free && timer.state != Timer::State::retired) pool_.release(timer);
        }
    }

    // Where the timer lies; nothing if it is not filed: not pending, late, due just now, or without a deadline.
    [[nodiscard]] std::optional<Place> place_of(TimerHandle handle) const {
        const Timer* const timer = pool_.find(handle);
        if (timer == nullptr || timer->state != Timer::State::filed) return std::nullopt;
        return self().locate(*timer);
    }

    void check() const {
        require(now_ <= kLastTick, "the time is not after the last tick");
        std::size_t queued = 0;
        for (const TimerList* list : {&due_, &late_, &waiting_, &asleep_}) {
            for (const Timer& timer : *list) {
                require(timer.next->prev == &timer && timer.prev->next == &timer, "links agree in both directions");
                require(timer.state == Timer::State::queued, "a timer in a list of the pass says so");
                require(list == &asleep_ || timer.deadline <= now_, "a timer that waits to be fired is due");
                ++queued;
            }
        }
        require(waiting_.empty() || waiting_tick_ <= now_, "the turn of the late timers is not after the time");
        check_pool(queued, self().check_filed());
    }

  protected:
    static constexpr Tick kLastTick = kNever - 1;

    explicit Scheme(Tick now) : now_(std::min(now, kLastTick)) {}
    ~Scheme() = default;

    // From collect(): this timer fires now. It leaves the list it is in, if it is in one.
    void make_due(Timer& timer) {
        TimerList::unlink(timer);
        timer.state = Timer::State::queued;
        due_.push_back(timer);
    }
    bool has_due() const { return !due_.empty(); }

    // From collect(): empties a slot. Its timers that are due at `tick` fire now, the others are filed again.
    void take_down(TimerList& slot, Tick tick) {
        TimerList taken;
        taken.take_all(slot);
        while (!taken.empty()) {
            Timer& timer = taken.front();
            if (timer.deadline == tick) {
                make_due(timer);
            } else {
                TimerList::unlink(timer);
                self().file(timer);
            }
        }
    }

    void unfile(Timer& timer) { TimerList::unlink(timer); }

    // From file(): this timer cannot fire before time ends.
    void put_to_sleep(Timer& timer) {
        timer.state = Timer::State::queued;
        asleep_.push_back(timer);
    }

    static void require(bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "Scheme::check: %s\n", what);
        std::abort();
    }

    // That the list is whole and holds filed timers; how many. The visitor sees each of them.
    template <std::invocable<const Timer&> Visitor>
    static std::size_t check_list(const TimerList& list, Visitor&& visitor) {
        std::size_t count = 0;
        for (const Timer& timer : list) {
            require(timer.next->prev == &timer && timer.prev->next == &timer, "links agree in both directions");
            require(timer.state == Timer::State::filed, "a timer in a list of the scheme says so");
            visitor(timer);
            ++count;
        }
        return count;
    }

  private:
    friend struct SchemeProbe;  // lets the tests damage a scheme and age a generation

    // Ends the firing of one timer however the sink ends: gives it back unless the sink armed it again.
    class Firing {
      public:
        Firing(Scheme& scheme, Timer& timer) : scheme_(scheme), timer_(timer) { scheme_.in_sink_ = true; }
        Firing(const Firing&) = delete;
        Firing& operator=(const Firing&) = delete;
        ~Firing() {
            scheme_.in_sink_ = false;
            // After clear() the memory may already serve another timer, but no other timer fires before this one ends.
            if (timer_.state == Timer::State::firing) scheme_.pool_.release(timer_);
        }

      private:
        Scheme& scheme_;
        Timer& timer_;
    };

    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }

    static bool is_pending(const Timer& timer) {
        return timer.state == Timer::State::filed || timer.state == Timer::State::queued;
    }

    bool takes(Tick deadline) const {
        if constexpr (requires { self().latest_deadline(); }) {
            return deadline == kNever || deadline <= self().latest_deadline();
        } else {
            return true;
        }
    }

    void arm(Timer& timer, Tick deadline) {
        timer.deadline = deadline;
        ++size_;
        if (deadline <= now_) {
            timer.state = Timer::State::queued;
            late_.push_back(timer);
        } else if (deadline == kNever) {
            put_to_sleep(timer);
        } else {
            timer.state = Timer::State::filed;
            self().file(timer);
        }
    }

    void disarm(Timer& timer) {
        --size_;
        if (timer.state == Timer::State::filed) {
            self().unfile(timer);
        } else {
            TimerList::unlink(timer);
        }
    }

    void begin_pass(Tick now) {
        // Late timers of an earlier call that ran out of budget keep their turn, and the new ones share it.
        if (waiting_.empty()) waiting_tick_ = now_;
        waiting_.take_all(late_);
        now_ = std::max(now_, std::min(now, kLastTick));
    }

    // The late ones wait until all has fired that was due by the tick at which they were armed. Otherwise a timer that
    // always arms itself late could use up every budget before any other has its turn.
    bool refill_due() {
        if (waiting_.empty()) return self().collect(now_);
        if (!self().collect(waiting_tick_)) due_.take_all(waiting_);
        return true;
    }

    template <class Sink>
    void fire(Timer& timer, Sink& sink) {
        disarm(timer);
        timer.state = Timer::State::firing;
        const std::uint64_t cookie = timer.cookie;
        const Tick deadline = timer.deadline;
        const Firing firing(*this, timer);
        sink(cookie, deadline);
    }

    void check_pool(std::size_t queued, std::size_t filed) const {
        std::size_t states[5] = {};
        for (std::size_t index = 0; index < pool_.size(); ++index) {
            ++states[static_cast<std::size_t>(pool_.at(index).state)];
        }
        const auto in_state = [&](Timer::State state) { return states[static_cast<std::size_t>(state)]; };
        require(in_state(Timer::State::queued) == queued, "every queued timer is in a list of the pass");
        require(in_state(Timer::State::filed) == filed, "every filed timer is found in the scheme");
        require(queued + filed == size_, "the size is the number of pending timers");
        require(in_state(Timer::State::firing) <= (in_sink_ ? 1U : 0U), "a timer fires only in the sink");
    }

    TimerPool pool_;
    TimerList due_;      // to be fired now, from the front
    TimerList late_;     // armed late since the last call of advance_to() began
    TimerList waiting_;  // armed late before it; their turn is at waiting_tick_
    TimerList asleep_;   // nothing will wake them
    Tick now_;
    Tick waiting_tick_ = 0;
    std::size_t size_ = 0;
    bool in_sink_ = false;
};

}  // namespace duewheel
