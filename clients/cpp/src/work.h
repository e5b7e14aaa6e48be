// A leased message in a worker, from its lease until its outcome is reported; and the outcomes that wait to be
// reported.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "duewheel/client/worker.h"

namespace duewheel::client {

struct Route;

namespace detail {

struct Work {
    Work(Lease leased, Route& of) : lease(std::move(leased)), route(of) {}

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
    std::mutex mutex{};
    ExtendOptions said{};                  // guarded by mutex, as the others
    bool disowned = false;                 // whether its lease is no longer the handler's to end
    StopReason reason = StopReason::none;  // the first one
    std::chrono::steady_clock::time_point deadline{};
};

}  // namespace detail

using Works = std::vector<std::shared_ptr<detail::Work>>;

// The call that ends a lease.
struct Ending {
    enum class Verb { ack, fail, release };

    Verb verb = Verb::ack;
    Json result{};
    std::string reason{};
    FailOptions fail{};
    Duration delay{};

    static Ending failure(std::string reason) { return {.verb = Verb::fail, .reason = std::move(reason)}; }
    std::string_view name() const;
    // The same text for the same call.
    std::string identity() const;
};

// What is to be reported to the server. What comes while a request is on its way is the next one.
class Outbox {
  public:
    struct Group {
        Ending ending;
        Works works;
    };

    void add(std::shared_ptr<detail::Work> work, const Ending& ending);
    // The oldest group, of up to what one request may have; waits for one. Nothing when the outbox is closed and empty.
    std::optional<Group> take();
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::string> order_;  // identities of the groups; guarded by mutex_, as the others
    std::map<std::string, Group> groups_;
    bool closed_ = false;
};

}  // namespace duewheel::client
