#include "beanstalk/beanstalk_far_port.h"

#include <utility>

namespace duewheel {

BeanstalkFarPort::BeanstalkFarPort(BeanstalkNearPort& near, EventLoop& engine_loop, EventLoop& own_loop)
    : near_(near),
      calls_(BatchQueue<FarCall>::open(own_loop, engine_loop, [this](FarCall&& call) { carry_out(std::move(call)); })),
      results_(BatchQueue<FarResult>::open(engine_loop, own_loop, [this](FarResult&& result) {
          if (result.token == 0) return result.other();
          sink_(result.token, std::move(result.reply));
      })) {
    publish();
}

BeanstalkFarPort::~BeanstalkFarPort() {
    calls_->close();
    results_->close();
}

bool BeanstalkFarPort::publish() {
    can_record_.store(near_.can_record(), std::memory_order_relaxed);
    const DueMs now_ms = near_.server_ms();
    return server_ms_.exchange(now_ms, std::memory_order_relaxed) != now_ms;
}

void BeanstalkFarPort::carry_out(FarCall&& call) {
    switch (call.kind) {
        case FarCall::Kind::submit:
            return near_.submit(std::move(call.command), call.token);
        case FarCall::Kind::forget:
            return near_.forget(call.token);
        case FarCall::Kind::withdraw:
            return near_.withdraw(call.token);
        case FarCall::Kind::other:
            return call.other();
    }
}

ReplyTokens BeanstalkFarPort::add_sink(ReplySink sink) {
    sink_ = std::move(sink);
    return near_.add_sink(
        [this](ReplyToken token, Reply reply) { results_->send({.token = token, .reply = std::move(reply)}); });
}

void BeanstalkFarPort::submit(Command&& command, ReplyToken token) {
    calls_->send({.kind = FarCall::Kind::submit, .token = token, .command = std::move(command)});
}

void BeanstalkFarPort::forget(ReplyToken token) {
    calls_->send({.kind = FarCall::Kind::forget, .token = token});
}

void BeanstalkFarPort::withdraw(ReplyToken token) {
    calls_->send({.kind = FarCall::Kind::withdraw, .token = token});
}

void BeanstalkFarPort::call(std::function<void()> function) {
    calls_->send({.kind = FarCall::Kind::other, .other = std::move(function)});
}

void BeanstalkFarPort::find_first_ready(std::vector<std::string> queues, std::function<void(FirstReady)> then) {
    call([this, queues = std::move(queues), then = std::move(then)] {
        near_.find_first_ready(queues, [&](FirstReady found) { answer(then, std::move(found)); });
    });
}

void BeanstalkFarPort::read_totals(std::function<void(const BeanstalkTotals&)> then) {
    call([this, then = std::move(then)] {
        near_.read_totals([&](const BeanstalkTotals& totals) { answer(then, totals); });
    });
}

void BeanstalkFarPort::record(AuditEntry entry, std::function<void(bool)> done) {
    call([this, entry = std::move(entry), done = std::move(done)] {
        near_.record(entry, [this, done](bool is_written) { answer(done, is_written); });
    });
}

void BeanstalkFarPort::record_limited(AuditEntry entry) {
    call([this, entry = std::move(entry)] { near_.record_limited(entry); });
}

}  // namespace duewheel
