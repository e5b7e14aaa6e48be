// Requests that wait for their responses, each with a timeout: the table between a client's calls and its connection.
//
// It is what Dubbo's DefaultFuture and HashedWheelTimer do for each call. start() gives the request a number, which is
// sent with it; complete() with that number passes the response to the waiting caller. If none arrives in time, the
// caller gets a request_timeout, once, and work that still runs for it is asked to stop through its std::stop_token.
//
// Why choose it over one timer per call: the race between response, timeout and cancel is decided here, once, and
// complete() reports a late response. Drawback: one lock for the whole table; use one table per connection.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     PendingRequests<std::string> requests(service);
//     std::string said;
//     const auto hear = [&](const Result<std::string>& answer) { said = answer ? *answer : "nothing"; };
//     const auto request = requests.start(2s, hear);
//     if (!request) return request.error();
//     assert(requests.complete(request->id, "42") && said == "42");
//     assert(!requests.complete(request->id, "43"));  // too late, or twice
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <duewheel/status.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// Thread safe. The service outlives the table and has a driver. Answer is moved.
template <class Answer>
class PendingRequests {
  public:
    using Id = std::uint64_t;  // from 1 on, never the same twice
    using Done = std::function<void(Result<Answer>)>;

    struct Request {
        Id id = 0;
        std::stop_token stop;  // stop_requested() once the caller has been told that it failed
    };

    explicit PendingRequests(TimerService& service) : service_(service) {}
    PendingRequests(const PendingRequests&) = delete;
    PendingRequests& operator=(const PendingRequests&) = delete;
    // As stop(), and waits for callbacks that time-outs run just now. Not from a callback.
    ~PendingRequests() {
        stop();
        std::unique_lock lock(mutex_);
        idle_.wait(lock, [&] { return expiring_ == 0; });
    }

    // `done` is called exactly once, with no lock held: with the answer, or an error of code request_timeout,
    // request_cancelled, request_stopped or of fail(). Codes of its own: request_stopped, timers_full, timers_stopped;
    // then `done` is never called. It must not throw, nor wait for another callback of the table. Throws
    // std::invalid_argument where there is no `done`.
    Result<Request> start(std::chrono::nanoseconds patience, Done done);

    // The request is on its way: a time-out then says that the answer is missing, and not that nothing was sent.
    void sent(Id id);

    // False when the request is not pending (any more): answered, timed out, cancelled, or never started.
    bool complete(Id id, Answer answer) { return end(id, Result<Answer>(std::move(answer))); }
    bool fail(Id id, Error error) { return end(id, Result<Answer>(std::move(error))); }
    bool cancel(Id id) {
        return fail(id, Error{ErrorCode::request_cancelled,
                              "The caller has cancelled the request. Start it again if it is needed."});
    }

    // Fails all that are pending, and refuses further ones. Returns how many.
    std::size_t stop();

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return requests_.size();
    }

  private:
    struct Entry {
        Done done;
        std::chrono::nanoseconds patience;
        std::stop_source stop;
        Timeout timeout;
        bool is_sent = false;
    };

    bool end(Id id, Result<Answer> answer);
    void expire(Id id);
    static void tell(Entry& entry, Result<Answer> answer);
    static Error late(const Entry& entry);

    TimerService& service_;
    mutable std::mutex mutex_;  // guards all below
    std::condition_variable idle_;
    std::size_t expiring_ = 0;  // time-outs whose callbacks are running
    std::unordered_map<Id, Entry> requests_;
    Id last_id_ = 0;
    bool is_stopped_ = false;
};

template <class Answer>
Result<typename PendingRequests<Answer>::Request> PendingRequests<Answer>::start(std::chrono::nanoseconds patience,
                                                                                 Done done) {
    if (!done) {
        throw std::invalid_argument("PendingRequests: the callback is empty. Give start() a callback.");
    }
    const std::lock_guard lock(mutex_);
    if (is_stopped_)
        return Error{ErrorCode::request_stopped, "The table of requests is stopped. Start them before it is."};
    const Id id = last_id_ + 1;
    // Due at once, it still waits for the lock, and finds the entry.
    Result<Timeout> timeout = service_.schedule_after(patience, [this, id] { expire(id); });
    if (!timeout) return std::move(timeout).error();
    last_id_ = id;
    Entry& entry = requests_[id];
    entry.done = std::move(done);
    entry.patience = patience;
    entry.timeout = *std::move(timeout);
    return Request{id, entry.stop.get_token()};
}

template <class Answer>
void PendingRequests<Answer>::sent(Id id) {
    const std::lock_guard lock(mutex_);
    const auto found = requests_.find(id);
    if (found != requests_.end()) found->second.is_sent = true;
}

// The caller that takes the entry out of the table has won.
template <class Answer>
bool PendingRequests<Answer>::end(Id id, Result<Answer> answer) {
    typename std::unordered_map<Id, Entry>::node_type taken;
    {
        const std::lock_guard lock(mutex_);
        taken = requests_.extract(id);
    }
    if (taken.empty()) return false;
    // A time-out that has just lost looks at the table once more; afterwards nothing of this request does.
    taken.mapped().timeout.cancel_and_wait();
    tell(taken.mapped(), std::move(answer));
    return true;
}

template <class Answer>
void PendingRequests<Answer>::expire(Id id) {
    typename std::unordered_map<Id, Entry>::node_type taken;
    {
        const std::lock_guard lock(mutex_);
        taken = requests_.extract(id);
        if (taken.empty()) return;
        ++expiring_;
    }
    struct Expired {  // also when the callback throws
        PendingRequests& requests;
        ~Expired() {
            const std::lock_guard lock(requests.mutex_);
            if (--requests.expiring_ == 0) requests.idle_.notify_all();
        }
    } const expired{*this};
    tell(taken.mapped(), Result<Answer>(late(taken.mapped())));
}

template <class Answer>
void PendingRequests<Answer>::tell(Entry& entry, Result<Answer> answer) {
    struct Stop {  // after the caller was told, and even if it throws
        std::stop_source& stop;
        bool failed;
        ~Stop() {
            if (failed) stop.request_stop();
        }
    } const stop{entry.stop, !answer.ok()};
    entry.done(std::move(answer));
}

template <class Answer>
Error PendingRequests<Answer>::late(const Entry& entry) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(entry.patience).count();
    if (entry.is_sent) {
        return Error{ErrorCode::request_timeout,
                     "No answer within " + std::to_string(ms) +
                         " ms after the request was sent. Look at the server, or wait longer."};
    }
    return Error{ErrorCode::request_timeout, "The request was not even sent within " + std::to_string(ms) +
                                                 " ms. Look at the connection, or at what is queued before it."};
}

template <class Answer>
std::size_t PendingRequests<Answer>::stop() {
    std::unordered_map<Id, Entry> left;
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        left.swap(requests_);
    }
    std::vector<Id> ids;
    for (const auto& [id, entry] : left) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (const Id id : ids) {
        Entry& entry = left.find(id)->second;
        entry.timeout.cancel_and_wait();
        tell(entry,
             Error{ErrorCode::request_stopped, "The client was stopped before the answer came. Start it again."});
    }
    return ids.size();
}

}  // namespace duewheel
