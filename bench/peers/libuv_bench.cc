// libuv: a timer is a uv_timer_t; starting one that is active moves it.
#include <vector>

#include <uv.h>

#include "peers/told_clock.h"
#include "wheel/workload.h"

namespace duewheel::bench {
namespace {

class Libuv {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    Libuv(Id ids, Fired& fired) : fired_(fired), timers_(ids) {
        uv_loop_init(&loop_);
        for (uv_timer_t& timer : timers_) {
            uv_timer_init(&loop_, &timer);
            timer.data = this;
        }
        advance(0);
    }
    Libuv(const Libuv&) = delete;
    Libuv& operator=(const Libuv&) = delete;

    void start(Id id, Tick deadline) { uv_timer_start(&timers_[id], on_timer, deadline - now_, 0); }
    void stop(Id id) { uv_timer_stop(&timers_[id]); }
    void move(Id id, Tick deadline) { start(id, deadline); }
    void advance(Tick now) {
        now_ = now;
        tell_time(now * kTickNanoseconds);
        // A loop without active timers does not look at the clock when it is run.
        uv_update_time(&loop_);
        uv_run(&loop_, UV_RUN_NOWAIT);
    }
    std::uint64_t wake_ups(Tick& now) {
        const std::uint64_t count = wake_ups_of(now, [this] { uv_run(&loop_, UV_RUN_DEFAULT); });
        now_ = now;
        return count;
    }

  private:
    static void on_timer(uv_timer_t* timer) {
        auto* const self = static_cast<Libuv*>(timer->data);
        self->fired_(static_cast<Id>(timer - self->timers_.data()));
    }

    Fired& fired_;
    uv_loop_t loop_{};
    std::vector<uv_timer_t> timers_;
    Tick now_ = 0;
};

}  // namespace
}  // namespace duewheel::bench

int main(int count, char** words) {
    duewheel::bench::run_subject<duewheel::bench::Libuv>(duewheel::bench::parse(count, words));
}
