#include "server/shard/shard.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr int kRetryWhenFullSeconds = 1;
constexpr std::int64_t kTendNs = 10'000'000'000;
constexpr std::int64_t kTendCloselyNs = 1'000'000'000;
constexpr int kPatrolPauseSeconds = 1;
constexpr std::size_t kLookupsPerJob = 16;
constexpr DueMs kLongAwayMs = 86'400'000;

std::uint64_t micros_since(std::int64_t start_ns) {
    return static_cast<std::uint64_t>((monotonic_now_ns() - start_ns) / 1000);
}

// Reads both clocks at the same moment, as nearly as possible: a thread may be preempted between any two readings.
ClockReading read_clocks() {
    constexpr std::int64_t kNearNs = 50'000;
    constexpr int kChecks = 4;
    ClockReading reading;
    for (int check = 0; check < kChecks; ++check) {
        const std::int64_t before_ns = boot_now_ns();
        reading.wall_ns = wall_now_ns();
        reading.boot_ns = boot_now_ns();
        if (reading.boot_ns - before_ns < kNearNs) break;
    }
    return reading;
}

}  // namespace

Shard::Shard(EventLoop& loop, ShardParts& parts, ClockRules clock, LogSink& log, FatalErrorHandler on_fatal_error)
    : loop_(loop),
      parts_(parts),
      log_(log),
      on_fatal_error_(std::move(on_fatal_error)),
      machine_run_(machine_run()),
      clock_start_(
          clock_start(parts.engine().totals().server_time_ms, parts.clock_mark(), machine_run_, boot_now_ns())),
      clock_(clock, read_clocks(), clock_start_),
      clock_mark_(parts.clock_mark()) {
    directory_facts_ = parts_.directory_facts();  // for the first scrape
    log_start();
    log_clock_state();
    log_space_state();
    save_clock_mark();  // before the spares, which take longer
    seal();             // full segments of an earlier run
    maintain_spare_segments();
}

Shard::~Shard() = default;

// Commands that arrive before the iteration count from now, not from the last iteration, which may be minutes ago.
void Shard::set_engine_time() {
    const std::int64_t boot_ns = boot_now_ns();
    parts_.engine().set_time(clock_.now_ms(boot_ns), clock_.rounded_up_ms(boot_ns));
    parts_.expire_by(parts_.engine().now());
}

void Shard::watch_clock() {
    const ClockReading now = read_clocks();
    watch_clock_at_ns_ = now.boot_ns + ServerClock::kObserveNs;
    if (clock_.observe(now)) log_clock_state();
    save_clock_mark();
}

// A start that accepts a large jump from the wall clock alone cannot be undone, so it is logged; so is a decision
// against the boot clock, because one of the two clocks was set or restarted.
void Shard::log_start() {
    const ClockStatus status = clock();
    if (status.state == ClockState::test) return;
    if (clock_start_.by_boot_clock && status.server_ms < *clock_start_.continues_at_ms - ServerClock::kFarMs) {
        log_.warning(
            "clock_set_back",
            "The wall clock was set back while the server was down. Server time starts from the wall clock, or "
            "from the newest time in the log if that is later.",
            {{"server_time_ms", status.server_ms}, {"boot_clock_ms", *clock_start_.continues_at_ms}});
    }
    if (clock_start_.floor_ms == 0 || clock_start_.by_boot_clock) return;
    if (status.server_ms - clock_start_.floor_ms < kLongAwayMs) return;
    log_.warning(
        "clock_gap_at_start",
        "Server time starts more than a day after the newest time in the log, at the wall clock's time. Messages "
        "that became due in between are due now.",
        {{"newest_log_ms", clock_start_.floor_ms}, {"server_time_ms", status.server_ms}});
}

