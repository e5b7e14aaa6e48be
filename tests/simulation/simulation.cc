// The course of a run: the next step, and faults. Deaths are in simulation_restarts.cc, the end in simulation_end.cc.
#include "simulation/simulation.h"

#include <algorithm>
#include <cstdio>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"
#include "simulation/other_forms.h"
#include "simulation/random_limits.h"
#include "simulation/workload_words.h"

namespace duewheel {
namespace {

constexpr int kAnswersWithinSteps = 20'000;

std::uint64_t number_of(const Reply& reply) {
    return std::visit(
        [](const auto& answer) -> std::uint64_t {
            if constexpr (requires { answer.state.next_run; }) {
                return answer.state.next_run * 31 + answer.state.made +
                       static_cast<std::uint64_t>(answer.state.next_ms);
            } else if constexpr (requires { answer.outcome, answer.due_ms; }) {
                return static_cast<std::uint64_t>(answer.outcome) * 31 + static_cast<std::uint64_t>(answer.due_ms);
            } else if constexpr (requires { answer.id, answer.due_ms; }) {
                return answer.id * 31 + static_cast<std::uint64_t>(answer.due_ms);
            } else if constexpr (requires { answer.settings, answer.counts; }) {
                return answer.settings.revision * 31 + answer.counts.pending + (answer.settings.paused ? 7 : 0);
            } else if constexpr (requires { answer.row; }) {
                return answer.row.id * 31 + static_cast<std::uint64_t>(answer.row.state.state);
            } else if constexpr (requires { answer.code; }) {
                return name_of(answer.code).size();
            } else if constexpr (requires { answer.listed; }) {
                std::uint64_t sum = answer.listed.size();
                for (const ListedMessage& listed : answer.listed) sum = sum * 31 + listed.row.id;
                return sum;
            } else if constexpr (requires { answer.ended; }) {
                std::uint64_t sum = answer.ended.size();
                for (const EndedRow& row : answer.ended) sum = sum * 31 + row.id;
                return sum;
            } else if constexpr (requires { answer.results; }) {
                std::uint64_t sum = answer.results.size();
                for (const PutResult& result : answer.results) {
                    const auto* put = std::get_if<PutAnswer>(&result);
                    sum = sum * 31 + (put == nullptr ? 0 : put->id + static_cast<std::uint64_t>(put->due_ms));
                }
                return sum;
            } else if constexpr (requires { answer.schedules.size(); }) {
                return answer.schedules.size();
            } else if constexpr (requires { answer.excluded; }) {
                std::uint64_t sum = answer.excluded.size();
                for (const PreviewAnswer::Time& time : answer.times) {
                    sum = sum * 31 + static_cast<std::uint64_t>(time.due_ms);
                }
                return sum;
            } else if constexpr (requires { answer.minutes; }) {
                std::uint64_t sum = answer.minutes.size();
                for (const ForecastMinute& minute : answer.minutes) sum = sum * 31 + minute.due() * 2 + minute.at_least;
                return sum;
            } else if constexpr (requires { answer.token.revision; }) {
                return answer.token.revision * 2 + answer.created;
            } else if constexpr (requires { answer.tokens.size(); }) {
                return answer.tokens.size();
            } else if constexpr (requires { answer.taken; }) {
                return static_cast<std::uint64_t>(answer.position) * 31 + answer.taken;
            } else if constexpr (requires { answer.redriven; }) {
                return answer.redriven;
            } else if constexpr (requires { answer.messages; }) {
                std::uint64_t sum = answer.messages.size();
                for (const Delivered& delivery : answer.messages) sum = sum * 31 + delivery.id + delivery.attempt;
                return sum;
            } else {
                return 0;
            }
        },
        reply);
}

// For how long a history tells all: 0 where it is short, or where an index may be built again from a log that has lost
// its front. The clock may jump further than that.
std::int64_t history_keep_ms(const SimOptions& options) {
    const bool is_whole = options.history.keep_ms > 10LL * 366 * 86'400'000 && options.history.bytes_max > 1u << 20 &&
                          !options.has(Fault::index_lost);
    return is_whole ? options.history.keep_ms : 0;
}

}  // namespace

void Simulation::OperatorLog::write(LogLevel level, std::string_view event, std::string_view message,
                                    std::span<const LogField> fields) {
    if (event == "log_tail_truncated") {
        rare_.met(Rare::torn_end_cut);
        cut_ = true;
    }
    if (verbose_) std::fprintf(stderr, "    log: %s\n", log_line(level, event, message, fields).c_str());
}

Simulation::Simulation(const SimOptions& options, bool verbose, SimLogTopic* topic)
    : options_(options),
      verbose_(verbose),
      random_(options.seed * 3 + 1),
      disk_random_(options.seed * 3 + 2),
      limits_random_(options.seed ^ 0x1131755),
      storage_{.disk = std::make_unique<SimDisk>(options.seed), .rows = std::make_unique<MemoryRowStorage>()},
      retention_(options.keep_ms, options.history),
      log_(rare_, verbose),
      oracle_(options_.engine, options.keep_ms, history_keep_ms(options), rare_),
      workload_(options_, oracle_, *this, Random(options.seed * 3)),
      webhooks_(options_, oracle_, log_, rare_, hash_, Random(options.seed * 5 + 1)),
      topics_(options_, oracle_, log_, rare_, hash_, Random(options.seed * 7 + 1)),
      topic_(topic),
      clock_(options_, oracle_, rare_) {
    if (topic_ != nullptr) nodes_.emplace(options_, *topic_, log_, rare_, hash_);
    use_storage();
}

Simulation::~Simulation() {
    paused_.reset();
    process_ends();
    disk().set_hook({});
}

void Simulation::say(const char* what, std::int64_t value) const {
    if (verbose_) {
        if (topic_ != nullptr) std::fprintf(stderr, "shard %u  ", options_.shard);
        std::fprintf(stderr, "step %lu  clock %lld  %s %lld\n", static_cast<unsigned long>(step_),
                     static_cast<long long>(clock_.now()), what, static_cast<long long>(value));
    }
}

SimResult Simulation::run() {
    begin();
    while (has_steps_left()) step();
    end();
    return result();
}

SimResult Simulation::result() const {
    SimResult result;
    if (wrong()) {
        result.violation = oracle_.violation();
        result.history = oracle_.history(result.violation->serial);
    }
    result.step = step_;
    result.hash = hash_.value();
    result.events = hash_.events();
    result.restarts = restarts_;
    result.simulated_ms = clock_.now() - options_.start_ms;
    result.totals = oracle_.totals();
    result.rare = rare_;
    return result;
}

void Simulation::begin() {
    start();
    step_ = 1;
}

void Simulation::step() {
    oracle_.set_step(step_);
    if (shard_) {
        act();
        if (shard_ && nodes_ && !wrong()) act_on_log();
        const bool must_die = !wrong() && shard_ && (shard_->fatal_error() || cut_off_);
        if (must_die) die((cut_off_ && cut_power_) || names_in_doubt_);
    } else if (--steps_until_start_ == 0) {
        come_back();
    }
    ++step_;
}

void Simulation::end() {
    if (!shard_ && !wrong()) come_back();
    if (nodes_ && !wrong()) end_takeovers();
    if (!wrong()) finish();
}

// ---- one step

void Simulation::act() {
    const std::uint64_t drawn = random_.below(options_.client_weight + options_.clock_weight + options_.commit_weight);
    if (drawn < options_.client_weight) {
        workload_.act();
    } else if (drawn < options_.client_weight + options_.clock_weight) {
        tick();
    } else if (has_hooks() && random_.chance(200'000) && webhooks_.answer_one()) {
        // A target has answered.
    } else if (has_topics() && random_.chance(250'000) && topics_.run_one()) {
        if (topics_.take_death()) return die(has(Fault::cut_in_call) && random_.chance(500'000));
    } else {
        shard_->run_step(random_);
    }
    if (random_.chance(options_.turn_per_million) && !shard_->fatal_error()) turn();
    if (!shard_->fatal_error() && step_ % options_.check_every == 0) shard_->engine().check();
    if (stops_again_at_ != 0 && step_ >= stops_again_at_ && !cut_off_ && !shard_->fatal_error()) {
        stops_again_at_ = 0;
        return stop();
    }
    // Where one death was, another comes soon; and what is kept but not answered is what clients ask about afterwards.
    const std::uint64_t more = step_ < storm_until_step_ ? 10 : shard_->commit_is_durable() ? 3 : 1;
    if (random_.chance(options_.crash_per_million * more) && !cut_off_ && !shard_->fatal_error()) disturb();
}

// Server time ends in the year 2200, and few leaps are to come there.
constexpr DueMs kLongestLeapMs = 20LL * 366 * 86'400'000;

void Simulation::tick() {
    const DueMs scale = std::max<DueMs>(options_.due_scale_ms / 50, 2);
    const DueMs wakeup = next_wakeup();
    switch (random_.below(10)) {
        case 0:
            break;
        case 1:
        case 2:
            clock_.go_on_by(1);
            break;
        case 3:
        case 4:
            clock_.go_on_by(random_.between(0, 10));
            break;
        case 5:
            clock_.go_on_by(random_.between(0, scale));
            break;
        case 6:
            if (has(Fault::clock_jump) && random_.chance(200'000)) {
                rare_.met(Rare::clock_jumped);
                const bool keeps_keys = options_.keyed_per_million > 0 && !options_.reuses_keys;
                const DueMs most = random_.chance(500'000) ? 2 * options_.due_scale_ms
                                   : keeps_keys            ? options_.keep_ms / 1000
                                                           : 2 * options_.keep_ms;
                clock_.leap_by(random_.between(0, std::min(most, kLongestLeapMs)));
            }
            break;
        default:
            if (wakeup != Engine::kNoWakeup) clock_.go_on_to(wakeup + random_.between(-1, 1));
            break;
    }
    clock_.disturb();
    if (!wrong()) turn();
}

void Simulation::turn() {
    clock_.look();
    mark_clock(clock_.mark_wanted());
    if (shard_->fatal_error()) return;
    DueMs told = clock_.now();
    if (has(Fault::clock_back) && random_.chance(100'000)) {
        told -= random_.between(0, 2000);
        rare_.met(Rare::clock_went_back);
    }
    oracle_.time_told(told);
    const bool due = shard_->commit_under_way() && shard_->engine().next_wakeup() <= told;
    if (due) rare_.met(Rare::due_while_commit_in_flight);
    if (has_hooks() || has_topics()) shard_->engine().set_time(told);
    if (has_hooks()) webhooks_.run_due();
    if (has_topics()) topics_.run_due();
    const std::uint64_t lost_before = due ? shard_->engine().counters().leases_expired : 0;
    if (has(Fault::slow_disk)) shard_->engine().delay_batch(random_.chance(200'000));
    shard_->turn(told);
    if (due && shard_->engine().counters().leases_expired > lost_before) {
        rare_.met(Rare::lease_ended_while_commit_in_flight);
    }
    oracle_.space_seen(shard_->take_least_space());
    for (const ReplyEffect& effect : shard_->take_replies()) hear(effect);
    const bool held_back = shard_->engine().counters().puts_stalled;
    if (held_back && !was_held_back_) rare_.met(Rare::puts_held_back);
    was_held_back_ = held_back;
}

// For the next start.
void Simulation::mark_clock(const std::optional<ClockMark>& mark) {
    if (mark && shard_->save_clock_mark(*mark)) clock_.marked(*mark);
}

// When the process does something by itself.
DueMs Simulation::next_wakeup() const {
    return std::min(shard_->engine().next_wakeup(), next_target_wakeup());
}

DueMs Simulation::next_target_wakeup() const {
    const DueMs of_hooks = has_hooks() ? webhooks_.next_wakeup() : Engine::kNoWakeup;
    return has_topics() ? std::min(of_hooks, topics_.next_wakeup()) : of_hooks;
}

void Simulation::hear(const ReplyEffect& effect) {
    hash_.add(effect.token);
    hash_.add(effect.reply.index());
    hash_.add(number_of(effect.reply));
    if (wrong()) return;
    if (SimWebhooks::is_own(effect.token)) return webhooks_.hear(effect);
    if (SimTopics::is_own(effect.token)) return topics_.hear(effect);
    if (!oracle_.replied(effect)) return;
    if (const auto* queue = std::get_if<QueueAnswer>(&effect.reply)) webhooks_.told_of(*queue);
    if (const auto* page = std::get_if<ListAnswer>(&effect.reply)) workload_.take_page(*page);
    if (const auto* page = std::get_if<HistoryAnswer>(&effect.reply)) workload_.take_page(*page);
    if (const auto* answer = std::get_if<LeaseAnswer>(&effect.reply)) {
        workload_.take_leases(*answer);
        for (const Delivered& delivery : answer->messages) check_delivered_by_paused(delivery);
        if (draining_) {
            for (const Delivered& delivery : answer->messages) drained_.push_back(delivery.lease);
        }
    }
}

void Simulation::submit(Command command) {
    const bool has_ended = step_ > options_.steps;
    add_words(command, oracle_, submitted_++, !has_ended);
    const SharedLimits limits =
        options_.has(Op::token) && !has_ended ? random_limits(command, options_, limits_random_) : nullptr;
    const ReplyToken token = oracle_.submitted(command, limits.get());
    hash_.add(command.index());
    if (options_.shards > 1) check_placement(command, token);
    // One with a key may only repeat an answer: that is known later.
    const bool is_refused =
        shard_->is_full() && is_a_put(command) && !may_be_repeated(command) && !oracle_.is_outside(token);
    const std::uint64_t refused_before = is_refused ? shard_->engine().counters().refused_full : 0;
    const std::uint64_t puts = record_count(command);
    // Keys that may be used again are held for no certain time.
    const std::int64_t keys_held_ms = options_.reuses_keys ? 0 : options_.keep_ms;
    if (token % 3 == 0) command = in_other_form(std::move(command), oracle_, clock_.now(), keys_held_ms);
    shard_->submit(std::move(command), token, limits);
    if (is_refused && shard_->engine().counters().refused_full != refused_before + puts) {
        oracle_.violate("C11", "the store is full, but a put is not refused");
    }
}

void Simulation::forget(ReplyToken token) {
    // A delivery on its way to it is ready again; what nobody saw, nobody can count.
    const std::uint64_t leased = shard_->engine().counters().leased;
    oracle_.forgotten(token);
    shard_->engine().forget(token);
    if (shard_->engine().counters().leased < leased) rare_.met(Rare::delivery_forgotten_on_its_way);
}

void Simulation::wait_until(DueMs then) {
    const DueMs longest = 2 * std::max(options_.due_scale_ms, options_.lease_scale_ms);
    if (then <= clock_.now() || (then - clock_.now() > longest && !has(Fault::clock_jump))) return;
    clock_.go_on_to(then);
    if (random_.chance(500'000)) turn();
}

// ---- faults

void Simulation::disturb() {
    constexpr std::size_t kOfTheProcess = static_cast<std::size_t>(Fault::stop) + 1;
    auto fault = static_cast<Fault>(random_.below(kOfTheProcess));
    if (shard_->commit_is_durable() && random_.chance(500'000))
        fault = Fault::kill;  // any other comes after its answer
    const std::uint64_t soon = 1 + random_.below(random_.chance(500'000) ? 6 : 60);
    if (!has(fault)) return;
    switch (fault) {
        case Fault::kill:
            return die(false);
        case Fault::power_cut:
            return die(true);
        case Fault::cut_in_call:
            return arm(true, soon);
        case Fault::kill_in_call:
            return arm(false, soon);
        case Fault::failed_sync:
            if (random_.chance(800'000)) return disk().fail(DiskOperation::sync_data, 1 + random_.below(4));
            names_in_doubt_ = true;
            return disk().fail(DiskOperation::sync_directory, 1 + random_.below(4));
        case Fault::failed_write:
            return disk().fail(DiskOperation::write, 1 + random_.below(4));
        case Fault::failed_read:
            return disk().fail(DiskOperation::read, 1 + random_.below(4));
        case Fault::disk_full:
            return disk_is_small() && random_.chance(500'000) ? give_space_back() : shrink_disk();
        case Fault::stop:
            return stop();
        case Fault::tables_refused:
            return rows().refuse_tables(1 + random_.below(5));
        default:
            return;
    }
}

void Simulation::arm(bool cuts_power, std::uint64_t calls) {
    cut_power_ = cuts_power;
    only_syncs_ = random_.chance(500'000);  // what was written and not synced is torn
    if (only_syncs_) calls = 1 + calls / 8;
    calls_left_ = calls;
}

void Simulation::watch_disk() {
    disk().set_hook([this](DiskOperation operation, std::string_view path) { before_disk_call(operation, path); });
}

void Simulation::before_disk_call(DiskOperation operation, std::string_view path) {
    if (options_.trace && operation != DiskOperation::read) {
        std::fprintf(stderr, "      disk %d %s\n", static_cast<int>(operation), std::string(path).c_str());
    }
    // A process that is dead changes nothing any more. What it had asked of a directory is done by the system some
    // time: a sync of names that fails would lose them for good, which no death of a process does.
    const bool may_fail = operation != DiskOperation::sync_directory;
    if (cut_off_ && !cut_power_ && may_fail) disk().fail(operation);
    if (calls_left_ == 0 || (only_syncs_ && operation != DiskOperation::sync_data) || --calls_left_ > 0) return;
    cut_off_ = true;
    if (cut_power_) {
        disk().power_off(disk_random_);
    } else if (may_fail) {
        disk().fail(operation);
    }
}

// Another program takes what is left, all of it or but for a little.
void Simulation::shrink_disk() {
    const std::uint64_t most = random_.chance(500'000) ? options_.free_floor_bytes : 0;
    const bool all = random_.chance(250'000);
    capacity_ = disk().used_bytes() + (all ? 0 : random_.below(most + 2 * options_.engine.segment_bytes));
    disk().set_capacity(capacity_);
    if (random_.chance(500'000)) go_on_while_full();
}

void Simulation::give_space_back() {
    go_on_while_full();
    capacity_ = SimDisk::kDefaultCapacityBytes;
    disk().set_capacity(capacity_);
}

// A full store answers whatever is asked of it, and needs no space for it that is not there: as long as the reserve
// lasts.
void Simulation::go_on_while_full() {
    for (int i = 0; i < 4; ++i) workload_.act();
    for (int i = 0; i < kAnswersWithinSteps && !wrong(); ++i) {
        if (shard_->fatal_error() || cut_off_ || !shard_->is_full()) return;
        if (shard_->commit_waits_for_space()) return rare_.met(Rare::reserve_used_up);
        if (!oracle_.awaits_answers()) return rare_.met(Rare::went_on_while_full);
        shard_->run_step(random_);
        clock_.go_on_by(1);  // a discard may wait for the next millisecond
        if (!shard_->fatal_error()) turn();
    }
    if (!wrong()) oracle_.violate("C11", "the disk is full and the reserve is not used up, but answers do not come");
}

void Simulation::calm() {
    calls_left_ = 0;
    names_in_doubt_ = false;
    if (cut_off_ && cut_power_) disk().power_on();
    cut_off_ = false;
    for (std::size_t i = 0; i < kDiskOperationCount; ++i) disk().fail(static_cast<DiskOperation>(i), 0);
    rows().refuse_tables(0);
}

}  // namespace duewheel
