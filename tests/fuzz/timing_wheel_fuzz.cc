// The timing wheel with a script of operations, compared with a map: it fires what is due, once, never early, in order
// of ticks, and nothing else.
//
// The wheel's own checker runs after every operation. The sink also schedules, cancels and reschedules.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include <duewheel/timing_wheel.h>

namespace duewheel::timing_wheel_fuzz {
namespace {

constexpr std::size_t kTimersMax = 64;
constexpr int kOperationsMax = 200;

class Trial {
  public:
    explicit Trial(std::string_view input) : script_(input), wheel_(draw_start()), now_(wheel_.now()) {}

    void run() {
        for (int i = 0; i < kOperationsMax && !script_.at_end(); ++i) {
            step();
            compare();
        }
        drain();
    }

  private:
    struct Timer {
        TimerHandle handle;
        Tick deadline = 0;
        bool late = false;  // armed at or before the time of the call that was then running or last
        bool waits = late;  // for the next call
    };

    Tick draw_start() { return script_.chance(4) ? script_.number() : script_.byte(); }

    Tick later(Tick delay) const { return delay > kNever - now_ ? kNever : now_ + delay; }

    // Near and far, and at the edges of the wheel's levels.
    Tick draw_tick() {
        switch (script_.below(7)) {
            case 0:
                return now_ - std::min<Tick>(now_, script_.byte());
            case 1:
                return later(script_.byte());
            case 2:
                return later(Tick{script_.byte()} << script_.below(60));
            case 3: {
                const unsigned shift = 6 * script_.below(11);
                const Tick edge = ((now_ >> shift) + 1 + script_.below(3)) << shift;
                return edge + script_.below(3) - 1;
            }
            case 4:
                return kNever - script_.below(4);
            case 5:
                return script_.number();
            default:
                return timers_.empty() ? now_ : timers_.begin()->second.deadline;
        }
    }

    std::map<std::uint64_t, Timer>::iterator draw_timer() {
        auto timer = timers_.begin();
        std::advance(timer, script_.below(static_cast<unsigned>(timers_.size())));
        return timer;
    }

    void change() {
        const unsigned what = script_.below(4);
        if (what < 2 && timers_.size() < kTimersMax) {
            const Tick deadline = draw_tick();
            const std::uint64_t cookie = ++last_cookie_;
            timers_[cookie] = {wheel_.schedule(deadline, cookie), deadline, deadline <= now_};
        } else if (timers_.empty()) {
            return;
        } else if (what == 2) {
            const auto timer = draw_timer();
            require(wheel_.cancel(timer->second.handle), "a pending timer could not be cancelled");
            require(!wheel_.cancel(timer->second.handle), "a cancelled timer could be cancelled again");
            require(!wheel_.reschedule(timer->second.handle, now_), "a cancelled timer could be rescheduled");
            timers_.erase(timer);
        } else {
            Timer& timer = draw_timer()->second;
            timer.deadline = draw_tick();
            timer.late = timer.waits = timer.deadline <= now_;
            require(wheel_.reschedule(timer.handle, timer.deadline), "a pending timer could not be rescheduled");
        }
    }

    void step() {
        const unsigned what = script_.below(8);
        if (what < 4) return change();
        if (what < 7) return advance(draw_tick(), script_.chance(3) ? script_.below(6) : TimingWheel::kUnlimited, true);
        if (!script_.chance(8)) return;
        wheel_.clear();
        timers_.clear();
    }

    void advance(Tick to, std::size_t budget, bool busy) {
        now_ = std::max(now_, std::min(to, kNever - 1));
        const std::size_t pending = timers_.size();
        for (auto& [cookie, timer] : timers_) timer.waits = false;
        std::size_t fired = 0;
        const std::size_t told = wheel_.advance_to(
            to,
            [&](std::uint64_t cookie, Tick deadline) {
                const auto timer = timers_.find(cookie);
                require(timer != timers_.end(), "a timer fired that is not pending");
                require(timer->second.deadline == deadline, "a timer fired with another deadline");
                require(deadline <= now_, "a timer fired early");
                require(!timer->second.waits, "a timer fired in the call that armed it");
                if (!timer->second.late) {
                    require(deadline >= last_fired_, "a timer fired after one of a later tick");
                    last_fired_ = deadline;
                }
                timers_.erase(timer);
                ++fired;
                if (busy && script_.chance(3)) change();
            },
            budget);
        require(told == fired, "the wheel counted another number than it fired");
        require(fired <= budget && fired <= pending, "more fired than may");
        if (budget == TimingWheel::kUnlimited) require(wheel_.caught_up(), "a call without a budget did not finish");
        if (!wheel_.caught_up()) return;
        for (const auto& [cookie, timer] : timers_) {
            require(timer.deadline > now_ || timer.waits, "a due timer was left behind");
        }
    }

    void compare() {
        wheel_.check();
        require(wheel_.now() == now_, "the wheel has another time");
        require(wheel_.size() == timers_.size(), "the wheel has another number of timers");
        Tick earliest = kNever;
        for (const auto& [cookie, timer] : timers_) {
            require(wheel_.deadline_of(timer.handle) == timer.deadline, "a deadline is another");
            earliest = std::min(earliest, timer.deadline);
        }
        const Tick expected = earliest <= now_ || !wheel_.caught_up() ? now_ : earliest;
        require(wheel_.next_expiry() == expected, "the next expiry is another");
        require(wheel_.next_work() <= expected, "the next work comes too late");
        require(wheel_.next_work() >= now_, "the next work lies in the past");
    }

    // Everything comes out in the end, a few at a time, but for what never fires.
    void drain() {
        for (int calls = 0; calls < 2000; ++calls) {
            advance(kNever, 5, false);
            compare();
            if (wheel_.caught_up()) break;
        }
        require(wheel_.caught_up(), "the wheel never finishes");
        for (const auto& [cookie, timer] : timers_) {
            require(timer.deadline >= kNever - 1, "a timer was lost");
        }
    }

    InputScript script_;
    TimingWheel wheel_;
    Tick now_;
    std::map<std::uint64_t, Timer> timers_;
    std::uint64_t last_cookie_ = 0;
    Tick last_fired_ = 0;  // the deadline of the last that fired and was not armed late
};

}  // namespace

void fuzz(std::string_view input) {
    Trial(input).run();
}

}  // namespace duewheel::timing_wheel_fuzz
