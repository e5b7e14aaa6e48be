// A minimal coroutine type: a task that starts when it is awaited and returns its result to the awaiting
// coroutine.
//
// Example:
//     int answer = 0;
//     const auto ask = [](int& found) -> Task<> {
//         const auto think = []() -> Task<int> { co_return 42; };
//         found = co_await think();
//     };
//     start(ask(answer));                                  // a task that is not awaited
//     assert(answer == 42);
//
// Choose it for programs without a coroutine type; those of Boost.Asio, cppcoro or your own can await the timers of
// duewheel/coroutine.h too. Destroying a task that has not ended destroys its frame with its content, which is how work
// is abandoned here: its timers are removed. Drawbacks: it does not support several awaiters, or cancellation from
// within.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace duewheel {

namespace task_detail {

struct Resume {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        return ended.promise().continuation;
    }
    void await_resume() const noexcept {}
};

struct PromiseBase {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr thrown{};

    std::suspend_always initial_suspend() const noexcept { return {}; }
    Resume final_suspend() const noexcept { return {}; }
    void unhandled_exception() { thrown = std::current_exception(); }
};

template <class Value>
struct Promise : PromiseBase {
    std::optional<Value> value{};

    template <class From>
    void return_value(From&& from) {
        value.emplace(std::forward<From>(from));
    }
    Value take() {
        if (thrown) std::rethrow_exception(thrown);
        return std::move(*value);
    }
};

template <>
struct Promise<void> : PromiseBase {
    void return_void() const noexcept {}
    void take() const {
        if (thrown) std::rethrow_exception(thrown);
    }
};

}  // namespace task_detail

// Move-only; owns the coroutine. Awaited once.
template <class Value = void>
class [[nodiscard]] Task {
  public:
    struct promise_type : task_detail::Promise<Value> {
        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    };

    Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
    Task& operator=(Task other) noexcept {
        std::swap(coroutine_, other.coroutine_);
        return *this;
    }
    ~Task() {
        if (coroutine_) coroutine_.destroy();
    }

    bool await_ready() const noexcept { return coroutine_.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) noexcept {
        coroutine_.promise().continuation = continuation;
        return coroutine_;
    }
    // Its return value, or its exception.
    Value await_resume() { return coroutine_.promise().take(); }

  private:
    explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

    std::coroutine_handle<promise_type> coroutine_;
};

namespace task_detail {

// Ends the program when the task throws, as a thread would.
struct Detached {
    struct promise_type {
        Detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    };
};

inline Detached run_detached(Task<void> task) {
    co_await task;
}

}  // namespace task_detail

// Runs the task on this thread until it first waits; it owns itself from then on, and must not throw.
inline void start(Task<void> task) {
    task_detail::run_detached(std::move(task));
}

}  // namespace duewheel