// The next start must not trust a wall clock that this run does not trust, or that is set while no server runs. If
// there is no space, it is tried again at the next check.
void Shard::save_clock_mark() {
    if (clock_.is_saved_in(clock_mark_, machine_run_)) return;
    if (clock_.state() == ClockState::test || std::exchange(is_marking_clock_, true)) return;
    maintenance_worker_.run([this, mark = clock_.mark(machine_run_)] {
        const Status left = parts_.save_clock_mark(mark);
        if (!left && left.error().code != "no_space") on_fatal_error_(left.error());
        loop_.post([this, mark, left] {
            is_marking_clock_ = false;
            if (left) {
                clock_mark_ = mark;
                return save_clock_mark();  // the clock has changed meanwhile
            }
            if (std::exchange(clock_wait_logged_, true)) return;
            log_.warning("clock_state_write_blocked",
                         "The disk is full: the clock state cannot be saved. The write is retried.",
                         {{"error", left.error().message}});
        });
    });
}

// Logs each state once, when it is entered, and each jump.
void Shard::log_clock_state() {
    const ClockStatus status = clock();
    if (status.jumps != logged_jumps_) {
        logged_jumps_ = status.jumps;
        log_.warning("clock_jumped", "Server time jumped ahead. Messages that became due in between are due now.",
                     {{"server_time_ms", status.server_ms}});
    }
    if (status.state == logged_clock_) return;
    const ClockState before = std::exchange(logged_clock_, status.state);
    switch (status.state) {
        case ClockState::steady:
            if (before == ClockState::slow || before == ClockState::quarantine || before == ClockState::held) {
                log_.info("clock_in_sync", "Server time and the wall clock agree again.");
            }
            break;
        case ClockState::slow:
            log_.warning("clock_behind",
                         "The wall clock is behind server time. Server time never goes back: it runs a tenth slower "
                         "until the wall clock catches up.",
                         {{"behind_ms", -status.ahead_ms()}});
            break;
        case ClockState::quarantine:
            log_.warning(
                "clock_ahead",
                "The wall clock is ahead of server time. If that lasts a minute, server time follows a jump of up "
                "to a day; a longer jump is handled by the setting clock.on_jump.",
                {{"ahead_ms", status.ahead_ms()}});
            break;
        case ClockState::held:
            log_.warning(
                "clock_jump_held",
                "The wall clock jumped too far ahead, and server time continues without it. If the wall clock is "
                "right, run `duewheel clock accept`; otherwise correct the wall clock.",
                {{"ahead_ms", status.ahead_ms()}});
            break;
        case ClockState::test:
            log_.warning("test_clock_in_use",
                         "The server runs with a test clock: server time ignores the wall clock and moves only by "
                         "`duewheel clock advance`.");
            break;
    }
}

ClockStatus Shard::clock() const {
    return clock_.status(read_clocks());
}

bool Shard::accept_clock() {
    const bool accepted = clock_.accept(read_clocks());
    log_clock_state();
    save_clock_mark();
    return accepted;
}

void Shard::advance_clock(std::int64_t by_ms) {
    clock_.advance(by_ms, read_clocks());
    logged_jumps_ = clock_.jumps();
    log_.info("test_clock_advanced", "The test clock was advanced.", {{"by_ms", by_ms}});
}

void Shard::submit(Command command, ReplyToken token, SharedLimits limits) {
    needs_turn_ = true;
    set_engine_time();
    parts_.engine().submit(std::move(command), token, std::move(limits));
}

void Shard::forget(ReplyToken token) {
    needs_turn_ = true;
    set_engine_time();
    parts_.engine().forget(token);
}

std::optional<ReadyKey> Shard::first_ready(std::string_view queue) {
    set_engine_time();
    return parts_.engine().first_ready(kDefaultNamespace, queue);
}

void Shard::stop_waiting() {
    parts_.engine().stop_waiting();
    if (pusher_ != nullptr) pusher_->stop();
    if (kafka_pusher_ != nullptr) kafka_pusher_->stop();
}

void Shard::save_time() {
    clock_wait_logged_ = false;
    watch_clock();  // its changes since the last check matter to the next start
    set_engine_time();
    if (parts_.engine().save_time()) carry_out(parts_.engine().take_effects());
}

void Shard::save_end(std::function<void()> then) {
    maintenance_worker_.run([this, then = std::move(then)]() mutable {
        const Status saved = parts_.save_end(true);
        if (!saved && saved.error().code != "no_space") on_fatal_error_(saved.error());
        loop_.post(std::move(then));
    });
}

