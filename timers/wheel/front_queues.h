// The wheels without handles, as timer queues: so that the suites of the schemes test them too. IdFront makes handles
// over the ids of an IdTimingWheel, IntrusiveFront over timers of an IntrusiveTimingWheel that it owns and destroys as
// soon as they have fired or were cancelled.
//
// For tests only: their speed is lost here, because of an allocation for each timer and a scan for size().
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

// What these do is said in wheel/timer_queue.h.
class IdFront {
  public:
    static constexpr std::size_t kUnlimited = IdTimingWheel::kUnlimited;

    explicit IdFront(Tick now = 0) : wheel_(0, now) {}

    TimerHandle schedule(Tick deadline, std::uint64_t cookie) {
        if (free_.empty()) {
            free_.push_back(static_cast<IdTimingWheel::Id>(rows_.size()));
            rows_.emplace_back();
            wheel_.grow(rows_.size());
        }
        const IdTimingWheel::Id id = free_.back();
        free_.pop_back();
        rows_[id].cookie = cookie;
        rows_[id].taken = true;
        arm(id, deadline);
        return TimerHandle{std::uint64_t{rows_[id].generation} << 32 | id};
    }

    [[nodiscard]] bool cancel(TimerHandle handle) {
        const std::optional<IdTimingWheel::Id> id = id_of(handle);
        if (!id || *id == firing_) return false;
        wheel_.cancel(*id);
        release(*id);
        return true;
    }
    void cancel_posted(TimerHandle handle) { static_cast<void>(cancel(handle)); }

    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline) {
        const std::optional<IdTimingWheel::Id> id = id_of(handle);
        if (!id) return false;
        if (*id == firing_) firing_.reset();
        arm(*id, deadline);
        return true;
    }

    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited) {
        return wheel_.advance_to(
            now,
            [&](IdTimingWheel::Id id, Tick deadline) {
                firing_ = id;
                const EndOfFiring end{*this};
                sink(std::uint64_t{rows_[id].cookie}, deadline);
            },
            budget);
    }

    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const {
        const std::optional<IdTimingWheel::Id> id = id_of(handle);
        if (!id || *id == firing_) return std::nullopt;
        return rows_[*id].asleep ? std::optional(kNever) : wheel_.deadline_of(*id);
    }

    void clear() {
        wheel_.clear();
        firing_.reset();
        for (std::size_t id = 0; id < rows_.size(); ++id) {
            if (rows_[id].taken) release(static_cast<IdTimingWheel::Id>(id));
        }
    }

    [[nodiscard]] bool caught_up() const { return wheel_.caught_up(); }
    [[nodiscard]] Tick next_expiry() const { return wheel_.next_expiry(); }
    [[nodiscard]] Tick next_work() const { return wheel_.next_work(); }
    [[nodiscard]] Tick now() const { return wheel_.now(); }
    [[nodiscard]] std::size_t size() const {
        const auto sleeps = [](const Row& row) { return row.taken && row.asleep; };
        return wheel_.size() + static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), sleeps));
    }
    [[nodiscard]] bool empty() const { return size() == 0; }
    void check() const { wheel_.check(); }
    [[nodiscard]] std::vector<IdTimingWheel::Timer> pending() const { return wheel_.pending(); }

  private:
    struct Row {
        std::uint64_t cookie = 0;
        std::uint32_t generation = 1;
        bool taken = false;
        bool asleep = false;  // armed for kNever, which the wheel takes for disarmed
    };

    // However the sink ends: the id is free again unless the sink armed it.
    struct EndOfFiring {
        IdFront& front;

        ~EndOfFiring() {
            if (front.firing_) front.release(*front.firing_);
            front.firing_.reset();
        }
    };

    std::optional<IdTimingWheel::Id> id_of(TimerHandle handle) const {
        const auto id = static_cast<IdTimingWheel::Id>(handle.bits);
        if (id >= rows_.size() || rows_[id].generation != handle.bits >> 32 || !rows_[id].taken) return std::nullopt;
        return id;
    }
    void arm(IdTimingWheel::Id id, Tick deadline) {
        wheel_.schedule(id, deadline);
        rows_[id].asleep = deadline == kNever;
    }
    void release(IdTimingWheel::Id id) {
        ++rows_[id].generation;
        rows_[id].taken = rows_[id].asleep = false;
        free_.push_back(id);
    }

    mutable IdTimingWheel wheel_;  // carries out what was ordered when it is asked
    std::vector<Row> rows_;
    std::vector<IdTimingWheel::Id> free_;
    std::optional<IdTimingWheel::Id> firing_;  // its sink runs, and has not armed it again
};

