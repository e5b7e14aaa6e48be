// libev: a timer is an ev_timer, moved with ev_timer_again() as its manual says. Its time is a double in seconds, and a
// timer fires when the time is after its own; so the loop gets the middle of a tick as its time, and deadlines count
// from there to the start of their tick.
#include <vector>

#include <ev.h>

#include "peers/told_clock.h"
#include "wheel/workload.h"

namespace duewheel::bench {
namespace {

class Libev {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    Libev(Id ids, Fired& fired) : fired_(fired), loop_(ev_loop_new(EVFLAG_AUTO)), timers_(ids) {
        advance(0);
        for (Id id = 0; id < ids; ++id) {
            ev_timer_init(&timers_[id], on_timer, 0., 0.);
            timers_[id].data = this;
        }
    }
    Libev(const Libev&) = delete;
    Libev& operator=(const Libev&) = delete;
    ~Libev() { ev_loop_destroy(loop_); }

    void start(Id id, Tick deadline) {
        ev_timer_set(&timers_[id], after(deadline), 0.);
        ev_timer_start(loop_, &timers_[id]);
    }
    void stop(Id id) { ev_timer_stop(loop_, &timers_[id]); }
    void move(Id id, Tick deadline) {
        timers_[id].repeat = after(deadline);
        ev_timer_again(loop_, &timers_[id]);
    }
    void advance(Tick now) {
        now_ = now;
        tell_time(now * kTickNanoseconds + kTickNanoseconds / 2);
        ev_run(loop_, EVRUN_NOWAIT);
    }
    std::uint64_t wake_ups(Tick& now) {
        const std::uint64_t count = wake_ups_of(now, [this] { ev_run(loop_, 0); });
        now_ = now;
        return count;
    }

  private:
    double after(Tick deadline) const { return (static_cast<double>(deadline - now_) - 0.5) * 1e-3; }

    static void on_timer(struct ev_loop* loop, ev_timer* timer, int) {
        auto* const self = static_cast<Libev*>(timer->data);
        ev_timer_stop(loop, timer);  // one that was moved would come again by itself
        self->fired_(static_cast<Id>(timer - self->timers_.data()));
    }

    Fired& fired_;
    struct ev_loop* loop_;
    std::vector<ev_timer> timers_;
    Tick now_ = 0;
};

}  // namespace
}  // namespace duewheel::bench

int main(int count, char** words) {
    duewheel::bench::run_subject<duewheel::bench::Libev>(duewheel::bench::parse(count, words));
}