EventLoop::TimePoint Shard::turn() {
    Engine& engine = parts_.engine();
    if (boot_now_ns() >= watch_clock_at_ns_) watch_clock();
    set_engine_time();
    if (parts_.report_free_space()) maintain_spare_segments();
    log_space_state();
    if (pusher_ != nullptr) pusher_->act(engine.now());
    if (kafka_pusher_ != nullptr) kafka_pusher_->act(engine.now());
    needs_turn_ = false;
    delay_batch(monotonic_now_ns());
    engine.advance_to(engine.now());
    carry_out(engine.take_effects());
    if (monotonic_now_ns() >= maintenance_at_ns_) maintain_spare_segments();
    if (!patrolling_ && engine.is_serving()) patrol();
    DueMs next = engine.next_wakeup();
    if (pusher_ != nullptr) next = std::min(next, pusher_->next_wakeup(engine.now()));
    if (kafka_pusher_ != nullptr) next = std::min(next, kafka_pusher_->next_wakeup(engine.now()));
    if (next <= engine.now() || needs_turn_) return EventLoop::kAtOnce;  // a reply may have led to a command
    std::int64_t at_ns = maintenance_at_ns_;
    if (commit_delay_.is_holding()) at_ns = std::min(at_ns, commit_delay_.until_ns());
    if (clock_.state() == ClockState::quarantine) {  // so that it is trusted no later than reported
        at_ns = std::min(at_ns, monotonic_now_ns() + ServerClock::kObserveNs);
    }
    if (next != Engine::kNoWakeup) {
        at_ns = std::min(at_ns, monotonic_now_ns() + clock_.ns_until(next, boot_now_ns()));
    }
    return EventLoop::TimePoint(std::chrono::nanoseconds(at_ns));
}

void Shard::carry_out(Effects effects) {
    if (effects.fatal_error) on_fatal_error_(*effects.fatal_error);
    // The disk first: it works while the other effects are processed.
    if (effects.commit) commit(*std::move(effects.commit));
    if (!effects.lookups.empty()) read(std::move(effects.lookups));
    for (std::size_t i = 0; i < effects.closed_segments.size(); ++i) {
        seal();
        maintain_spare_segments();
    }
    for (ReplyEffect& effect : effects.replies) {
        if (const auto* delivery = std::get_if<LeaseAnswer>(&effect.reply)) measure(*delivery);
        complete(effect.reply);
        sinks_.deliver(effect.token, std::move(effect.reply));
    }
}

// By the clock and not by the engine's time, which is the start of the iteration in whole milliseconds.
void Shard::measure(const LeaseAnswer& delivery) {
    if (delivery.messages.empty()) return;
    const std::int64_t now_us = clock_.now_us(boot_now_ns());
    const DueMs now = parts_.engine().now();
    LatenessHistory::Deliveries history =
        lateness_history_.deliver(now, {delivery.name_space, delivery.queue}, delivery.messages.size());
    for (const Delivered& message : delivery.messages) {
        const std::int64_t late_us = now_us - message.late_from_ms * 1000;
        lateness_.record(now, late_us);
        wait_.record(now, message.wait_ms * 1000);
        history.record(late_us / 1000, message.wait_ms);
    }
}

WheelView Shard::wheel() const {
    constexpr unsigned kDigitBits = 6;
    const Engine& engine = parts_.engine();
    const EngineCounters counters = engine.counters();
    WheelView view;
    view.now_ms = engine.now();
    view.timers = engine.timers().size();
    view.indexed_only = counters.pending - std::min(counters.pending, counters.in_memory);
    view.late = engine.timers().visit_slots([&view](unsigned level, Tick start, std::size_t timers) {
        view.levels[level][start >> (level * kDigitBits)] += timers;
    });
    return view;
}

// With what the engine does not know.
void Shard::complete(Reply& reply) const {
    if (auto* queue = std::get_if<QueueAnswer>(&reply)) fill_in(*queue);
    if (auto* list = std::get_if<QueueListAnswer>(&reply)) {
        for (QueueAnswer& queue : list->queues) fill_in(queue);
    }
}