class IntrusiveFront {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    explicit IntrusiveFront(Tick now = 0) : wheel_(now) {}
    ~IntrusiveFront() { wheel_.clear(); }

    TimerHandle schedule(Tick deadline, std::uint64_t cookie) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(rows_.size()));
            rows_.emplace_back();
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        Row& row = rows_[index];
        row.timer = std::make_unique<Timer>();
        row.timer->cookie = cookie;
        row.timer->handle = TimerHandle{std::uint64_t{row.generation} << 32 | index};
        wheel_.schedule(*row.timer, deadline);
        return row.timer->handle;
    }

    // What is cancelled is destroyed at once.
    [[nodiscard]] bool cancel(TimerHandle handle) {
        Timer* const timer = find(handle);
        if (timer == nullptr || !wheel_.cancel(*timer)) return false;
        release(handle);
        return true;
    }
    void cancel_posted(TimerHandle handle) { static_cast<void>(cancel(handle)); }

    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline) {
        Timer* const timer = find(handle);
        if (timer == nullptr) return false;
        wheel_.schedule(*timer, deadline);
        return true;
    }

    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited) {
        return wheel_.advance_to(
            now,
            [&](Timer& timer) {
                const EndOfFiring end{*this, timer.handle};
                sink(std::uint64_t{timer.cookie}, timer.deadline());
            },
            budget);
    }

    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const {
        const Timer* const timer = find(handle);
        if (timer == nullptr || !timer->is_pending()) return std::nullopt;
        return timer->deadline();
    }

    void clear() {
        wheel_.clear();
        for (const Row& row : rows_) {
            if (row.timer) release(row.timer->handle);
        }
    }

    [[nodiscard]] bool caught_up() const { return wheel_.caught_up(); }
    [[nodiscard]] Tick next_expiry() const { return wheel_.next_expiry(); }
    [[nodiscard]] Tick next_work() const { return wheel_.next_expiry(); }
    [[nodiscard]] Tick now() const { return wheel_.now(); }
    [[nodiscard]] std::size_t size() const { return wheel_.size(); }
    [[nodiscard]] bool empty() const { return wheel_.empty(); }
    void check() const { wheel_.check(); }

    struct Pending {
        Tick deadline;
    };
    [[nodiscard]] std::vector<Pending> pending() const {
        std::vector<Pending> all;
        for (const Row& row : rows_) {
            if (row.timer) all.push_back(Pending{row.timer->deadline()});
        }
        std::sort(all.begin(), all.end(), [](const Pending& a, const Pending& b) { return a.deadline < b.deadline; });
        return all;
    }

  private:
    struct Timer : IntrusiveTimer {
        TimerHandle handle;
        std::uint64_t cookie = 0;
    };
    struct Row {
        std::unique_ptr<Timer> timer;
        std::uint32_t generation = 1;
    };

    // However the sink ends: the timer is destroyed unless the sink armed it again, or has destroyed it.
    struct EndOfFiring {
        IntrusiveFront& front;
        TimerHandle handle;

        ~EndOfFiring() {
            const Timer* const timer = front.find(handle);
            if (timer != nullptr && !timer->is_pending()) front.release(handle);
        }
    };

    Timer* find(TimerHandle handle) const {
        const auto index = static_cast<std::uint32_t>(handle.bits);
        if (index >= rows_.size() || rows_[index].generation != handle.bits >> 32) return nullptr;
        return rows_[index].timer.get();
    }
    void release(TimerHandle handle) {
        const auto index = static_cast<std::uint32_t>(handle.bits);
        rows_[index].timer.reset();
        ++rows_[index].generation;
        free_.push_back(index);
    }

    mutable IntrusiveTimingWheel<Timer> wheel_;  // remembers the answer to next_expiry()
    std::vector<Row> rows_;
    std::vector<std::uint32_t> free_;
};

}  // namespace duewheel
