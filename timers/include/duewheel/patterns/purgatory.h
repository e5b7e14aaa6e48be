// A purgatory: operations that wait for a condition, and end when it becomes true or when their time is up.
//
// It is what Kafka does with delayed produce, fetch and delete requests. An operation has two callbacks: `ready` checks
// whether it can be completed, and `done` is called at its end. It is watched under any number of keys. Code that
// changes something calls check_and_complete(key), which checks every operation under that key. Why choose it over one
// condition variable per operation: no thread waits, and one change completes all operations that waited for it.
// Drawback: `ready` is called more often than necessary, by the thread that made the change, so it must be fast.
//
// `done` is called exactly once for each watched operation, with the reason of its end, by the thread that ended it and
// without a lock, even if checks, the deadline, cancels and stop() race. An ended operation leaves memory at once,
// under all its keys.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     Purgatory<std::string> produced(service);
//     int replicas = 1;
//     std::string outcome;
//     const Result<bool> over = produced.try_complete_else_watch(
//         {"topic-0"}, 30s, [&] { return replicas >= 2; },
//         [&](Completion how) { outcome = how == Completion::satisfied ? "acknowledged" : "timed out"; });
//     assert(over && !*over);
//     replicas = 2;
//     assert(produced.check_and_complete("topic-0") == 1 && outcome == "acknowledged" && produced.delayed() == 0);
//     Purgatory<std::string>::Handle handle;
//     const auto never = [] { return false; };
//     const auto note = [&](Completion how) { outcome = how == Completion::cancelled ? "cancelled" : "other"; };
//     static_cast<void>(produced.try_complete_else_watch({"topic-1"}, 30s, never, note, &handle));
//     assert(handle.cancel() && outcome == "cancelled" && produced.cancel_for_key("topic-1") == 0);
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <duewheel/status.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// How an operation ended.
enum class Completion : std::uint8_t {
    satisfied,  // `ready` said so
    expired,    // its time was up
    stopped,    // the purgatory was stopped
    cancelled,  // by its handle, its key, or with all others
};

// Thread safe. Key is copied, compared and hashed. The service outlives the purgatory and has a driver.
template <class Key, class Hash = std::hash<Key>>
class Purgatory {
  public:
    using Ready = std::function<bool()>;
    using Done = std::function<void(Completion)>;

    // One operation that waits. A value; names none by default. The purgatory outlives all calls of it.
    class Handle;

    explicit Purgatory(TimerService& service) : service_(service) {}
    Purgatory(const Purgatory&) = delete;
    Purgatory& operator=(const Purgatory&) = delete;
    // As stop(), and waits until every `done` has returned. Not from `ready` or `done`.
    ~Purgatory() {
        stop();
        std::unique_lock lock(mutex_);
        all_over_.wait(lock, [&] { return operations_.empty() && ending_ == 0; });
    }

    // True: `ready` held at once, and `done` has been called. False: it is watched under the keys (under none: only its
    // deadline ends it). Codes: purgatory_stopped, timers_full, timers_stopped; then `done` is never called. Of one
    // operation no two calls of `ready` overlap; one may still run when the deadline calls `done`. What `ready` throws
    // goes to who looked, and the operation waits on, unless a look that was asked for meanwhile ends it. `ready` may
    // itself check the keys when it has changed something; one that does so at each call is called for ever.
    // Throws std::invalid_argument where there is no `ready` or no `done`. Where there is a `handle`, it names the
    // operation from before others can see it.
    Result<bool> try_complete_else_watch(std::vector<Key> keys, std::chrono::nanoseconds patience, Ready ready,
                                         Done done, Handle* handle = nullptr);

    // Lets the operations under the key look again, and returns how many that ended. O(operations under the key).
    std::size_t check_and_complete(const Key& key);

    // Ends the operations under the key as cancelled, and returns how many. O(operations under the key).
    std::size_t cancel_for_key(const Key& key);

    // Ends all as cancelled, and returns how many; the purgatory goes on.
    std::size_t cancel_all();

    // Ends all as stopped, and returns how many. From now on operations are refused.
    std::size_t stop();

    // Operations that wait; keys times operations, as each key watches for itself.
    [[nodiscard]] std::size_t delayed() const {
        const std::lock_guard lock(mutex_);
        return operations_.size();
    }
    [[nodiscard]] std::size_t watched() const {
        const std::lock_guard lock(mutex_);
        std::size_t count = 0;
        for (const auto& [key, list] : watchers_) count += list.size();
        return count;
    }
    // Keys under which something waits.
    [[nodiscard]] std::size_t keys() const {
        const std::lock_guard lock(mutex_);
        return watchers_.size();
    }

  private:
    struct Operation;
    using Shared = std::shared_ptr<Operation>;  // held by the purgatory, and by calls that are checking it
    using List = std::list<Shared>;
    struct Watch {
        Key key;
        typename List::iterator at;
    };
    struct Operation {
        Ready ready;
        Done done;
        std::atomic<unsigned> looks{0};  // asked for and not yet answered
        std::atomic<bool> is_over{false};
        // Guarded by the purgatory's mutex.
        std::vector<Watch> watches;
        typename List::iterator at;
        bool is_listed = false;
        Timeout timeout;
    };

    bool look(const Shared& operation);
    bool end(const Shared& operation, Completion how);
    std::size_t end_all(const std::vector<Shared>& operations, Completion how);
    std::vector<Shared> under(const Key& key) const {
        const std::lock_guard lock(mutex_);
        const auto found = watchers_.find(key);
        if (found == watchers_.end()) return {};
        return {found->second.begin(), found->second.end()};
    }
    void unlist(Operation& operation);

