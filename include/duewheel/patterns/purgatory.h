// A purgatory: operations that wait for something to become true, and are over when it is, or when their time is up.
//
// What Kafka does with delayed produce, fetch and delete requests. An operation says how to look whether it can be
// completed, and what is to be done when it is over. It is watched under any number of keys; who changes something
// calls check_and_complete(key), and every operation under that key looks again. Why choose it over a condition
// variable for each: no thread waits, and one change completes all that waited for it. What it gives up: `ready` is
// called more often than it could be, by whichever thread changed something, so it must be quick.
//
// Exactly once: `done` is called once for each watched operation, with what ended it, by the thread that ended it and
// with no lock held, however checks, the deadline and stop() race. What is over leaves memory at once, under all keys.
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
};

// Thread safe. Key is copied, compared and hashed. The service outlives the purgatory and has a driver.
template <class Key, class Hash = std::hash<Key>>
class Purgatory {
  public:
    using Ready = std::function<bool()>;
    using Done = std::function<void(Completion)>;

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
    // Throws std::invalid_argument where there is no `ready` or no `done`.
    Result<bool> try_complete_else_watch(std::vector<Key> keys, std::chrono::nanoseconds patience, Ready ready,
                                         Done done);

    // Lets the operations under the key look again, and returns how many that ended. O(operations under the key).
    std::size_t check_and_complete(const Key& key);

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
    using Shared = std::shared_ptr<Operation>;  // held by the purgatory, and by whoever looks at it just now
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
Result<bool> Purgatory<Key, Hash>::try_complete_else_watch(std::vector<Key> keys, std::chrono::nanoseconds patience,
                                                           Ready ready, Done done) {
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
            return Error{"purgatory_stopped", "The purgatory is stopped. Watch operations before it is."};
        }
        Result<Timeout> timeout = service_.schedule_after(patience, [this, weak = std::weak_ptr(operation)] {
            if (const Shared late = weak.lock()) end(late, Completion::expired);
        });
        if (!timeout) return std::move(timeout).error();
        operation->timeout = *timeout;
        operation->at = operations_.insert(operations_.end(), operation);
        operation->is_listed = true;
        for (Key& key : keys) {
            List& list = watchers_[key];
            operation->watches.push_back(Watch{std::move(key), list.insert(list.end(), operation)});
        }
    }
    // What changed between the first look and the watching has told nobody: so one more look.
    return look(operation);
}

template <class Key, class Hash>
std::size_t Purgatory<Key, Hash>::check_and_complete(const Key& key) {
    std::vector<Shared> under_key;
    {
        const std::lock_guard lock(mutex_);
        const auto found = watchers_.find(key);
        if (found == watchers_.end()) return 0;
        under_key.assign(found->second.begin(), found->second.end());
    }
    std::size_t ended = 0;
    std::exception_ptr thrown;  // the first; it keeps nobody else from looking
    for (const Shared& operation : under_key) {
        try {
            ended += look(operation);
        } catch (...) {
            if (!thrown) thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
    return ended;
}

// Whether this look has ended the operation. Who finds somebody looking leaves it to him to look once more: so no two
// looks overlap, no change is missed, and `ready` may itself check the key. One that throws has been answered, and
// those that were asked for meanwhile have not.
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
    std::size_t ended = 0;
    for (const Shared& operation : left) ended += end(operation, Completion::stopped);
    return ended;
}

}  // namespace duewheel
