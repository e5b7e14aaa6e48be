// The frame of the engine: start, iterations, and the results of lookups. Batches are in engine_batches.cc; commands in
// engine_commands.cc, engine_puts.cc and engine_moves.cc; due messages in engine_firing.cc; loading from the index in
// engine_loading.cc; purges in engine_purge.cc; expiry in engine_expiry.cc; attempts in engine_retries.cc; dead letters
// in engine_dead_letters.cc, recurring messages in engine_recurring.cc, transactions in engine_transactions.cc,
// schedules in engine_schedules.cc and engine_runs.cc, watchdogs in engine_watchdogs.cc and engine_firings.cc, order
// keys in engine_order.cc, full disks in engine_space.cc.
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "engine/command_limits.h"
#include "engine/command_size.h"
#include "engine/refusals.h"

namespace duewheel {

Engine::Engine(const EngineOptions& options, const EngineStart& start, RecentTier& recent)
    : OwnedContext{{options, start, recent}},
      EnginePart(owned_context_),
      durable_load_cursor_ms_(start.load_cursor_ms),
      tokens_(context_, start.tokens),
      signer_(start.token_key),
      window_(context_, start.load_cursor_ms) {
    for (const EngineStart::Cursor& cursor : start.queue_cursors) {
        const QueueNumber number = recent_.queues().number(cursor.queue.name_space, cursor.queue.queue);
        queues_.at(number).cursor = queues_.at(number).durable_cursor = cursor.position;
    }
    for (const NamespaceStart& state : start.namespaces) {
        Namespace& space = queues_.namespaces().at(state.name_space);
        settings_.take(space, state.settings, state.log_position, state.record_bytes);
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
        settings_.take(number, state.settings, state.settings_position, state.settings_bytes);
    }
    for (const InputPosition& position : start.inputs) inputs_.set(position);
    zone_data_ = start.zone_data;
    begin_schedules(start.schedules);
    begin_watchdogs(start.watchdogs);
}

Engine::~Engine() = default;

void Engine::submit(Command command, ReplyToken token, SharedLimits limits) {
    if (limits) {
        if (Status within = check_limits(command, *limits); !within) return reply(token, std::move(within).error());
    }
    if (const auto* request = std::get_if<LeaseCommand>(&command)) return lease(*request, token);
    if (is_a_put(command) && segment_.refuses_puts() && !may_be_repeated(command)) {
        counters_.refused_full += record_count(command);
        return reply(token, store_full());
    }
    // Compaction limits itself, and an outcome that is not relocated would be lost with the front of the log.
    if (!is_of_cleaning(command) && commands_.is_full()) return reply(token, too_busy());
    if (const auto* request = std::get_if<GetCommand>(&command)) return get(*request, token, limits);
    if (const auto* request = std::get_if<ListCommand>(&command))
        return views_.listings.list(*request, token, recurring_due_ != 0);
    if (const auto* request = std::get_if<RedriveCommand>(&command)) return redrive(*request, token);
    if (auto* request = std::get_if<HistoryCommand>(&command)) return views_.history.list(std::move(*request), token);
    if (const auto* request = std::get_if<ForecastCommand>(&command)) return views_.forecasts.forecast(*request, token);
    if (const auto* request = std::get_if<DescribeQueueCommand>(&command)) return reports_.describe(*request, token);
    if (const auto* request = std::get_if<ListQueuesCommand>(&command)) return reports_.list(*request, token, limits);
    if (const auto* request = std::get_if<DescribeScheduleCommand>(&command)) return describe(*request, token, limits);
    if (const auto* request = std::get_if<ListSchedulesCommand>(&command))
        return list_schedules(*request, token, limits);
    if (const auto* request = std::get_if<PreviewScheduleCommand>(&command)) return preview(*request, token, limits);
    if (const auto* request = std::get_if<DescribeWatchdogCommand>(&command)) return describe(*request, token, limits);
    if (const auto* request = std::get_if<ListWatchdogsCommand>(&command))
        return list_watchdogs(*request, token, limits);
    if (const auto* request = std::get_if<DescribeNamespaceCommand>(&command))
        return reports_.describe(*request, token);
    if (const auto* request = std::get_if<ListNamespacesCommand>(&command))
        return reports_.list(*request, token, limits);
    if (const auto* request = std::get_if<DescribeTokenCommand>(&command)) return tokens_.describe(*request, token);
    if (const auto* request = std::get_if<ListTokensCommand>(&command)) return tokens_.list(*request, token);
    if (!commands_.push(std::move(command), token, std::move(limits))) reply(token, too_busy());
}

void Engine::advance_to(DueMs now) {
    set_time(now);
    if (!context_.started) {
        context_.started = true;
        // An earlier run delivered nothing that was due later than this; see is_due_saved().
        earlier_runs_.end(std::max(now_, batches_.totals().server_time_ms + options_.unsaved_due_max_ms),
                          batches_.totals().id_counter * kShardsMax + options_.shard);
        context_.incarnation =
            batches_.totals().commit + 1;  // every run commits an epoch first, so that no two runs share a number
        window_.start();
        for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
            Entry& entry = recent_.entry(number);
            if (entry.id == 0) continue;
            entry.from_past = earlier_runs_.may_have_delivered(entry);
            join_line(number);
        }
        for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
            if (recent_.entry(number).id != 0) settle(number);
        }
        schedules_.for_each([this](Schedule& schedule) { settle_schedule(schedule); });
        watchdogs_.for_each([this](Watchdog& watchdog) { settle_watchdog(watchdog); });
        // Some have only outcomes left: they are known until those have left memory.
        for (QueueNumber number = 0; number < recent_.queues().size(); ++number) queues_.mark(number);
    }
    apply_durable();
    fire_due();
    sweep();
    load();
    walk_purge();
    if (context_.serving) serve_queues();
    views_.walk();
    build_batch();
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
            part_for(lookup).finish(std::move(lookup), std::get<typename Kind::Found>(std::move(answer.what)),
                                    answer.generation);
        },
        pending);
}

