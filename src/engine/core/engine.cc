#include "engine/core/engine.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "engine/commands/command_limits.h"
#include "engine/commands/command_traits.h"
#include "engine/commands/refusals.h"
#include "engine/core/part_by_type.h"

namespace duewheel {
Engine::Engine(const EngineOptions& options, const EngineStart& start, RecentTier& recent)
    : OwnedContext{{options, start, recent}},
      UsesState(context_),
      Use<BatchWriter>(context_),
      lifecycle_(context_, queues_, start.load_cursor_ms),
      loader_(context_, queues_, lifecycle_, start.load_cursor_ms),
      inputs_(context_, puts_, start.inputs),
      tokens_(context_, start.tokens),
      schedules_(context_, queues_, start.schedules, start.zone_data),
      watchdogs_(context_, queues_, start.watchdogs) {
    for (const EngineStart::Cursor& cursor : start.queue_cursors) {
        const QueueNumber number = recent_.queues().number(cursor.queue.name_space, cursor.queue.queue);
        queues_.at(number).cursor = queues_.at(number).durable_cursor = cursor.position;
        queues_.at(number).groups_to_find.emplace();
    }
    for (const NamespaceStart& state : start.namespaces) {
        Namespace& space = queues_.namespaces().at(state.name_space);
        settings_.install(space, state.settings, state.log_position, state.record_bytes);
    }
    for (const EngineStart::QueueState& state : start.queue_states) {
        const QueueNumber number = recent_.queues().number(state.queue.name_space, state.queue.queue);
        Queue& queue = queues_.at(number);
        queue.counts = state.counts;
        queue.space->pending += state.counts.pending;
        if (state.counts.dead > 0) {
            dead_letters_.expect(number, 0);
            queue.newest_death_ms = now_;
        }
        if (state.settings.revision == 0) continue;
        settings_.install(number, state.settings, state.settings_position, state.settings_bytes);
    }
    for (const GroupConfStart& state : start.groups) groups_.install(state);
}

Engine::~Engine() = default;

void Engine::submit(Command&& command, ReplyToken token, SharedLimits limits) {
    if (limits) {
        if (Status within = check_limits(command, *limits); !within) return reply(token, std::move(within).error());
    }
    if (is_a_put(command) && segment_.refuses_puts() && !may_be_repeated(command)) {
        counters_.refused_full += record_count(command);
        return reply(token, store_full());
    }
    if (is_limited(command) && commands_.is_full()) return reply(token, too_busy());
    const bool needs_no_batch = std::visit(
        [&](const auto& query) {
            return std::apply([&](auto&... parts) { return read_in(query, token, limits, parts...); }, parts());
        },
        command);
    if (needs_no_batch) return;
    if (!commands_.push(std::move(command), token, std::move(limits))) reply(token, too_busy());
}

void Engine::advance_to(DueMs now) {
    set_time(now);
    if (!run_.started) {
        run_.started = true;
        // An earlier run delivered nothing that was due later than this; see Dispatcher::is_due_saved().
        earlier_runs_.end(std::max(now_, batches_.totals().server_time_ms + options_.unsaved_due_max_ms),
                          batches_.totals().server_time_ms, now_,
                          batches_.totals().id_counter * kShardsMax + options_.shard);
        run_.incarnation =
            batches_.totals().commit + 1;  // every run commits an epoch first, so that no two runs share a number
        lifecycle_.start();
        schedules_.start();
        watchdogs_.start();
        // Some have only outcomes left: they are known until those have left memory.
        for (QueueNumber number = 0; number < recent_.queues().size(); ++number) queues_.mark(number);
    }
    apply_durable();
    fire_due();
    loader_.sweep();
    loader_.load();
    purges_.walk();
    if (run_.serving) dispatcher_.serve_queues();
    views_.walk();
    build_batch();
}

void Engine::fire_due() {
    wheel_.advance_to(
        static_cast<Tick>(now_),
        [this](std::uint64_t cookie, Tick) {
            if ((cookie & kWaiterCookie) != 0) {
                dispatcher_.end_wait(cookie & ~kWaiterCookie);
            } else if ((cookie & kScheduleCookie) != 0) {
                schedules_.wake(cookie & ~kScheduleCookie);
            } else if ((cookie & kWatchdogCookie) != 0) {
                watchdogs_.wake(cookie & ~kWatchdogCookie);
            } else if ((cookie & kMessageWaitCookie) != 0) {
                reader_.end_wait(cookie & ~kMessageWaitCookie);
            } else if ((cookie & kTurnCookie) != 0) {
                lifecycle_.turns().wake(static_cast<QueueNumber>(cookie & ~kTurnCookie));
            } else {
                lifecycle_.wake(static_cast<EntryNumber>(cookie));
            }
        },
        options_.fire_chunk);
}

Effects Engine::take_effects() {
    if (lookups_.has_started()) effects_.lookups = lookups_.take_started();
    return std::exchange(effects_, Effects{});
}

// ---- lookups and their results

void Engine::answer(Answer answer) {
    PendingLookup pending = lookups_.finish(answer.ticket, answer.generation);
    std::visit(
        [&]<class Kind>(Kind& lookup) {
            auto& found = std::get<typename Kind::Found>(answer.what);
            std::apply([&](auto&... parts) { finish_in(lookup, std::move(found), answer.generation, parts...); },
                       parts());
        },
        pending);
}

void Engine::table_taken(SegmentNumber through) {
    segment_.table_taken(through);
    lookups_.table_taken(through);
}

// ---- queries of the owner

std::optional<ReadyKey> Engine::first_ready(std::string_view name_space, std::string_view queue) {
    const QueueNumber number = recent_.queues().find(name_space, queue);
    const ReadyKey* first = number == kNoQueue ? nullptr : dispatcher_.first_ready(number);
    return first == nullptr ? std::nullopt : std::optional(*first);
}

bool Engine::is_idle() const {
    return commands_.is_empty() && is_own_work_done() && !batches_.is_in_flight() && !lookups_.has_awaited();
}

DueMs Engine::next_wakeup() const {
    const bool has_begun = batches_.is_durable() || segment_.has_to_sweep() || !wheel_.caught_up() ||
                           dispatcher_.has_more_to_serve() || views_.has_to_walk();
    if (!run_.started || has_begun) return now_;
    const bool has_requests = has_commands() || dead_writer_.has_work() ||
                              (commands_.has_puts() && !segment_.puts_stalled()) || dispatcher_.has_held();
    const bool closes = segment_.is_close_wanted() && !segment_.is_empty() && segment_.cleaning_may_write();
    const bool may_build = may_build_batch();
    if (may_build && (has_requests || closes || needs_own_batch())) return now_;
    if (purges_.has_to_walk()) return now_;
    if (may_build && dead_writer_.has_to_expire()) return now_;
    const Tick wheel = wheel_.next_work();
    DueMs next = wheel >= static_cast<Tick>(kNoWakeup) ? kNoWakeup : static_cast<DueMs>(wheel);
    if (may_build) next = std::min({next, batches_.confirm_at_ms(), lifecycle_.own_records().attempts.due_ms()});
    if (dead_letters_.next_expiry_ms() > now_) next = std::min(next, dead_letters_.next_expiry_ms());
    if (!lifecycle_.window().is_reading()) next = std::min(next, std::max(now_ + 1, lifecycle_.window().next_ms()));
    return next;
}

EngineCounters Engine::counters() const {
    EngineCounters counters = counters_;
    static_cast<QueueTotals&>(counters) = queues_.totals();
    counters.pending = batches_.totals().live_count;
    counters.ready = lifecycle_.ready_count();
    counters.leased = lifecycle_.leases().size();
    counters.waiters = dispatcher_.waiters();
    counters.message_waits = reader_.waiting();
    counters.commands_waiting = commands_.waiting();
    counters.waiting_bytes = commands_.waiting_bytes();
    counters.reading_bytes = lookups_.shown_bytes();
    counters.lookups = lookups_.newest_ticket();
    counters.stale_answers = lookups_.stale_results();
    counters.listings = views_.open.count();
    counters.in_memory = recent_.entry_count();
    counters.unsealed_segments = segment_.unsealed();
    counters.queues = queues_.by_name().size();
    counters.queue_names = recent_.queues().in_use();
    counters.schedules = schedules_.table().size();
    counters.watchdogs = watchdogs_.table().size();
    counters.namespaces = queues_.namespaces().with_settings;
    counters.order_lines = lifecycle_.order_lines().size();
    counters.cached_bytes = cache_.bytes();
    counters.memory_bytes = recent_.memory_bytes() + wheel_.memory_bytes() + cache_.bytes();
    counters.puts_stalled = segment_.puts_stalled();
    counters.space = segment_.space();
    counters.loaded_until_ms = lifecycle_.window().until_ms();
    counters.server_time_ms = now_;
    return counters;
}

void Engine::check() const {
    recent_.check();
    wheel_.check();
    const bool new_put_waits =
        commands_.puts().find_if([](const PendingPtr& put) { return !may_be_repeated(put->command); }) != nullptr;
    require(!segment_.refuses_puts() || !new_put_waits, "a put waits though the store is full");
    lifecycle_.check();
    dispatcher_.check();
    reader_.check();
    schedules_.check();
    watchdogs_.check();
    std::uint64_t pending_in_all = 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) pending_in_all += queues_[number].counts.pending;
    require(batches_.is_durable() || pending_in_all == batches_.totals().live_count,
            "the queues do not hold as many messages as the log says");
    std::map<std::string_view, NamespaceAnswer> rules;
    schedules_.table().for_each([&](const Schedule& schedule) { ++rules[schedule.name_space()].schedules; });
    watchdogs_.table().for_each([&](const Watchdog& watchdog) { ++rules[watchdog.name_space()].watchdogs; });
    const char* miscount = queues_.find_miscount(std::move(rules));
    require(miscount == nullptr, miscount);
}

}  // namespace duewheel
