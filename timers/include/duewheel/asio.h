// A timer for Boost.Asio programs with the interface of boost::asio::steady_timer, on a timing wheel: for very many
// timers of which most are cancelled or moved before they expire.
//
// Why choose it over steady_timer: scheduling, moving and cancelling cost the same with any number of timers.
// Drawbacks: the resolution of its tick; and with few timers it has no advantage.
//
// Change the type and recompile: expires_after(), expires_at(), expiry(), async_wait() with any completion token,
// cancel(), cancel_one(), wait(), cancellation slots, default tokens. Differences: it expires at the first whole
// millisecond at or after its expiry, never before; one io_context uses one steady_timer for all of them; the
// cancellation slot of a wait still ends it after its timer was moved; and the order of timers that expire in the same
// millisecond is undefined. It needs Boost.Asio, unlike the rest of the library.
//
// Example:
//     boost::asio::io_context context;
//     WheelTimer timer(context);
//     bool expired = false;
//     timer.expires_after(2ms);
//     timer.async_wait([&](boost::system::error_code error) { expired = !error; });
//     context.run();
//     assert(expired);
//
// As with steady_timer, one timer is used by one thread at a time, different ones by any threads, also while several
// threads run the context. A pending wait keeps run() from returning.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <duewheel/timer_service.h>

namespace duewheel {

// The timer service of an execution context, which drives it with one steady_timer. Users get it from
// asio_timer_service(); WheelTimer finds it by itself.
class AsioTimers final : public boost::asio::execution_context::service {
  public:
    using key_type = AsioTimers;
    inline static boost::asio::execution_context::id id;

    explicit AsioTimers(boost::asio::execution_context& context)
        : boost::asio::execution_context::service(context), alarm_(*this) {
        service_.set_alarm(&alarm_);
    }
    ~AsioTimers() override { service_.set_alarm(nullptr); }

    // The timers of this executor's context. Timers fire on the first executor, before their handlers go to their own
    // executors.
    template <class Executor>
    static AsioTimers& of(const Executor& executor) {
        auto& timers =
            boost::asio::use_service<AsioTimers>(boost::asio::query(executor, boost::asio::execution::context));
        if (timers.alarm_.use(executor)) timers.service_.rest();
        return timers;
    }

    [[nodiscard]] TimerService& service() { return service_; }

    // Counts waits: after the last one the alarm is set to what else is due, or cleared, so that run() returns.
    void begin_wait() { waits_.fetch_add(1, std::memory_order_relaxed); }
    void end_wait() {
        if (waits_.fetch_sub(1, std::memory_order_acq_rel) == 1) service_.rest();
    }

  private:
    // Its wait is work of the context like any other, so run() does not return while something is due.
    class Alarm final : public TimerAlarm {
      public:
        explicit Alarm(AsioTimers& timers) : timers_(timers) {}

        // True for the first one, which it is.
        bool use(const boost::asio::any_io_executor& executor) {
            const std::lock_guard lock(mutex_);
            if (timer_) return false;
            timer_.emplace(executor);
            return true;
        }

        void set(TimerInstant instant) override {
            const std::lock_guard lock(mutex_);
            if (!timer_) return;
            if (instant == kNeverInstant) {
                timer_->cancel();
                return;
            }
            timer_->expires_at(std::chrono::steady_clock::time_point(instant.time_since_epoch()));
            timer_->async_wait([this](const boost::system::error_code& error) {
                if (!error) timers_.advance();
            });
        }
        void wait() override {}

        void close() {
            const std::lock_guard lock(mutex_);
            timer_.reset();
        }

      private:
        std::mutex mutex_;
        std::optional<boost::asio::steady_timer> timer_;  // guarded by mutex_
        AsioTimers& timers_;
    };

    void advance() {
        service_.advance();
        service_.rest();
    }

    // Asio's own timers were created after this service and are destroyed before it, so such objects are destroyed
    // here.
    void shutdown() override {
        service_.stop();
        alarm_.close();
    }

    TimerService service_;
    std::atomic<std::size_t> waits_{0};
    Alarm alarm_;
};

// The context's own service, for callbacks and coroutines on it.
inline TimerService& asio_timer_service(boost::asio::io_context& context) {
    return AsioTimers::of(context.get_executor()).service();
}

namespace asio_detail {

// A waiting handler of any type. While it exists, its executor and the timer's executor have outstanding work.
class Wait {
  public:
    explicit Wait(AsioTimers& timers) : timers_(timers) { timers_.begin_wait(); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    virtual ~Wait() { timers_.end_wait(); }
    virtual void complete(boost::system::error_code error) = 0;

  private:
    AsioTimers& timers_;
};

template <class Handler, class Executor>
class WaitOf final : public Wait {
  public:
    WaitOf(AsioTimers& timers, Handler&& handler, const Executor& executor)
        : Wait(timers),
          handler_(std::move(handler)),
          timer_work_(boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked)),
          work_(boost::asio::prefer(boost::asio::get_associated_executor(handler_, executor),
                                    boost::asio::execution::outstanding_work.tracked)) {}

