// A timer queue whose scheme is chosen while the program runs: for tests, which would else be compiled once for each
// scheme.
//
// It forwards every call, at the price of an indirect one, and of a std::function for the sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "wheel/timer_queue.h"

namespace duewheel {

class AnyTimerQueue {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    using Sink = std::function<void(std::uint64_t, Tick)>;

    // A fresh queue of the scheme, made from these arguments.
    template <TimerQueue Queue, class... Arguments>
    static AnyTimerQueue of(const Arguments&... arguments) {
        return AnyTimerQueue(std::make_unique<Adapter<Queue>>(arguments...));
    }

    // What these do is said in wheel/timer_queue.h.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie) { return queue_->schedule(deadline, cookie); }
    [[nodiscard]] bool cancel(TimerHandle handle) { return queue_->cancel(handle); }
    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline) { return queue_->reschedule(handle, deadline); }
    std::size_t advance_to(Tick now, const Sink& sink, std::size_t budget = kUnlimited) {
        return queue_->advance_to(now, sink, budget);
    }
    [[nodiscard]] bool caught_up() const { return queue_->caught_up(); }
    [[nodiscard]] Tick next_expiry() const { return queue_->next_expiry(); }
    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const { return queue_->deadline_of(handle); }
    [[nodiscard]] Tick now() const { return queue_->now(); }
    [[nodiscard]] std::size_t size() const { return queue_->size(); }
    void clear() { queue_->clear(); }
    void check() const { queue_->check(); }

    [[nodiscard]] Tick latest_deadline() const { return queue_->latest_deadline(); }
    [[nodiscard]] Tick lateness_max(Tick delay) const { return queue_->lateness_max(delay); }

  private:
    struct Interface {
        virtual ~Interface() = default;
        virtual TimerHandle schedule(Tick deadline, std::uint64_t cookie) = 0;
        virtual bool cancel(TimerHandle handle) = 0;
        virtual bool reschedule(TimerHandle handle, Tick deadline) = 0;
        virtual std::size_t advance_to(Tick now, const Sink& sink, std::size_t budget) = 0;
        virtual bool caught_up() const = 0;
        virtual Tick next_expiry() const = 0;
        virtual std::optional<Tick> deadline_of(TimerHandle handle) const = 0;
        virtual Tick now() const = 0;
        virtual std::size_t size() const = 0;
        virtual void clear() = 0;
        virtual void check() const = 0;
        virtual Tick latest_deadline() const = 0;
        virtual Tick lateness_max(Tick delay) const = 0;
    };

    template <TimerQueue Queue>
    struct Adapter final : Interface {
        template <class... Arguments>
        explicit Adapter(const Arguments&... arguments) : queue(arguments...) {}

        TimerHandle schedule(Tick deadline, std::uint64_t cookie) override { return queue.schedule(deadline, cookie); }
        bool cancel(TimerHandle handle) override { return queue.cancel(handle); }
        bool reschedule(TimerHandle handle, Tick deadline) override { return queue.reschedule(handle, deadline); }
        std::size_t advance_to(Tick now, const Sink& sink, std::size_t budget) override {
            return queue.advance_to(now, sink, budget);
        }
        bool caught_up() const override { return queue.caught_up(); }
        Tick next_expiry() const override { return queue.next_expiry(); }
        std::optional<Tick> deadline_of(TimerHandle handle) const override { return queue.deadline_of(handle); }
        Tick now() const override { return queue.now(); }
        std::size_t size() const override { return queue.size(); }
        void clear() override { queue.clear(); }
        void check() const override { queue.check(); }
        Tick latest_deadline() const override { return duewheel::latest_deadline(queue); }
        Tick lateness_max(Tick delay) const override { return duewheel::lateness_max<Queue>(delay); }

        Queue queue;
    };

    explicit AnyTimerQueue(std::unique_ptr<Interface> queue) : queue_(std::move(queue)) {}

    std::unique_ptr<Interface> queue_;
};

}  // namespace duewheel