void Engine::table_taken(SegmentNumber through) {
    segment_.table_taken(through);
    recent_.seconds().table_taken(lookups_.table_taken(through));
}

// ---- queries of the owner

bool Engine::is_idle() const {
    return commands_.is_empty() && is_own_work_done() && !batches_.is_in_flight() && !lookups_.has_awaited();
}

DueMs Engine::next_wakeup() const {
    const bool has_begun = batches_.is_durable() || segment_.has_to_sweep() || !wheel_.caught_up() || serving_left_ ||
                           views_.has_to_walk();
    if (!context_.started || has_begun) return now_;
    const bool has_requests = has_commands() || has_redrives_to_add() ||
                              (commands_.has_puts() && !segment_.puts_stalled()) ||
                              (segment_.attempts_wait() && !held_.empty());
    const bool closes = segment_.is_close_wanted() && !segment_.is_empty() && segment_.cleaning_may_write();
    const bool has_own = (segment_.is_close_wanted() || has_own_work()) && !segment_.is_stalled();
    if (!batches_.is_in_flight() && (has_requests || closes || has_own)) return now_;
    if (walking_purge() < purges_.walks().size()) return now_;
    if (!batches_.is_in_flight() && has_dead_to_expire()) return now_;
    const Tick wheel = wheel_.next_work();
    DueMs next = wheel >= static_cast<Tick>(kNoWakeup) ? kNoWakeup : static_cast<DueMs>(wheel);
    if (!batches_.is_in_flight()) next = std::min(next, batches_.confirm_at_ms());
    if (dead_letters_.next_expiry_ms() > now_) next = std::min(next, dead_letters_.next_expiry_ms());
    if (!window_.is_reading()) next = std::min(next, std::max(now_ + 1, window_.next_ms()));
    return next;
}

EngineCounters Engine::counters() const {
    EngineCounters counters = counters_;
    counters.pending = batches_.totals().live_count;
    counters.ready = ready_count_;
    counters.leased = leases_.size();
    counters.waiters = waiters_.size();
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
    counters.schedules = schedules_.size();
    counters.watchdogs = watchdogs_.size();
    counters.namespaces = queues_.namespaces().with_settings;
    counters.order_lines = order_lines_.size();
    counters.cached_bytes = cache_.bytes();
    counters.memory_bytes = recent_.memory_bytes() + wheel_.memory_bytes() + cache_.bytes();
    counters.puts_stalled = segment_.puts_stalled();
    counters.space = segment_.space();
    counters.loaded_until_ms = window_.until_ms();
    counters.server_time_ms = now_;
    return counters;
}