void Shard::fill_in(QueueAnswer& queue) const {
    if (queue.removed || (!queue.settings.webhook && !queue.settings.kafka)) return;
    const QueueName name{queue.name_space, queue.queue};
    queue.target.emplace();
    if (queue.settings.webhook && pusher_ != nullptr) {
        queue.target = pusher_->target_status(name, parts_.engine().now());
    } else if (queue.settings.kafka && kafka_pusher_ != nullptr) {
        queue.target = kafka_pusher_->target_status(name, parts_.engine().now());
    } else {
        queue.target->state = TargetStatus::State::off;
    }
}

void Shard::delay_batch(std::int64_t now_ns) {
    Engine& engine = parts_.engine();
    engine.delay_batch(commit_delay_.holds(now_ns, engine.commands_waiting()));
}

void Shard::commit(Commit commit) {
    commit_delay_.begun();
    const std::int64_t start_ns = monotonic_now_ns();
    committer_.run([this, commit = std::move(commit), start_ns]() mutable {
        // A commit fails on a full disk only at the start of a segment, and then has changed nothing: it is tried
        // again.
        bool logged = false;
        for (Status done = parts_.commit(commit); !done; done = parts_.commit(commit)) {
            if (done.error().code != "no_space") on_fatal_error_(done.error());
            if (!std::exchange(logged, true)) {
                log_.warning("commit_blocked", "The disk is full: the commit waits until there is space.",
                             {{"error", done.error().message}});
            }
            if (!committer_.pause(kRetryWhenFullSeconds)) return;
        }
        loop_.post([this, commit = std::move(commit), start_ns]() mutable {
            times_.commit_us.record(micros_since(start_ns));
            set_engine_time();
            Engine& engine = parts_.engine();
            const std::int64_t now_ns = monotonic_now_ns();
            commit_delay_.committed(now_ns, now_ns - start_ns, engine.commands_in_flight(), engine.commands_waiting());
            delay_batch(now_ns);
            engine.committed(std::move(commit));
        });
    });
}

// In small parts, so that the first results need not wait for the last and few of them are in memory at once.
void Shard::read(std::vector<Lookup> lookups) {
    if (lookups.size() <= kLookupsPerJob) return read_some(std::move(lookups));
    for (std::size_t from = 0; from < lookups.size(); from += kLookupsPerJob) {
        const std::size_t until = std::min(lookups.size(), from + kLookupsPerJob);
        read_some({std::make_move_iterator(lookups.begin() + static_cast<std::ptrdiff_t>(from)),
                   std::make_move_iterator(lookups.begin() + static_cast<std::ptrdiff_t>(until))});
    }
}

void Shard::read_some(std::vector<Lookup> lookups) {
    const std::int64_t start_ns = monotonic_now_ns();
    reader_.run([this, lookups = std::move(lookups), start_ns] {
        std::vector<Answer> answers;
        answers.reserve(lookups.size());
        for (const Lookup& lookup : lookups) {
            Result<Answer> answer = parts_.read(lookup);
            if (!answer) on_fatal_error_(answer.error());
            answers.push_back(*std::move(answer));
        }
        loop_.post([this, answers = std::move(answers), start_ns]() mutable {
            times_.read_us.record(micros_since(start_ns));
            set_engine_time();
            for (Answer& answer : answers) parts_.engine().answer(std::move(answer));
            if (cleaning_.waits_for_answers()) clean();
        });
    });
}

// Seals all full segments. If the disk is full, retries after the other jobs of the thread: compaction may free space.
// Puts wait meanwhile.
void Shard::seal() {
    if (seal_queued_.exchange(true)) return;
    sealer_.run([this] {
        seal_queued_ = false;  // segments that are closed from now on queue the next job
        for (;;) {
            const std::int64_t start_ns = monotonic_now_ns();
            const Result<SegmentNumber> sealed = parts_.seal_next();
            if (!sealed && sealed.error().code == "no_space") {
                if (!std::exchange(seal_waits_, true)) {
                    log_.warning("index_update_blocked",
                                 "The disk is full: the index cannot be updated. The update is retried.",
                                 {{"error", sealed.error().message}});
                }
                if (sealer_.pause(kRetryWhenFullSeconds)) seal();
                return;
            }
            if (!sealed) on_fatal_error_(sealed.error());
            seal_waits_ = false;
            if (*sealed == 0) return;
            const SegmentNumber number = *sealed;
            loop_.post([this, number, start_ns] {
                times_.seal_us.record(micros_since(start_ns));
                parts_.engine().table_taken(number);
                clean();
            });
        }
    });
}

