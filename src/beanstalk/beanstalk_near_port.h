// The port of sessions that are on the engine's thread (beanstalk_port.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "beanstalk/beanstalk_port.h"

namespace duewheel {

class BeanstalkNearPort final : public BeanstalkPort {
  public:
    // Both outlive it. `audit`: null if there is no audit log.
    BeanstalkNearPort(CommandPort& commands, AuditPort* audit) : commands_(commands), audit_(audit) {}

    ReplyTokens add_sink(ReplySink sink) override;
    void submit(Command&& command, ReplyToken token) override;
    void forget(ReplyToken token) override { commands_.forget(token); }
    void withdraw(ReplyToken token) override;
    void find_first_ready(std::vector<std::string> queues, std::function<void(FirstReady)> then) override;
    void read_totals(std::function<void(const BeanstalkTotals&)> then) override;
    DueMs server_ms() const override { return commands_.clock().server_ms; }
    bool can_record() const override { return audit_ == nullptr || audit_->is_available(); }
    void record(AuditEntry entry, std::function<void(bool)> done) override;
    void record_limited(AuditEntry entry) override;

  private:
    CommandPort& commands_;
    AuditPort* const audit_;
    ReplySink sink_;
};

}  // namespace duewheel
