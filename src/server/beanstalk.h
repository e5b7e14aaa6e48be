// The listener of the beanstalkd protocol: sockets, sessions, and the clock that they read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "access/audit_port.h"
#include "base/status.h"
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
    // The loop, the port and the audit log, which may be null, outlive it. Of the limits of HTTP, those of connections
    // and of unfinished requests apply. Codes: as StreamServer::listen(); bad_beanstalk_group.
    static Result<std::unique_ptr<Beanstalk>> open(EventLoop& loop, CommandPort& port,
                                                   const BeanstalkSettings& settings, const HttpLimits& limits,
                                                   const std::string& instance, AuditPort* audit);

    const std::string& address() const { return address_; }
    // Nothing if it listens on a Unix socket.
    std::optional<BoundAddress> bound() const;
    // Ends what has timed out; returns when to be called again.
    EventLoop::TimePoint run_due();
    void drain() { service_.drain(); }
    // Accepts nothing more, and ends all sessions after the replies that they owe.
    void stop();
    std::size_t connections() const { return server_.connections(); }
    const BeanstalkCounters& counters() const { return service_.counters(); }

  private:
    Beanstalk(EventLoop& loop, CommandPort& port, BeanstalkOptions options, std::size_t connections_max);

    const std::function<std::int64_t()> now_ms_;
    BeanstalkService service_;
    StreamServer server_;
    std::string address_;
};

}  // namespace duewheel