void Shard::maintain_spare_segments() {
    maintenance_at_ns_ = monotonic_now_ns() + (parts_.space().is_close() ? kTendCloselyNs : kTendNs);
    if (maintenance_queued_.exchange(true)) return;
    maintenance_worker_.run([this] {
        maintenance_queued_ = false;
        const Result<SpaceReading> seen = parts_.maintain_spare_segments();
        if (!seen) on_fatal_error_(seen.error());
        loop_.post([this, seen = *seen, facts = parts_.directory_facts()] {
            directory_facts_ = facts;
            take_space(seen);
        });
    });
}

void Shard::take_space(const SpaceReading& seen) {
    parts_.take_space(seen);
    const SpaceWatch& space = parts_.space();
    if (space.is_close()) maintenance_at_ns_ = std::min(maintenance_at_ns_, monotonic_now_ns() + kTendCloselyNs);
    clean();  // even without other events
}

// Logs each step to a worse state once, and the return when there is enough space: a spare that is filled and given up
// again is not logged.
void Shard::log_space_state() {
    struct Step {
        LogLevel level;
        const char* event;
        const char* sentence;
    };
    static constexpr Step kSteps[] = {
        {LogLevel::warning, "disk_space_low", "The disk is nearly full: puts are refused until there is space."},
        {LogLevel::warning, "disk_reserve_in_use",
         "The disk is full except for the log's reserve: moves, changes of settings and all other writes that end no "
         "message are refused too."},
        {LogLevel::warning, "disk_reserve_used_up",
         "What remains of the log's reserve is kept for cleaning: once the open segment is full, acks and cancels are "
         "refused too until cleaning has freed space."},
        {LogLevel::warning, "disk_full",
         "The disk is full and the log's reserve is used up: once the open segment is full, all writes wait until "
         "there is space."},
    };
    const LogSpace now = parts_.log_space();
    const SpaceWatch& space = parts_.space();
    const SpaceReading& seen = space.seen();
    if (now == LogSpace::enough && logged_space_ != now) {
        logged_space_ = now;
        log_.info("disk_space_ok", "The disk has enough space again. Puts are accepted.",
                  {{"free_bytes", seen.free_bytes}});
    }
    for (; logged_space_ < now; logged_space_ = static_cast<LogSpace>(static_cast<int>(logged_space_) + 1)) {
        const Step& step = kSteps[static_cast<int>(logged_space_)];
        const LogField fields[] = {{"free_bytes", seen.free_bytes},
                                   {"resume_bytes", space.resume_bytes()},
                                   {"spare_segments", seen.ready_spares}};
        log_.write(step.level, step.event, step.sentence, fields);
    }
}

void Shard::clean() {
    const LogCleaning::Step step = cleaning_.next();
    if (step != LogCleaning::Step::none) run_cleaning(step);
}

void Shard::continue_cleaning(const Reply& reply) {
    if (Status taken = cleaning_.reply(reply); !taken) on_fatal_error_(taken.error());
    clean();
}

// Reads old segments once after the start, which did not read them: one at a time with a pause, to reduce the load.
void Shard::patrol() {
    patrolling_ = true;
    patrol_.run([this] {
        std::uint64_t segments = 0;
        for (;; ++segments) {
            const Result<bool> more = parts_.verify_next_segment();
            if (!more) on_fatal_error_(more.error());
            if (!*more) break;
            if (!patrol_.pause(kPatrolPauseSeconds)) return;
        }
        log_.info("log_verified", "Every segment of the log was read and is undamaged.", {{"segments", segments}});
    });
}

void Shard::run_cleaning(LogCleaning::Step step) {
    cleaner_.run([this, step] {
        Result<LogCleaning::Found> found = cleaning_.run(step);
        if (!found) on_fatal_error_(found.error());
        loop_.post([this, found = *std::move(found)]() mutable {
            cleaning_.done(std::move(found));
            clean();
        });
    });
}

}  // namespace duewheel
