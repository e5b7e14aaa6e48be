#include "beanstalk/beanstalk_near_port.h"

#include <utility>

namespace duewheel {

ReplyTokens BeanstalkNearPort::add_sink(ReplySink sink) {
    sink_ = sink;
    return commands_.add_sink(std::move(sink));
}

void BeanstalkNearPort::submit(Command&& command, ReplyToken token) {
    commands_.submit(std::move(command), token, nullptr);
}

void BeanstalkNearPort::withdraw(ReplyToken token) {
    if (commands_.withdraw(token)) sink_(token, LeaseAnswer());
}

void BeanstalkNearPort::find_first_ready(std::vector<std::string> queues, std::function<void(FirstReady)> then) {
    FirstReady found;
    for (const std::string& queue : queues) found.push_back(commands_.first_ready(queue));
    then(std::move(found));
}

void BeanstalkNearPort::read_totals(std::function<void(const BeanstalkTotals&)> then) {
    then({.engine = commands_.counters(), .queues = commands_.queue_sums()});
}

void BeanstalkNearPort::record(AuditEntry entry, std::function<void(bool)> done) {
    if (audit_ == nullptr) return done(true);
    entry.time_ms = server_ms();
    audit_->record(std::move(entry), std::move(done));
}

void BeanstalkNearPort::record_limited(AuditEntry entry) {
    if (audit_ == nullptr) return;
    entry.time_ms = server_ms();
    audit_->record_limited(std::move(entry));
}

}  // namespace duewheel
