// The port of sessions that are on a thread of their own (beanstalk_port.h). Both ways go in batches: what an iteration
// of one loop sends is passed to the other loop when it ends.
//
//     sessions' loop ── FarCall ──► engine's loop: BeanstalkNearPort
//                    ◄─ FarResult ─
//
// Calls take effect in their order. A lease that a session no longer waits for when it arrives is the service's to give
// back, as for sessions on the engine's thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "beanstalk/beanstalk_near_port.h"
#include "beanstalk/beanstalk_port.h"
#include "net/batch_queue.h"
#include "net/event_loop.h"

namespace duewheel {

class BeanstalkFarPort final : public BeanstalkPort {
  public:
    // Created and destroyed on the engine's thread, while the sessions' loop does not run. All outlive it.
    BeanstalkFarPort(BeanstalkNearPort& near, EventLoop& engine_loop, EventLoop& own_loop);
    ~BeanstalkFarPort();
    BeanstalkFarPort(const BeanstalkFarPort&) = delete;
    BeanstalkFarPort& operator=(const BeanstalkFarPort&) = delete;

    // In each iteration of the engine's loop: what sessions read without a call. True if server time has changed.
    bool publish();

    // While the sessions' loop does not run.
    ReplyTokens add_sink(ReplySink sink) override;
    void submit(Command&& command, ReplyToken token) override;
    void forget(ReplyToken token) override;
    void withdraw(ReplyToken token) override;
    void find_first_ready(std::vector<std::string> queues, std::function<void(FirstReady)> then) override;
    void read_totals(std::function<void(const BeanstalkTotals&)> then) override;
    DueMs server_ms() const override { return server_ms_.load(std::memory_order_relaxed); }
    bool can_record() const override { return can_record_.load(std::memory_order_relaxed); }
    void record(AuditEntry entry, std::function<void(bool)> done) override;
    void record_limited(AuditEntry entry) override;

  private:
    struct FarCall {
        enum class Kind { submit, forget, withdraw, other };

        Kind kind{};
        ReplyToken token = 0;
        Command command = {};
        std::function<void()> other = {};
    };
    struct FarResult {
        ReplyToken token = 0;  // 0: `other`
        Reply reply = {};
        std::function<void()> other = {};
    };

    void carry_out(FarCall&& call);
    // Runs it on the engine's thread.
    void call(std::function<void()> function);
    // Sends `then` back from there, with its argument.
    template <class Then, class Result>
    void answer(const Then& then, Result result) {
        results_->send({.other = [then, result = std::move(result)] { then(result); }});
    }

    BeanstalkNearPort& near_;
    ReplySink sink_;
    std::atomic<DueMs> server_ms_{0};
    std::atomic<bool> can_record_{true};
    const std::shared_ptr<BatchQueue<FarCall>> calls_;
    const std::shared_ptr<BatchQueue<FarResult>> results_;
};

}  // namespace duewheel