void Engine::check() const {
    auto require = [](bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "engine: %s\n", what);
        std::abort();
    };
    recent_.check();
    wheel_.check();
    const bool new_put_waits =
        commands_.puts().find_if([](const PendingCommand& put) { return !may_be_repeated(put.command); }) != nullptr;
    require(!segment_.refuses_puts() || !new_put_waits, "a put waits though the store is full");
    std::vector<std::uint32_t> ready(queues_.size());
    std::vector<std::uint32_t> leased(queues_.size());
    check_lines();
    std::vector<std::uint64_t> purging(queues_.size());
    std::size_t expiring = 0;
    std::size_t recurring_due = 0;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::optional<Tick> deadline = wheel_.deadline_of(TimerHandle{entry.timer});
        if (entry.purging) ++purging[entry.queue];
        if (entry.spawning) ++recurring_due;
        const DueMs expires = expiry(number);
        const bool expires_on_wheel =
            expires == kNoWakeup ? !deadline.has_value() : deadline && *deadline == static_cast<Tick>(expires);
        if (entry.expiring) {
            if (!entry.in_batch) ++expiring;
            require(expires <= now_ && !deadline.has_value(), "a message expires before its time, or twice");
            require(unsettled_expiries_.contains({expires, entry.id}), "an expiry that the load cursor may pass");
            return;
        }
        switch (entry.state) {
            case State::ready:
                ++ready[entry.queue];
                require(entry.due_ms <= now_, "a message is ready before it is due");
                require(entry.in_batch || entry.purging || expires_on_wheel,
                        "a ready message is not on the wheel at its expiry");
                break;
            case State::leased:
                ++leased[entry.queue];
                require(leases_.contains(entry.id), "a leased message without a lease");
                require(expires == kNoWakeup || unsettled_expiries_.contains({expires, entry.id}),
                        "the expiry of a leased message that the load cursor may pass");
                require(entry.in_batch || deadline.has_value(), "a lease without its timer");
                break;
            case State::scheduled:
            case State::retrying:
                if (!context_.started || entry.in_batch || entry.purging || entry.exhausted || entry.spawning) break;
                require(entry.blocked ? expires_on_wheel
                                      : deadline && *deadline == static_cast<Tick>(std::min(entry.due_ms, expires)),
                        "a waiting message is not on the wheel at what comes next");
                break;
            case State::prepared:
                require(!entry.unanswered || unsettled_deadlines_.contains({entry.due_ms, entry.id}),
                        "a prepared message is overdue that the load cursor may pass");
                if (!context_.started || entry.in_batch || entry.purging || entry.unanswered) break;
                require(deadline && *deadline == static_cast<Tick>(std::min(entry.due_ms, expires)),
                        "a prepared message is not on the wheel at its next deadline");
                break;
            default:
                require(!context_.started || entry.in_batch || entry.purging || expires_on_wheel,
                        "a message that waits is not on the wheel at its expiry");
                break;
        }
        require(entry.in_batch <= batches_.has_batch(), "a message is in a batch that does not exist");
        require(!entry.exhausted || waits_for_due(entry.state), "a message is both doomed and leased");
        require(!entry.is_recurring || (entry.state != State::ready && entry.state != State::leased),
                "a recurring message is ready or leased itself");
        require(!entry.unanswered || entry.state == State::prepared,
                "a message that is not prepared waits for an outcome");
        require(!entry.spawning || (entry.is_recurring && waits_for_due(entry.state)),
                "a message that is not recurring creates occurrences");
    });
    schedules_.for_each([&](const Schedule& schedule) {
        const ScheduleState& state = schedule.state;
        require(schedule.in_batch <= batches_.has_batch(), "a schedule is in a batch that does not exist");
        if (!context_.started || schedule.in_batch || schedule.is_due || schedule.is_inactive()) return;
        require(state.next_ms == 0 || wheel_.deadline_of(schedule.timer).has_value(),
                "a schedule is not on the wheel at its next time");
        const bool is_looked_for = schedules_.awaits(state.last_id) || wheel_.deadline_of(schedule.timer).has_value();
        require(state.next_ms != 0 || is_looked_for, "a run waits for nothing");
    });
    watchdogs_.for_each([&](const Watchdog& watchdog) {
        require(watchdog.in_batch <= batches_.has_batch(), "a watchdog is in a batch that does not exist");
        if (!context_.started || watchdog.in_batch || watchdog.is_due) return;
        const std::optional<Tick> deadline = wheel_.deadline_of(watchdog.timer);
        require(deadline.has_value() != watchdog.state.is_asleep(), "a watchdog sleeps on the wheel, or is not on it");
        if (!deadline || has_to_fire(watchdog.state, now_)) return;  // it tries again
        require(*deadline == static_cast<Tick>(watchdog.state.due_ms), "a watchdog is not on the wheel when it fires");
    });
    std::uint64_t pending_in_all = 0;
    require(recurring_due == recurring_due_, "the count of due recurring messages is wrong");
    require(expiring <= expiries_.size(), "a message expires whose record is not queued");
    std::size_t leased_in_all = 0;
    std::size_t ready_in_all = 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number].ready_count == ready[number], "a queue's count of ready messages is off");
        require(queues_[number].leased_count == leased[number], "a queue's count of leased messages is off");
        require(queues_[number].purging == purging[number], "a queue's count of messages to purge is off");
        pending_in_all += queues_[number].counts.pending;
        leased_in_all += leased[number];
        ready_in_all += ready[number];
    }
    require(batches_.is_durable() || pending_in_all == batches_.totals().live_count,
            "the queues do not hold as many messages as the log says");
    std::map<std::string_view, NamespaceAnswer> rules;
    schedules_.for_each([&](const Schedule& schedule) { ++rules[schedule.name_space].schedules; });
    watchdogs_.for_each([&](const Watchdog& watchdog) { ++rules[watchdog.name_space()].watchdogs; });
    const char* miscount = queues_.find_miscount(std::move(rules));
    require(miscount == nullptr, miscount);
    require(leases_.size() == leased_in_all, "a lease without its message");
    require(ready_count_ == ready_in_all, "the count of ready messages is off");
}

}  // namespace duewheel