    void complete(boost::system::error_code error) override {
        auto executor = work_;
        boost::asio::post(executor, [handler = std::move(handler_), work = std::move(work_), error]() mutable {
            std::move(handler)(error);
        });
    }

  private:
    using Associated = boost::asio::associated_executor_t<Handler, Executor>;
    template <class Any>
    using Tracked = std::decay_t<decltype(boost::asio::prefer(std::declval<const Any&>(),
                                                              boost::asio::execution::outstanding_work.tracked))>;

    Handler handler_;
    Tracked<Executor> timer_work_;
    Tracked<Associated> work_;
};

struct NumberedWait {
    std::uint64_t number;
    std::unique_ptr<Wait> wait;
};
using Waits = std::vector<NumberedWait>;

// What a timer shares with the wheel: the waits for the present expiry. A new expiry is a new round, and an old one
// that fires finds no waits.
class Expiry {
  public:
    // In the wheel, for this round. Used by the timer's thread only.
    Timeout timeout;

    // A number that no other wait of this timer has.
    std::uint64_t number() {
        const std::lock_guard lock(mutex_);
        return ++last_number_;
    }
    void add(std::uint64_t number, std::unique_ptr<Wait> wait) {
        const std::lock_guard lock(mutex_);
        waits_.push_back({number, std::move(wait)});
    }
    std::uint64_t round() const {
        const std::lock_guard lock(mutex_);
        return round_;
    }
    Waits take(std::uint64_t round) {
        const std::lock_guard lock(mutex_);
        return round == round_ ? end_round() : Waits();
    }
    Waits take_all() {
        const std::lock_guard lock(mutex_);
        return end_round();
    }
    // One wait ends, where there is one; false where there is none. With the last of them goes what is in the wheel.
    bool abort_first() {
        return abort([](const NumberedWait&) { return true; });
    }
    bool abort(std::uint64_t number) {
        return abort([number](const NumberedWait& wait) { return wait.number == number; });
    }

  private:
    template <class Is>
    bool abort(Is is) {
        std::unique_ptr<Wait> wait;
        bool was_last = false;
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(waits_.begin(), waits_.end(), is);
            if (found == waits_.end()) return false;
            wait = std::move(found->wait);
            waits_.erase(found);
            was_last = waits_.empty();
            if (was_last) ++round_;
        }
        if (was_last) timeout.cancel();
        wait->complete(boost::asio::error::operation_aborted);
        return true;
    }
    Waits end_round() {
        ++round_;
        return std::exchange(waits_, {});
    }

    mutable std::mutex mutex_;
    std::uint64_t last_number_ = 0;
    std::uint64_t round_ = 0;
    Waits waits_;
};

// The task in the wheel. Dropped without being run, when the context is shut down, it takes the handlers with it.
class Firing {
  public:
    explicit Firing(std::shared_ptr<Expiry> expiry) : expiry_(std::move(expiry)), round_(expiry_->round()) {}
    Firing(Firing&&) noexcept = default;
    Firing& operator=(Firing&&) = delete;
    ~Firing() {
        if (expiry_ != nullptr) expiry_->take(round_).clear();
    }
    void operator()() {
        for (const NumberedWait& one : expiry_->take(round_)) one.wait->complete({});
    }

  private:
    std::shared_ptr<Expiry> expiry_;
    std::uint64_t round_;
};

}  // namespace asio_detail

template <class Executor = boost::asio::any_io_executor>
class BasicWheelTimer {
  public:
    using executor_type = Executor;
    using clock_type = std::chrono::steady_clock;
    using duration = clock_type::duration;
    using time_point = clock_type::time_point;

    template <class Other>
    struct rebind_executor {
        using other = BasicWheelTimer<Other>;
    };

    explicit BasicWheelTimer(const executor_type& executor) : executor_(executor), timers_(&AsioTimers::of(executor)) {}
    BasicWheelTimer(const executor_type& executor, time_point expiry) : BasicWheelTimer(executor) { expiry_ = expiry; }
    BasicWheelTimer(const executor_type& executor, duration after) : BasicWheelTimer(executor) { expires_after(after); }

    template <class Context>
    requires std::is_convertible_v<Context&, boost::asio::execution_context&>
    explicit BasicWheelTimer(Context& context) : BasicWheelTimer(executor_type(context.get_executor())) {}
    template <class Context, class When>
    requires std::is_convertible_v<Context&, boost::asio::execution_context&> BasicWheelTimer(Context& context,
                                                                                              When when)
        : BasicWheelTimer(executor_type(context.get_executor()), when) {}

