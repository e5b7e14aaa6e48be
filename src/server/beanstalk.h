// The listener of the beanstalkd protocol: sockets, sessions, and the clock that they read. They are on the engine's
// thread, or on one of their own:
//
//     engine's thread: BeanstalkNearPort ◄── BeanstalkFarPort ──► own thread: EventLoop, BeanstalkService, StreamServer
//
// For the engine's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "access/audit_port.h"
#include "base/status.h"
#include "beanstalk/beanstalk_far_port.h"
#include "beanstalk/beanstalk_near_port.h"
#include "beanstalk/beanstalk_service.h"
#include "net/bound_address.h"
#include "net/event_loop.h"
#include "net/http/http_limits.h"
#include "net/stream_server.h"
#include "port/command_port.h"
#include "server/limits/beanstalk_settings.h"

namespace duewheel {

class Beanstalk {
  public:
    // The engine's loop, the port and the audit log, which may be null, outlive it; the loop does not run any more when
    // it ends. Of the limits of HTTP, those of connections and of unfinished requests apply. Codes: as
    // StreamServer::listen() and start_io_thread(); bad_beanstalk_group.
    static Result<std::unique_ptr<Beanstalk>> open(EventLoop& loop, CommandPort& port,
                                                   const BeanstalkSettings& settings, const HttpLimits& limits,
                                                   const std::string& instance, AuditPort* audit, bool has_own_thread);
    ~Beanstalk();
    Beanstalk(const Beanstalk&) = delete;
    Beanstalk& operator=(const Beanstalk&) = delete;

    const std::string& address() const { return address_; }
    // Nothing if it listens on a Unix socket.
    std::optional<BoundAddress> bound() const;
    // In each iteration of the engine's loop; returns when to be called again.
    EventLoop::TimePoint run_due();
    void drain();
    // Accepts nothing more, and ends all sessions after the replies that they owe.
    void stop();
    // It was stopped, and no client is connected.
    bool is_over() const { return state().is_over; }
    // As of the last iteration of its own thread, if it has one.
    std::size_t connections() const { return state().connections; }
    BeanstalkCounters counters() const { return state().counters; }

  private:
    struct State {
        BeanstalkCounters counters;
        std::size_t connections = 0;
        bool is_over = false;
    };

    Beanstalk(EventLoop& loop, CommandPort& port, AuditPort* audit, BeanstalkOptions options,
              std::size_t connections_max, bool has_own_thread);

    BeanstalkPort& sessions_port() {
        if (far_port_) return *far_port_;
        return near_port_;
    }
    State state() const;
    // Runs it on the thread of the sessions, at once or later.
    void run(std::function<void()> function);
    // On that thread: ends what has timed out; returns when to be called again.
    EventLoop::TimePoint end_due();
    void publish();

    EventLoop& engine_loop_;
    const std::unique_ptr<EventLoop> own_loop_;  // null: the sessions are on the engine's
    BeanstalkNearPort near_port_;
    const std::unique_ptr<BeanstalkFarPort> far_port_;  // null likewise
    const bool has_test_clock_;
    const std::function<std::int64_t()> now_ms_;
    BeanstalkService service_;
    StreamServer server_;
    std::string address_;
    bool is_stopped_ = false;
    mutable std::mutex mutex_;
    State published_;                // guarded by mutex_
    std::shared_ptr<void> running_;  // the own thread; last, because it uses the rest
};

}  // namespace duewheel