    TimerService& service_;
    mutable std::mutex mutex_;  // guards all below
    std::condition_variable all_over_;
    std::size_t ending_ = 0;  // whose `done` is running
    List operations_;
    std::unordered_map<Key, List, Hash> watchers_;
    bool is_stopped_ = false;
};

template <class Key, class Hash>
class Purgatory<Key, Hash>::Handle {
  public:
    Handle() = default;

    // Ends the operation as satisfied, whatever `ready` says, or as cancelled. True: this call has ended it, and `done`
    // has returned. False: it was over.
    bool complete() { return end(Completion::satisfied); }
    bool cancel() { return end(Completion::cancelled); }

    // Neither is it over, nor does its `done` run.
    [[nodiscard]] bool is_waiting() const {
        const Shared operation = operation_.lock();
        return operation != nullptr && !operation->is_over.load();
    }

  private:
    friend class Purgatory;

    Handle(Purgatory& purgatory, const Shared& operation) : purgatory_(&purgatory), operation_(operation) {}
    bool end(Completion how) {
        const Shared operation = operation_.lock();
        return operation != nullptr && purgatory_->end(operation, how);
    }

    Purgatory* purgatory_ = nullptr;
    std::weak_ptr<Operation> operation_;
};

template <class Key, class Hash>
Result<bool> Purgatory<Key, Hash>::try_complete_else_watch(std::vector<Key> keys, std::chrono::nanoseconds patience,
                                                           Ready ready, Done done, Handle* handle) {
    if (!ready || !done) {
        throw std::invalid_argument(
            "Purgatory: an operation needs both: how to look whether it can be completed, and what to do then.");
    }
    // Not made with make_shared(), so that the timer's weak pointer does not keep the operation's memory.
    const Shared operation(new Operation);
    operation->ready = std::move(ready);
    operation->done = std::move(done);
    if (look(operation)) return true;
    {
        const std::lock_guard lock(mutex_);
        if (is_stopped_) {
            return Error{ErrorCode::purgatory_stopped, "The purgatory is stopped. Watch operations before it is."};
        }
        Result<Timeout> timeout = service_.schedule_after(patience, [this, weak = std::weak_ptr(operation)] {
            if (const Shared late = weak.lock()) end(late, Completion::expired);
        });
        if (!timeout) return std::move(timeout).error();
        operation->timeout = *timeout;
        if (handle != nullptr) *handle = Handle(*this, operation);
        operation->at = operations_.insert(operations_.end(), operation);
        operation->is_listed = true;
        for (Key& key : keys) {
            List& list = watchers_[key];
            operation->watches.push_back(Watch{std::move(key), list.insert(list.end(), operation)});
        }
    }
    // Changes between the first check and the watching were not seen: so check once more.
    return look(operation);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::check_and_complete(const Key& key) {
    std::size_t ended = 0;
    std::exception_ptr thrown;  // the first; the other checks still run
    for (const Shared& operation : under(key)) {
        try {
            ended += look(operation);
        } catch (...) {
            if (!thrown) thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
    return ended;
}

// Whether this check has ended the operation. A thread that finds another one checking leaves one more check to it: so
// no two checks overlap, no change is missed, and `ready` may itself check the key. One that throws has been answered,
// and those that were requested meanwhile have not.
template <class Key, class Hash>
bool Purgatory<Key, Hash>::look(const Shared& operation) {
    if (operation->looks.fetch_add(1) > 0) return false;
    bool ended = false;
    std::exception_ptr thrown;  // the first
    unsigned seen = 1;
    do {
        seen = operation->looks.load();
        if (operation->is_over.load()) break;
        bool is_ready = false;
        try {
            is_ready = operation->ready();
        } catch (...) {
            if (!thrown) thrown = std::current_exception();
        }
        if (is_ready) {
            ended = end(operation, Completion::satisfied);
            break;
        }
    } while (operation->looks.fetch_sub(seen) != seen);
    if (thrown) std::rethrow_exception(thrown);
    return ended;
}

template <class Key, class Hash>
bool Purgatory<Key, Hash>::end(const Shared& operation, Completion how) {
    if (operation->is_over.exchange(true)) return false;
    Timeout timeout;
    {
        const std::lock_guard lock(mutex_);
        ++ending_;
        unlist(*operation);
        timeout = std::move(operation->timeout);
    }
    struct Ended {  // also when `done` throws
        Purgatory& purgatory;
        ~Ended() {
            const std::lock_guard lock(purgatory.mutex_);
            if (--purgatory.ending_ == 0) purgatory.all_over_.notify_all();
        }
    } const ended{*this};
    timeout.cancel();
    operation->done(how);
    return true;
}

template <class Key, class Hash>
void Purgatory<Key, Hash>::unlist(Operation& operation) {
    if (!operation.is_listed) return;
    operation.is_listed = false;
    for (const Watch& watch : operation.watches) {
        const auto found = watchers_.find(watch.key);
        found->second.erase(watch.at);
        if (found->second.empty()) watchers_.erase(found);
    }
    operation.watches.clear();
    operations_.erase(operation.at);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::stop() {
    std::vector<Shared> left;
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        left.assign(operations_.begin(), operations_.end());
    }
    return end_all(left, Completion::stopped);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::cancel_for_key(const Key& key) {
    return end_all(under(key), Completion::cancelled);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::cancel_all() {
    std::vector<Shared> all;
    {
        const std::lock_guard lock(mutex_);
        all.assign(operations_.begin(), operations_.end());
    }
    return end_all(all, Completion::cancelled);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::end_all(const std::vector<Shared>& operations, Completion how) {
    std::size_t ended = 0;
    std::exception_ptr thrown;  // the first; it keeps no other from its end
    for (const Shared& operation : operations) {
        try {
            ended += end(operation, how);
        } catch (...) {
            if (!thrown) thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
    return ended;
}

}  // namespace duewheel
