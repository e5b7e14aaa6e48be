// One running shard: the loop of its thread handles sockets, engine and wheel, and other threads run the blocking steps
// (shard_steps.h, space_maintenance.h). This file is the only place where they meet.
//
// Every blocking step returns as a function posted to the loop, which is then followed by an iteration. A fatal error
// (a failed write, a damaged log or index) ends the process through `on_fatal_error`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/log.h"
#include "net/event_loop.h"
#include "port/command_port.h"
#include "port/engine_delivery_port.h"
#include "port/reply_sinks.h"
#include "server/shard/clock_watch.h"
#include "server/shard/delivery_times.h"
#include "server/shard/pushers.h"
#include "server/shard/shard_context.h"
#include "server/shard/shard_parts.h"
#include "server/shard/shard_steps.h"
#include "server/shard/space_maintenance.h"

namespace duewheel {

class Shard final : public CommandPort {
  public:
    Shard(EventLoop& loop, ShardParts& parts, ClockRules clock, LogSink& log, FatalErrorHandler on_fatal_error);
    // Ends the threads; the loop must have stopped.
    ~Shard() override;

    // For the pushers.
    DeliveryPort& delivery_port() { return delivery_port_; }
    // Its iterations are part of the shard's; must outlive the shard's last one.
    void push_with(WebhookPusher& pusher) { pushers_.webhooks = &pusher; }
    void push_with(KafkaPusher& pusher) { pushers_.kafka = &pusher; }
    const WebhookPusher* pusher() const { return pushers_.webhooks; }

    // CommandPort; on the loop's thread.
    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void submit(Command&& command, ReplyToken token, SharedLimits limits) override;
    void forget(ReplyToken token) override;
    bool withdraw(ReplyToken token) override;
    const AccessToken* find_token(std::string_view id) const override { return engine().tokens().find(id); }
    const AccessToken* find_token_of_certificate(std::string_view name) const override {
        return engine().tokens().find_by_certificate(name);
    }
    EngineCounters counters() const override { return engine().counters(); }
    std::vector<QueueCounters> busiest_queues(std::size_t most) const override { return engine().busiest_queues(most); }
    // As the engine offers them (engine.h); it may go on to visit groups after that.
    std::vector<GroupAnswer> busiest_groups(std::size_t max);
    std::optional<ReadyKey> first_ready(std::string_view queue) override;
    QueueSums queue_sums() const override { return engine().queue_sums(); }
    const LatenessHistory& lateness_history() const override { return delivery_times_.history(); }
    WheelView wheel() const override;
    DeliveryLevels recent_deliveries() const override { return delivery_times_.recent(engine().now()); }
    ClockStatus clock() const override { return clock_.status(); }
    bool accept_clock() override { return clock_.accept(); }
    void advance_clock(std::int64_t by_ms) override { clock_.advance(by_ms); }

    // An iteration of the loop; returns when the next one is due.
    EventLoop::TimePoint turn();
    // Commands have come since the last iteration began.
    bool needs_turn() const { return needs_turn_; }

    // Waiting consumers get an empty reply, and from now on none waits: for a server that is about to stop.
    void stop_waiting();

    // For a server that is about to stop when this is idle: it is idle again when the log has the current time.
    void save_time();

    // Saves the end of the log, then calls `then` on the loop: nothing may be written any more.
    void save_end(std::function<void()> then) { space_.save_end(std::move(then)); }

    bool is_serving() const { return engine().is_serving(); }
    // No accepted command waits for the disk, and nothing is being posted or sent.
    bool is_idle() const { return engine().is_idle() && !clock_.is_saving() && pushers_.are_idle(); }
    // Durations of the blocking steps.
    const Histogram& commit_us() const { return commits_.durations_us(); }
    const Histogram& read_us() const { return lookups_.durations_us(); }
    const Histogram& seal_us() const { return seals_.durations_us(); }
    const Histogram& lateness_us() const { return delivery_times_.lateness_us(); }
    const Histogram& wait_us() const { return delivery_times_.wait_us(); }
    const LogCleaning& cleaning() const { return cleaning_.cleaning(); }
    const DirectoryFacts& directory_facts() const { return space_.facts(); }
    const ShardParts& parts() const { return context_.parts; }
    ZoneCache& zones() { return context_.parts.zones(); }

  private:
    Engine& engine() const { return context_.engine(); }
    void carry_out(Effects effects);

    const ShardContext context_;
    ReplySinks sinks_;
    EngineDeliveryPort delivery_port_{engine(), sinks_};
    Pushers pushers_;
    DeliveryTimes delivery_times_;
    CleaningStep cleaning_{context_, sinks_};
    SpaceMaintenance space_{context_, [this] { cleaning_.go_on(); }};
    ClockWatch clock_;
    CommitStep commits_{context_, clock_};
    LookupStep lookups_{context_, clock_, cleaning_};
    SealStep seals_{context_, cleaning_};
    PatrolStep patrol_{context_};
    bool needs_turn_ = false;
};

}  // namespace duewheel
