// Several leases that are renewed together: one timer and one call for all, where each WatchdogLease (watchdog_lease.h)
// has its own.
//
// Why choose it: a process that holds many locks of one store renews them with one request at each third of their time,
// and a lock that is taken later joins the next one. Drawback: all leases have one length, and `lost` for a
// lease that was never renewed may come up to a third of it after its end; is_held() knows at once.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     std::vector<std::string> renewed;
//     WatchdogGroup<std::string> locks(service, 30s, [&](const std::vector<std::string>& held) {
//         renewed = held;
//         return std::vector<Renewal>(held.size(), Renewal::renewed);
//     });
//     if (const Status stock = locks.hold("stock"); !stock) return stock;
//     if (const Status order = locks.hold("order 7"); !order) return order;
//     clock.advance(10s);
//     service.advance();
//     assert(renewed.size() == 2 && locks.remaining("stock") == 30s);
//     assert(locks.release("stock") && !locks.is_held("stock") && locks.is_held("order 7"));
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <duewheel/patterns/watchdog_lease.h>
#include <duewheel/status.h>
#include <duewheel/timer_clock.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// Thread safe. Key is copied and ordered. The service outlives it and has a driver.
template <class Key>
class WatchdogGroup {
  public:
    // Prolongs all these leases to their full length, and says of each, in their order, what came of it; what is
    // missing at the end, and all after an exception, is Renewal::unknown. Called as WatchdogLease::Renew.
    using Renew = std::function<std::vector<Renewal>(const std::vector<Key>& held)>;
    // Once for each lease that is lost while it is held, as WatchdogLease::Lost.
    using Lost = std::function<void(const Key&)>;

    // Throws std::invalid_argument where there is no `renew`.
    WatchdogGroup(TimerService& service, std::chrono::nanoseconds length, Renew renew, Lost lost = {})
        : service_(service), length_(length), renew_(std::move(renew)), lost_(std::move(lost)) {
        if (!renew_) throw std::invalid_argument("WatchdogGroup: nothing renews its leases. Give it what to call.");
    }
    WatchdogGroup(const WatchdogGroup&) = delete;
    WatchdogGroup& operator=(const WatchdogGroup&) = delete;
    // Releases all; `renew` or `lost` that runs on another thread has ended when it returns. Not from one of these.
    ~WatchdogGroup() = default;

    // Holds a lease that was acquired just now. Codes and exceptions as WatchdogLease::hold(). O(log n).
    Status hold(Key key);

    // That lease is renewed no more, nor lost; a renewal that runs on another thread has ended when this returns, so
    // the caller may give the lock back. True when it was held until now. From `renew` and `lost` it does not wait.
    bool release(const Key& key);

    [[nodiscard]] bool is_held(const Key& key) const { return remaining(key) > std::chrono::nanoseconds(0); }
    // How long it is held without another renewal; zero when it is not.
    [[nodiscard]] std::chrono::nanoseconds remaining(const Key& key) const;

    // Leases that are neither released nor lost.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return ends_.size();
    }

  private:
    Renewal renew_all();
    void note(const std::vector<Key>& keys, const std::vector<Renewal>& renewals, TimerInstant begun);
    void lose_all();
    void tell_lost(const std::vector<Key>& keys) const {
        if (!lost_) return;
        for (const Key& key : keys) lost_(key);
    }

    TimerService& service_;
    const std::chrono::nanoseconds length_;
    const Renew renew_;
    const Lost lost_;
    mutable std::mutex mutex_;  // guards all below
    std::condition_variable renewed_;
    std::optional<std::thread::id> renewing_;  // the thread that renews just now
    std::map<Key, TimerInstant> ends_;
    std::optional<WatchdogLease>
        beat_;  // comes at each third from the first hold() on; goes first, as it uses the rest
};

template <class Key>
Status WatchdogGroup<Key>::hold(Key key) {
    std::optional<WatchdogLease> ended;  // of a driver that came too late for all; goes without the lock
    const std::lock_guard lock(mutex_);
    if (!beat_ || !beat_->is_held()) {
        Result<WatchdogLease> beat = WatchdogLease::hold(
            service_, length_, [this] { return renew_all(); }, [this] { lose_all(); });
        if (!beat) return std::move(beat).error();
        ended.swap(beat_);
        beat_.emplace(*std::move(beat));
    }
    ends_[std::move(key)] = instant_after(service_.clock().now(), length_);
    return {};
}

template <class Key>
bool WatchdogGroup<Key>::release(const Key& key) {
    std::unique_lock lock(mutex_);
    const auto found = ends_.find(key);
    if (found == ends_.end()) return false;
    const TimerInstant ends = found->second;
    ends_.erase(found);
    renewed_.wait(lock, [this] { return !renewing_ || *renewing_ == std::this_thread::get_id(); });
    return service_.clock().now() < ends;
}

template <class Key>
std::chrono::nanoseconds WatchdogGroup<Key>::remaining(const Key& key) const {
    constexpr std::chrono::nanoseconds kNone(0);
    const std::lock_guard lock(mutex_);
    const auto found = ends_.find(key);
    return found == ends_.end() ? kNone : std::max(kNone, found->second - service_.clock().now());
}

// The beat calls this, and goes on whatever becomes of the leases.
template <class Key>
Renewal WatchdogGroup<Key>::renew_all() {
    const TimerInstant begun = service_.clock().now();
    std::vector<Key> keys;
    std::vector<Key> lost;  // may be another one's by now
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, ends] : ends_) (ends > begun ? keys : lost).push_back(key);
        for (const Key& key : lost) ends_.erase(key);
        if (!keys.empty()) renewing_ = std::this_thread::get_id();
    }
    if (!keys.empty()) {
        std::vector<Renewal> renewals;
        try {
            renewals = renew_(keys);
        } catch (...) {  // to on_error; the beat would count it as a renewal of its own that failed
            service_.dispatch([thrown = std::current_exception()] { std::rethrow_exception(thrown); });
        }
        note(keys, renewals, begun);
    }
    tell_lost(lost);
    return Renewal::renewed;
}

template <class Key>
void WatchdogGroup<Key>::note(const std::vector<Key>& keys, const std::vector<Renewal>& renewals, TimerInstant begun) {
    std::vector<Key> lost;
    {
        const std::lock_guard lock(mutex_);
        renewing_.reset();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto found = ends_.find(keys[i]);
            if (found == ends_.end()) continue;  // released meanwhile
            const Renewal renewal = i < renewals.size() ? renewals[i] : Renewal::unknown;
            if (renewal == Renewal::renewed) {
                found->second = std::max(found->second, instant_after(begun, length_));
            } else if (renewal == Renewal::not_ours || found->second <= service_.clock().now()) {
                ends_.erase(found);
                lost.push_back(keys[i]);
            }
        }
    }
    renewed_.notify_all();
    tell_lost(lost);
}

// The service was stopped, or its driver came a whole lease too late.
template <class Key>
void WatchdogGroup<Key>::lose_all() {
    std::vector<Key> lost;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, ends] : ends_) lost.push_back(key);
        ends_.clear();
    }
    tell_lost(lost);
}

}  // namespace duewheel
