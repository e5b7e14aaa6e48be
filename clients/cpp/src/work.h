// A leased message in a worker, from its lease until its outcome is reported; and the outcomes that wait to be
// reported.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "duewheel/client/worker.h"

namespace duewheel::client {

struct Route;

namespace detail {

struct Work {
    Work(Lease leased, Route& of) : lease(std::move(leased)), route(of) {}

    bool has_said();
    // Takes what the next extension takes along.
    ExtendOptions take_said();
    // Keeps what an extension that failed had taken along, unless there is newer.
    void say_again(ExtendOptions said);
    // Takes the right to end the lease; false if another thread has taken it.
    bool disown();
    void request_stop(StopReason why);

    const Lease lease;
    Route& route;
    std::stop_source stop{};
    std::mutex saying{};  // held while an extension with progress or checkpoint is sent
    std::mutex mutex{};
    ExtendOptions said{};                  // guarded by mutex, as the others
    bool disowned = false;                 // whether its lease is no longer the handler's to end
    StopReason reason = StopReason::none;  // the first one
    std::chrono::steady_clock::time_point deadline{};
};

}  // namespace detail

using Works = std::vector<std::shared_ptr<detail::Work>>;

// The call that ends a lease. The functions throw Failure if a value cannot be written as JSON.
struct Ending {
    std::string verb;       // of the call
    std::string members{};  // of its JSON, each with a comma before it
    bool is_last = false;   // tells a refusal, and its own refusal is only logged

    static Ending ack(const Json& result);
    static Ending fail(const std::string& reason, const FailOptions& options = {});
    static Ending release(Duration delay = {});
    // The attempt fails because the server has refused the ending of this verb.
    static Ending refused(const std::string& verb, const Error& why);
};

struct Ended {
    std::shared_ptr<detail::Work> work;
    Ending ending;
};

inline constexpr std::size_t kBodyMax = std::size_t{1} << 20;  // bytes of results and reasons in one request

inline constexpr std::size_t kFullRequest = 100;  // endings for which a request waits no longer
inline constexpr std::chrono::milliseconds kGatherEndings{2};

// What is to be reported to the server, many with one request: what comes within a moment or while a request is on its
// way.
class Outbox {
  public:
    void add(Ended ended);
    // Endings of one verb, up to what one request may have; waits for one, and a moment for more. A result that is too
    // large is alone, so that it is refused alone. Empty when the outbox is closed and empty.
    std::vector<Ended> take();
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::deque<Ended>> waiting_;  // by verb, the oldest first; guarded by mutex_, as the next two
    std::size_t count_ = 0;
    bool closed_ = false;
};

}  // namespace duewheel::client