    // What was moved from may be assigned to and destroyed.
    BasicWheelTimer(BasicWheelTimer&& other) noexcept
        : executor_(other.executor_),
          timers_(other.timers_),
          expiry_(other.expiry_),
          shared_(std::exchange(other.shared_, nullptr)) {}
    // From one with another type of executor that turns into this one.
    template <class Other>
    requires(!std::is_same_v<Other, Executor> && std::is_convertible_v<Other, Executor>)
        BasicWheelTimer(BasicWheelTimer<Other>&& other)
        : executor_(other.executor_),
          timers_(other.timers_),
          expiry_(other.expiry_),
          shared_(std::exchange(other.shared_, nullptr)) {}
    BasicWheelTimer& operator=(BasicWheelTimer&& other) noexcept {
        if (this == &other) return *this;
        cancel();
        executor_ = other.executor_;
        timers_ = other.timers_;
        expiry_ = other.expiry_;
        shared_ = std::exchange(other.shared_, nullptr);
        return *this;
    }
    ~BasicWheelTimer() { cancel(); }

    [[nodiscard]] executor_type get_executor() const { return executor_; }
    [[nodiscard]] time_point expiry() const { return expiry_; }

    // Both give up the waits for the old expiry, as cancel() does.
    std::size_t expires_at(time_point expiry) {
        const std::size_t cancelled = cancel();
        expiry_ = expiry;
        return cancelled;
    }
    std::size_t expires_after(duration after) {
        const time_point now = time_point(timers_->service().clock().now().time_since_epoch());
        const bool is_endless = after > duration::zero() && now > time_point::max() - after;
        return expires_at(is_endless ? time_point::max() : now + after);
    }

    // All waits end with operation_aborted; returns how many. Those that have expired already are not among them.
    std::size_t cancel() {
        if (shared_ == nullptr) return 0;
        const asio_detail::Waits waits = shared_->take_all();
        shared_->timeout.cancel();
        for (const asio_detail::NumberedWait& one : waits) one.wait->complete(boost::asio::error::operation_aborted);
        return waits.size();
    }
    // The oldest wait.
    std::size_t cancel_one() { return shared_ != nullptr && shared_->abort_first() ? 1 : 0; }

    // Blocks this thread until the expiry.
    void wait() {
        boost::system::error_code error;
        wait(error);
        if (error) throw boost::system::system_error(error);
    }
    void wait(boost::system::error_code& error) {
        boost::asio::steady_timer timer(executor_, expiry_);
        timer.wait(error);
    }

    // Accepts all three types of cancellation from the slot of its token; the wait then ends as by cancel_one().
    template <class Token = boost::asio::default_completion_token_t<Executor>>
    auto async_wait(Token&& token = boost::asio::default_completion_token_t<Executor>()) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [this](auto handler) { this->start(std::move(handler)); }, token);
    }

  private:
    template <class Other>
    friend class BasicWheelTimer;

    template <class Handler>
    void start(Handler handler) {
        if (shared_ == nullptr) shared_ = std::make_shared<asio_detail::Expiry>();
        const std::uint64_t number = shared_->number();
        // Before the wait begins, as its handler may run, and the slot be gone, as soon as it has.
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
            slot.assign([expiry = std::weak_ptr(shared_), number](boost::asio::cancellation_type type) {
                using boost::asio::cancellation_type;
                const auto any = cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
                if ((type & any) == cancellation_type::none) return;
                if (const std::shared_ptr<asio_detail::Expiry> waited_for = expiry.lock()) waited_for->abort(number);
            });
        }
        auto wait = std::make_unique<asio_detail::WaitOf<Handler, Executor>>(*timers_, std::move(handler), executor_);
        shared_->add(number, std::move(wait));
        // One that is pending is of this round and fires for all its waits. One that fires just now may have taken this
        // wait already; then what is scheduled here finds no waits.
        if (shared_->timeout.is_pending()) return;
        Result<Timeout> timeout =
            timers_->service().schedule_at(TimerInstant(expiry_.time_since_epoch()), asio_detail::Firing(shared_));
        if (timeout) shared_->timeout = std::move(timeout).value();
        // Refused: the context is shutting down, and the handler went with the task.
    }

    executor_type executor_;
    AsioTimers* timers_;
    time_point expiry_{};
    std::shared_ptr<asio_detail::Expiry> shared_{};  // shared, as a task on its way may come when the timer has gone
};

using WheelTimer = BasicWheelTimer<>;

}  // namespace duewheel
