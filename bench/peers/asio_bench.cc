// Boost.Asio: a timer is a steady_timer. A cancelled wait still completes, with an error, when the context is run; the
// context is therefore run at every tick, and after 1,024 cancels while time does not advance.
#include <chrono>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "peers/told_clock.h"
#include "wheel/workload.h"

namespace duewheel::bench {
namespace {

class Asio {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    Asio(Id ids, Fired& fired) : fired_(fired) {
        tell_time(0);
        start_ = std::chrono::steady_clock::now();
        timers_.reserve(ids);
        for (Id id = 0; id < ids; ++id) timers_.emplace_back(context_);
    }
    Asio(const Asio&) = delete;
    Asio& operator=(const Asio&) = delete;

    void start(Id id, Tick deadline) {
        timers_[id].expires_at(start_ + std::chrono::milliseconds(deadline));
        timers_[id].async_wait([this, id](const boost::system::error_code& error) {
            if (!error) fired_(id);
        });
    }
    void stop(Id id) {
        timers_[id].cancel();
        if (++cancelled_ % 1024 == 0) context_.poll();
    }
    void move(Id id, Tick deadline) { start(id, deadline); }
    void advance(Tick now) {
        tell_time(now * kTickNanoseconds);
        context_.poll();
    }
    // What is due goes into its queue all at once, but may be called one by one.
    bool advance_some(Tick now, std::size_t budget) {
        tell_time(now * kTickNanoseconds);
        while (budget > 0 && context_.poll_one() > 0) --budget;
        return budget > 0;
    }
    // Its run() ends when no timer waits, unless work is announced.
    std::uint64_t wake_ups(Tick& now) {
        work_.reset();
        return wake_ups_of(now, [this] {
            context_.run();
            context_.restart();
        });
    }

  private:
    Fired& fired_;
    // One thread runs it, and nothing else touches it: without locks, as all other subjects are.
    boost::asio::io_context context_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
    std::chrono::steady_clock::time_point start_;
    std::vector<boost::asio::steady_timer> timers_;
    std::uint64_t cancelled_ = 0;
};

}  // namespace
}  // namespace duewheel::bench

int main(int count, char** words) {
    duewheel::bench::run_subject<duewheel::bench::Asio>(duewheel::bench::parse(count, words));
}
