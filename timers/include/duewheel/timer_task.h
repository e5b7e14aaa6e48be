// The callable of a timer: any callable without arguments, moved in, stored in place up to 48 bytes and on the heap
// beyond.
// Example:
//     auto ball = std::make_unique<int>(7);
//     TimerTask task(named("roll the ball", [ball = std::move(ball)] { ++*ball; }));
//     task();
//     assert(std::string_view(task.name()) == "roll the ball");
//
// Choose it for calls at a later time, for example by your own executor. Drawback against std::function: it cannot be
// copied. Other differences: its content need not be copyable, it is twice as large, so that typical captures of timers
// fit without an allocation, and it can have a name, which is shown in reports of slow callbacks.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace duewheel {

// A callable and its name in reports. The name is a string literal, or lives as long as the process.
template <class Callable>
struct NamedCallable {
    const char* name;
    Callable callable;

    void operator()() { static_cast<void>(callable()); }
};

template <class Callable>
NamedCallable<std::decay_t<Callable>> named(const char* name, Callable&& callable) {
    return {name, std::forward<Callable>(callable)};
}

template <class Callable>
inline constexpr bool kIsNamedCallable = false;
template <class Callable>
inline constexpr bool kIsNamedCallable<NamedCallable<Callable>> = true;

// Whether there is nothing to call: a null pointer to a function, or an empty std::function or similar.
template <class Callable>
constexpr bool is_empty_callable(const Callable& callable) {
    if constexpr (kIsNamedCallable<Callable>) {
        return is_empty_callable(callable.callable);
    } else if constexpr (std::is_pointer_v<Callable>) {
        return callable == nullptr;
    } else if constexpr (std::constructible_from<Callable, std::nullptr_t> &&
                         requires { static_cast<bool>(callable); }) {
        return !static_cast<bool>(callable);
    } else {
        return false;
    }
}

[[noreturn]] inline void refuse_empty_task() {
    throw std::invalid_argument("TimerTask: there is nothing to call. Give the timer a function that is not null.");
}

// Move-only. An empty one can be moved, destroyed and assigned to, but not called; functions that take a task to run
// refuse it with std::invalid_argument.
class TimerTask {
  public:
    static constexpr std::size_t kInlineBytes = 48;

    TimerTask() = default;
    template <class Callable>
    requires(!std::same_as<std::decay_t<Callable>, TimerTask> && std::invocable<std::decay_t<Callable>&>)
        TimerTask(Callable&& callable) {
        emplace(std::forward<Callable>(callable));
    }
    TimerTask(TimerTask&& other) noexcept { take(other); }
    TimerTask& operator=(TimerTask&& other) noexcept {
        if (this == &other) return *this;
        reset();
        take(other);
        return *this;
    }
    TimerTask(const TimerTask&) = delete;
    TimerTask& operator=(const TimerTask&) = delete;
    ~TimerTask() { reset(); }

    // Creates an empty task. Throws what the callable's constructor throws, std::bad_alloc, or std::invalid_argument if
    // there is nothing to call; then it stays empty.
    template <class Callable>
    void emplace(Callable&& callable) {
        using Held = std::decay_t<Callable>;
        if constexpr (std::same_as<std::remove_cvref_t<Callable>, Held>) {
            if (is_empty(callable)) [[unlikely]]
                refuse_empty_task();
        }
        if constexpr (std::same_as<Held, TimerTask>) {
            *this = TimerTask(std::forward<Callable>(callable));
        } else if constexpr (kIsInline<Held>) {
            ::new (static_cast<void*>(place_)) Held(std::forward<Callable>(callable));
            actions_ = &kInline<Held>;
        } else {
            ::new (static_cast<void*>(place_)) Held*(new Held(std::forward<Callable>(callable)));
            actions_ = &kOnHeap<Held>;
        }
    }

    void operator()() { actions_->run(place_); }
    void reset() {
        if (actions_ == nullptr) return;
        if (actions_->destroy != nullptr) actions_->destroy(place_);
        actions_ = nullptr;
    }
    explicit operator bool() const { return actions_ != nullptr; }
    // Whether reset() runs any code of the callable.
    [[nodiscard]] bool has_destructor() const { return actions_ != nullptr && actions_->destroy != nullptr; }

    // As given with named(); null otherwise.
    [[nodiscard]] const char* name() const {
        return actions_ == nullptr || actions_->name == nullptr ? nullptr : actions_->name(place_);
    }

  private:
    template <class Callable>
    static constexpr bool is_empty(const Callable& callable) {
        if constexpr (std::same_as<Callable, TimerTask>) {
            return !callable;
        } else {
            return is_empty_callable(callable);
        }
    }

    struct Actions {
        void (*run)(void* place);
        void (*move)(void* from, void* to) noexcept;  // none: the bytes are copied
        void (*destroy)(void* place) noexcept;        // none: nothing to do
        const char* (*name)(const void* place);       // none: it has no name
    };

    template <class Held>
    static constexpr bool kIsInline = sizeof(Held) <= kInlineBytes &&
                                      alignof(Held) <= alignof(void*) && std::is_nothrow_move_constructible_v<Held>;
    template <class Held>
    static const char* name_of(const void* held) {
        return static_cast<const Held*>(held)->name;
    }

    template <class Held>
    static constexpr Actions kInline = {
        [](void* place) { static_cast<void>((*static_cast<Held*>(place))()); },
        std::is_trivially_copyable_v<Held> ? nullptr : +[](void* from, void* to) noexcept {
            ::new (to) Held(std::move(*static_cast<Held*>(from)));
            static_cast<Held*>(from)->~Held();
        },
        std::is_trivially_destructible_v<Held> ? nullptr : +[](void* place) noexcept {
            static_cast<Held*>(place)->~Held();
        },
        [] {
            if constexpr (kIsNamedCallable<Held>) {
                return &name_of<Held>;
            } else {
                return static_cast<const char* (*)(const void*)>(nullptr);
            }
        }(),
    };
    template <class Held>
    static constexpr Actions kOnHeap = {
        [](void* place) { static_cast<void>((**static_cast<Held**>(place))()); },
        nullptr,
        [](void* place) noexcept { delete *static_cast<Held**>(place); },
        kIsNamedCallable<Held> ? +[](const void* place) -> const char* {
            if constexpr (kIsNamedCallable<Held>) return (*static_cast<Held* const*>(place))->name;
            return nullptr;
        } : nullptr,
    };

    void take(TimerTask& other) noexcept {
        actions_ = std::exchange(other.actions_, nullptr);
        if (actions_ == nullptr) return;
        if (actions_->move != nullptr) {
            actions_->move(other.place_, place_);
        } else {
            __builtin_memcpy(place_, other.place_, kInlineBytes);
        }
    }

    const Actions* actions_ = nullptr;
    alignas(void*) std::byte place_[kInlineBytes];
};

}  // namespace duewheel
