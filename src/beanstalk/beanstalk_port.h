// What the sessions of the beanstalkd protocol need of the engine's thread: the engine, and the audit log. Their own
// thread may be that one (beanstalk_near_port.h) or another (beanstalk_far_port.h).
//
// For the thread of the sessions. What a function gets to call, it may call before it returns; and it calls nothing
// after the end of the port.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "access/audit_port.h"
#include "port/command_port.h"

namespace duewheel {

struct BeanstalkTotals {
    EngineCounters engine;
    QueueSums queues;
};

class BeanstalkPort {
  public:
    using FirstReady = std::vector<std::optional<ReadyKey>>;

    // Call it once. The sink gets the replies to the commands with these tokens.
    virtual ReplyTokens add_sink(ReplySink sink) = 0;
    virtual void submit(Command&& command, ReplyToken token) = 0;
    // The receiver of this reply is gone. A lease in it may come all the same.
    virtual void forget(ReplyToken token) = 0;
    // If this lease still waits, it gets an empty reply; otherwise its reply is on its way.
    virtual void withdraw(ReplyToken token) = 0;

    // For each of these queues: CommandPort::first_ready().
    virtual void find_first_ready(std::vector<std::string> queues, std::function<void(FirstReady)> then) = 0;
    virtual void read_totals(std::function<void(const BeanstalkTotals&)> then) = 0;
    // Server time, as of the last iteration of the engine's loop or later.
    virtual DueMs server_ms() const = 0;

    // AuditPort. Without an audit log, everything can be recorded. The time of the line is filled in.
    virtual bool can_record() const = 0;
    virtual void record(AuditEntry entry, std::function<void(bool)> done) = 0;
    virtual void record_limited(AuditEntry entry) = 0;

  protected:
    ~BeanstalkPort() = default;
};

}  // namespace duewheel
