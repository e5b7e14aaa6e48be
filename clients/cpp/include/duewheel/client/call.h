// A call that is on its way, and coroutines that await it.
//
//     Task<std::string> remind(AsyncClient client) {
//         Call<Receipt> put = client.put("mail", "hello", {.delay = 10min});
//         const Result<Receipt> receipt = co_await put;
//         co_return receipt.value().id;
//     }
//     const std::string id = sync_wait(remind(client));
//
// GCC before 13 destroys options in braces twice if they are written in the operand of co_await: keep such a call in a
// variable, as above.
//
// A coroutine of any type can await a Call; Task is one for programs that have none. It resumes on the executor of the
// client, by default a thread that runs such coroutines one after the other.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "duewheel/client/result.h"

namespace duewheel::client {

// Runs a function, soon and on another thread: posts it to a pool, for example. It must not run it before it returns.
using Executor = std::function<void(std::function<void()>)>;

namespace detail {

// What the caller and the thread of the network share of a call. Each function may be called on any thread.
class Pending {
  public:
    using Answer = Result<std::string>;

    // Ends the call; the second time does nothing. A function that waits is called, without a lock held.
    void finish(Answer answer);
    // Waits for the end. To be called once.
    Answer wait();
    // Calls the function when the call ends; false if it has ended already. To be called once, instead of wait().
    bool then(std::function<void()> function);

    // Ends the call early, by the error `cancelled`. Set before the call is on its way.
    std::function<void()> cancel;
    // Resumes coroutines. Set before the call is on its way.
    std::function<void(std::function<void()>)> resume;

  private:
    std::mutex mutex_;
    std::condition_variable ended_;
    std::optional<Answer> answer_;      // guarded by mutex_
    std::function<void()> function_{};  // guarded by mutex_
};

}  // namespace detail

// Await it or get() it, once. The call goes on if a Call is destroyed, because the server may have it already.
template <class T>
class [[nodiscard]] Call {
  public:
    using Read = std::function<Result<T>(std::string)>;

    // The pending state is shared with the thread of the network, which may outlive this object or not.
    Call(std::shared_ptr<detail::Pending> pending, Read read) : pending_(std::move(pending)), read_(std::move(read)) {}

    // Waits for the answer.
    Result<T> get() { return read(pending_->wait()); }
    // Ends the call by the error `cancelled`, unless it has ended. The server may have carried it out. On any thread.
    void cancel() { pending_->cancel(); }

    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
        return pending_->then([pending = pending_.get(), waiting] { pending->resume(waiting); });
    }
    Result<T> await_resume() { return get(); }

  private:
    Result<T> read(detail::Pending::Answer answer) {
        if (!answer) return answer.error();
        return read_(std::move(answer).value());
    }

    std::shared_ptr<detail::Pending> pending_;
    Read read_;
};

// A coroutine that begins when it is awaited, once. What it throws reaches the one that awaits it.
template <class T>
class [[nodiscard]] Task {
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
    struct ValuePromise : PromiseBase {
        std::optional<T> value{};
        Task get_return_object() { return Task(std::coroutine_handle<ValuePromise>::from_promise(*this)); }
        void return_value(T from) { value.emplace(std::move(from)); }
    };

  public:
    using promise_type = ValuePromise;

    Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (frame_) frame_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
        frame_.promise().continuation = waiting;
        return frame_;
    }
    T await_resume() {
        if (frame_.promise().thrown) std::rethrow_exception(frame_.promise().thrown);
        return std::move(*frame_.promise().value);
    }

  private:
    explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

namespace detail {

// A coroutine that begins at once and belongs to nothing.
struct Detached {
    struct promise_type {
        Detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

template <class T>
Detached await_into(Task<T>& task, std::shared_ptr<Pending> ended, std::optional<T>& value,
                    std::exception_ptr& thrown) {
    try {
        value.emplace(co_await task);
    } catch (...) {
        thrown = std::current_exception();
    }
    ended->finish(std::string());
}

}  // namespace detail

// Runs a task, and waits for its value on this thread. Throws what the task throws.
template <class T>
T sync_wait(Task<T> task) {
    const auto ended = std::make_shared<detail::Pending>();  // the thread that ends the task is still in finish() when
                                                             // this one goes on
    std::optional<T> value;
    std::exception_ptr thrown;
    detail::await_into(task, ended, value, thrown);
    static_cast<void>(ended->wait());
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*value);
}

}  // namespace duewheel::client
