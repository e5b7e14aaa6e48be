// libevent: a timer is an event without a descriptor; adding one that is pending moves it. Many timers of one length go
// into a queue of that length, as libevent advises.
#include <vector>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "peers/told_clock.h"
#include "wheel/workload.h"

namespace duewheel::bench {
namespace {

class Libevent {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    Libevent(Id ids, Fired& fired) : fired_(fired), base_(event_base_new()), timers_(ids) {
        for (event& timer : timers_) event_assign(&timer, base_, -1, 0, on_timer, this);
    }
    Libevent(const Libevent&) = delete;
    Libevent& operator=(const Libevent&) = delete;
    ~Libevent() { event_base_free(base_); }

    void start(Id id, Tick deadline) {
        const Tick delay = deadline - now_;
        const timeval after{static_cast<time_t>(delay / 1000), static_cast<suseconds_t>(delay % 1000 * 1000)};
        event_add(&timers_[id], &after);
    }
    void stop(Id id) { event_del(&timers_[id]); }
    void move(Id id, Tick deadline) {
        const Tick delay = deadline - now_;
        if (delay != common_delay_) {
            const timeval length{static_cast<time_t>(delay / 1000), static_cast<suseconds_t>(delay % 1000 * 1000)};
            common_ = event_base_init_common_timeout(base_, &length);
            common_delay_ = delay;
        }
        event_add(&timers_[id], common_);
    }
    void advance(Tick now) {
        now_ = now;
        tell_time(now * kTickNanoseconds);
        event_base_loop(base_, EVLOOP_NONBLOCK);
    }
    std::uint64_t wake_ups(Tick& now) {
        const std::uint64_t count = wake_ups_of(now, [this] { event_base_loop(base_, 0); });
        now_ = now;
        return count;
    }

  private:
    // libevent gives the callback no event, but says which one is running.
    static void on_timer(evutil_socket_t, short, void* argument) {
        auto* const self = static_cast<Libevent*>(argument);
        self->fired_(static_cast<Id>(event_base_get_running_event(self->base_) - self->timers_.data()));
    }

    Fired& fired_;
    event_base* base_;
    std::vector<event> timers_;
    Tick now_ = 0;
    Tick common_delay_ = 0;  // of all moves
    const timeval* common_ = nullptr;
};

}  // namespace
}  // namespace duewheel::bench

int main(int count, char** words) {
    duewheel::bench::run_subject<duewheel::bench::Libevent>(duewheel::bench::parse(count, words));
}
