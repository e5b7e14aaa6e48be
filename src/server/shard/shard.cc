#include "server/shard/shard.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {

Shard::Shard(EventLoop& loop, ShardParts& parts, ClockRules clock, LogSink& log, FatalErrorHandler on_fatal_error)
    : context_{loop, parts, log, std::move(on_fatal_error)}, clock_(context_, space_.worker(), clock) {
    space_.log_state();
    clock_.save();   // before the spares, which take longer
    seals_.begin();  // full segments of an earlier run
    space_.begin();
}

Shard::~Shard() = default;

void Shard::submit(Command&& command, ReplyToken token, SharedLimits limits) {
    needs_turn_ = true;
    clock_.set_engine_time();
    engine().submit(std::move(command), token, std::move(limits));
}

void Shard::forget(ReplyToken token) {
    needs_turn_ = true;
    clock_.set_engine_time();
    engine().forget(token);
}

bool Shard::withdraw(ReplyToken token) {
    needs_turn_ = true;
    clock_.set_engine_time();
    return engine().withdraw(token);
}

std::optional<ReadyKey> Shard::first_ready(std::string_view queue) {
    clock_.set_engine_time();
    return engine().first_ready(kDefaultNamespace, queue);
}

std::vector<GroupAnswer> Shard::busiest_groups(std::size_t max) {
    needs_turn_ = true;
    clock_.set_engine_time();
    return engine().busiest_groups(max);
}

void Shard::stop_waiting() {
    engine().stop_waiting();
    pushers_.stop();
}

void Shard::save_time() {
    clock_.observe_at_stop();
    clock_.set_engine_time();
    if (engine().save_time()) carry_out(engine().take_effects());
}

EventLoop::TimePoint Shard::turn() {
    clock_.observe_if_due();
    clock_.set_engine_time();
    space_.report();
    pushers_.run_due(engine().now());
    needs_turn_ = false;
    commits_.delay_batch(monotonic_now_ns());
    engine().advance_to(engine().now());
    carry_out(engine().take_effects());
    space_.begin_if_due();
    if (engine().is_serving()) patrol_.begin_once();
    const DueMs now = engine().now();
    const DueMs next = std::min(engine().next_wakeup(), pushers_.next_wakeup(now));
    if (next <= now || needs_turn_) return EventLoop::kAtOnce;  // a reply may have led to a command
    std::int64_t at_ns = space_.next_ns();
    if (commits_.delay().is_holding()) at_ns = std::min(at_ns, commits_.delay().until_ns());
    if (clock_.is_in_quarantine()) {  // so that it is trusted no later than reported
        at_ns = std::min(at_ns, monotonic_now_ns() + ServerClock::kObserveNs);
    }
    if (next != Engine::kNoWakeup) at_ns = std::min(at_ns, monotonic_now_ns() + clock_.ns_until(next));
    return EventLoop::TimePoint(std::chrono::nanoseconds(at_ns));
}

void Shard::carry_out(Effects effects) {
    if (effects.fatal_error) context_.on_fatal_error(*effects.fatal_error);
    // The disk first: it works while the other effects are processed.
    if (effects.commit) commits_.begin(*std::move(effects.commit));
    if (!effects.lookups.empty()) lookups_.begin(std::move(effects.lookups));
    if (!effects.closed_segments.empty()) {
        seals_.begin();
        space_.begin();
    }
    for (ReplyEffect& effect : effects.replies) {
        if (const auto* delivery = std::get_if<LeaseAnswer>(&effect.reply)) {
            delivery_times_.measure(*delivery, engine().now(), clock_.now_us());
        }
        pushers_.complete(effect.reply, engine().now());
        sinks_.deliver(effect.token, std::move(effect.reply));
    }
}

WheelView Shard::wheel() const {
    constexpr unsigned kDigitBits = 6;
    const EngineCounters counters = engine().counters();
    WheelView view;
    view.now_ms = engine().now();
    view.timers = engine().timers().size();
    view.indexed_only = counters.pending - std::min(counters.pending, counters.in_memory);
    view.late = engine().timers().visit_slots([&view](unsigned level, Tick start, std::size_t timers) {
        view.levels[level][start >> (level * kDigitBits)] += timers;
    });
    return view;
}

}  // namespace duewheel
