// One running shard: the loop of its thread handles sockets, engine and wheel; a committer writes and syncs, a reader
// does lookups, a sealer builds tables, a patrol verifies old segments, and a maintenance thread fills spare segments
// and checks the free space, after each full segment, every ten seconds, and every second when it is scarce. This file
// is the only place where they meet.
//
// Every blocking step runs on its worker and returns as a function posted to the loop, which is then followed by an
// iteration. A fatal error (a failed write, a damaged log or index) ends the process through `on_fatal_error`.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/log.h"
#include "http_api/command_port.h"
#include "kafka/out/kafka_pusher.h"
#include "net/event_loop.h"
#include "port/engine_delivery_port.h"
#include "port/reply_sinks.h"
#include "server/shard/commit_delay.h"
#include "server/shard/log_cleaning.h"
#include "server/shard/server_clock.h"
#include "server/shard/shard_parts.h"
#include "server/shard/worker.h"
#include "webhooks/webhook_pusher.h"

namespace duewheel {

// Called on any thread when the process must not continue; does not return.
using FatalErrorHandler = std::function<void(const Error&)>;

// Wait times of the blocking steps, in microseconds.
struct ShardTimes {
    Histogram commit_us;  // from passing on a commit until it is durable
    Histogram read_us;
    Histogram seal_us;
};

class Shard final : public CommandPort {
  public:
    Shard(EventLoop& loop, ShardParts& parts, ClockRules clock, LogSink& log, FatalErrorHandler on_fatal_error);
    // Ends the workers; the loop must have stopped.
    ~Shard() override;

    // For the pushers.
    DeliveryPort& delivery_port() { return delivery_port_; }
    // Its iterations are part of the shard's; must outlive the shard's last one.
    void push_with(WebhookPusher& pusher) { pusher_ = &pusher; }
    const WebhookPusher* pusher() const { return pusher_; }
    // The same for queues with a Kafka target.
    void send_with(KafkaPusher& pusher) { kafka_pusher_ = &pusher; }

    // CommandPort; on the loop's thread.
    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void submit(Command command, ReplyToken token, SharedLimits limits) override;
    void forget(ReplyToken token) override;
    const AccessToken* find_token(std::string_view id) const override { return parts_.engine().tokens().find(id); }
    const AccessToken* find_token_of_certificate(std::string_view name) const override {
        return parts_.engine().tokens().find_by_certificate(name);
    }
    EngineCounters counters() const override { return parts_.engine().counters(); }
    std::vector<QueueCounters> busiest_queues(std::size_t most) const override {
        return parts_.engine().busiest_queues(most);
    }
    std::optional<ReadyKey> first_ready(std::string_view queue) override;
    QueueSums queue_sums() const override { return parts_.engine().queue_sums(); }
    const LatenessHistory& lateness_history() const override { return lateness_history_; }
    WheelView wheel() const override;
    DeliveryLevels recent_deliveries() const override {
        const DueMs now = parts_.engine().now();
        return {lateness_.recent(now), wait_.recent(now)};
    }
    ClockStatus clock() const override;
    bool accept_clock() override;
    void advance_clock(std::int64_t by_ms) override;

    // An iteration of the loop; returns when the next one is due.
    EventLoop::TimePoint turn();
    // Commands have come since the last iteration began.
    bool needs_turn() const { return needs_turn_; }

    // Waiting consumers get an empty reply, and from now on none waits: for a server that is about to stop.
    void stop_waiting();

    // For a server that is about to stop when this is idle: it is idle again when the log has the current time.
    void save_time();

    // Saves the end of the log, then calls `then` on the loop: nothing may be written any more.
    void save_end(std::function<void()> then);

    bool is_serving() const { return parts_.engine().is_serving(); }
    // No accepted command waits for the disk, and nothing is being posted or sent.
    bool is_idle() const {
        return parts_.engine().is_idle() && !is_marking_clock_ && (pusher_ == nullptr || pusher_->is_idle()) &&
               (kafka_pusher_ == nullptr || kafka_pusher_->is_idle());
    }
    const ShardTimes& times() const { return times_; }
    const Histogram& lateness_us() const { return lateness_.all_us(); }
    const Histogram& wait_us() const { return wait_.all_us(); }
    const LogCleaning& cleaning() const { return cleaning_; }
    // When last read, at most ten seconds ago.
    const DirectoryFacts& directory_facts() const { return directory_facts_; }
    const ShardParts& parts() const { return parts_; }
    ZoneCache& zones() { return parts_.zones(); }

  private:
    void carry_out(Effects effects);
    void complete(Reply& reply) const;
    void fill_in(QueueAnswer& queue) const;
    void measure(const LeaseAnswer& delivery);
    void delay_batch(std::int64_t now_ns);
    void commit(Commit commit);
    void read(std::vector<Lookup> lookups);
    void set_engine_time();
    void watch_clock();
    void log_clock_state();
    void log_start();
    void save_clock_mark();
    void read_some(std::vector<Lookup> lookups);
    void seal();
    void maintain_spare_segments();
    void take_space(const SpaceReading& seen);
    void log_space_state();
    void clean();
    void continue_cleaning(const Reply& reply);
    void run_cleaning(LogCleaning::Step step);
    void patrol();

    EventLoop& loop_;
    ShardParts& parts_;
    LogSink& log_;
    FatalErrorHandler on_fatal_error_;
    ReplySinks sinks_;
    EngineDeliveryPort delivery_port_{parts_.engine(), sinks_};
    WebhookPusher* pusher_ = nullptr;
    KafkaPusher* kafka_pusher_ = nullptr;
    const std::string machine_run_;
    const ClockStart clock_start_;
    ServerClock clock_;
    std::int64_t watch_clock_at_ns_ = 0;  // of the boot clock
    ClockState logged_clock_ = ClockState::steady;
    std::uint64_t logged_jumps_ = 0;
    ClockMark clock_mark_;  // in the data directory
    bool is_marking_clock_ = false;
    bool clock_wait_logged_ = false;
    LogCleaning cleaning_{parts_, sinks_.add([this](ReplyToken, Reply reply) { continue_cleaning(reply); })};
    // At most one such job is queued or running, so that jobs that wait for space do not pile up.
    std::atomic<bool> seal_queued_{false};
    std::atomic<bool> maintenance_queued_{false};
    LogSpace logged_space_ = LogSpace::enough;
    DirectoryFacts directory_facts_;
    std::int64_t maintenance_at_ns_ = 0;
    bool seal_waits_ = false;  // for space, and that was logged; of the sealer
    CommitDelay commit_delay_;
    bool needs_turn_ = false;
    ShardTimes times_;
    Durations lateness_;  // of messages as they are delivered
    Durations wait_;      // before that
    LatenessHistory lateness_history_;
    bool patrolling_ = false;

    // Last: their threads end before anything that their jobs use is destroyed.
    Worker committer_{"dw-commit"};
    Worker reader_{"dw-read"};
    Worker sealer_{"dw-seal"};
    Worker cleaner_{"dw-clean"};  // beside the sealer, which is busy for a second with each segment
    Worker maintenance_worker_{"dw-space"};
    Worker patrol_{"dw-patrol"};
};

}  // namespace duewheel
