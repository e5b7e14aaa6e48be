// Runs of schedules: each number creates at most one message, at the time that the rule gives it and not before; none
// that a policy forbids; none after the schedule was removed or during a pause; and each run that the schedule reports
// has been delivered at the end.
//
// Clients are not informed that a run was created. It becomes known when it is delivered, and from then on is a message
// like any other. Its body names the put that it belongs to. The time of its number is known once a client has seen a
// state of the schedule that counts from the same instant; until then a run is not explained.
#include <algorithm>
#include <cstdlib>

#include "simulation/oracle.h"
#include <duewheel/jitter.h>

namespace duewheel {
namespace {

using There = ScheduleModel::There;

constexpr std::size_t kRunsAheadMost = 1000;

}  // namespace

// ---- what follows from what is known

DueMs Oracle::due_of_run(const SchedulePut& put, DueMs nominal_ms) const {
    const PutScheduleCommand& command = put.command;
    const Jitter jitter{std::chrono::milliseconds(command.rule.jitter_ms), 0};
    const Instant nominal{std::chrono::milliseconds(nominal_ms)};
    return with_jitter(nominal, command.name_space + "/" + command.name, jitter).time_since_epoch().count();
}

std::optional<DueMs> Oracle::next_time(const ScheduleModel& model) const {
    const ScheduleLife* life = model.life();
    const ScheduleState* state = life == nullptr || life->removed_step != 0 ? nullptr : life->newest();
    if (state == nullptr || state->next_ms == 0 || model.is_blurred) return std::nullopt;
    const RuleStretch& stretch = life->stretches.back();
    return stretch.time(std::max(state->next_run, stretch.number_after(now_)));
}

// Those that somebody may still meet.
std::uint64_t Oracle::not_met(const ScheduleModel& model) const {
    const bool is_unknown = model.is_blurred || model.there == There::maybe || !model.open.empty() || model.put_lost ||
                            model.remove_lost || !model.unexplained.empty();
    if (is_unknown) return model.puts.empty() ? 0 : kMany;
    std::uint64_t sum =
        model.fires - std::min<std::uint64_t>(model.fires, model.fires_refused + model.fired_met.size());
    for (const ScheduleLife& life : model.lives) {
        const ScheduleState* state = life.newest();
        if (state == nullptr) return kMany;
        std::uint64_t made = state->made;
        if (life.removed_step == 0 || life.was_lost) {
            const std::uint64_t behind = life.stretches.back().number_after(latest());
            made += behind - std::min(behind, state->next_run) + (state->waiting_ms != 0 ? 1 : 0);
        }
        sum += made - std::min<std::uint64_t>(made, life.met.size());
    }
    // One that was put in vain may have been there, and gone.
    const bool may_be_more = std::any_of(model.puts.begin(), model.puts.end(), [this](std::uint64_t serial) {
        const SchedulePut& put = schedule_puts_[serial - 1];
        return put.may_have_been_lost() && !put.was_told;
    });
    return may_be_more ? kMany : sum;
}

std::uint64_t Oracle::runs_not_met(const QueueKey* queue) const {
    std::uint64_t sum = 0;
    for (const auto& [name, model] : schedules_) {
        const bool uses_it =
            queue == nullptr ||
            (name.first == queue->first && std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
                 return schedule_puts_[serial - 1].command.rule.queue == queue->second;
             }));
        if (uses_it) sum += not_met(model);
    }
    return sum;
}

bool Oracle::runs_may_wait(const ScheduleModel& model) const {
    return std::any_of(model.puts.begin(), model.puts.end(), [this](std::uint64_t serial) {
        return schedule_puts_[serial - 1].command.rule.overlap == Overlap::queue_one;
    });
}

bool Oracle::some_schedule_is_behind() const {
    return std::any_of(schedules_.begin(), schedules_.end(), [this](const auto& each) {
        const ScheduleState* state = each.second.surely();
        return state != nullptr && !state->paused && state->next_ms != 0 && state->next_ms <= now_;
    });
}

bool Oracle::schedules_go_on() const {
    std::vector<DueMs> dues;
    schedule_dues_ahead(dues);
    return !dues.empty() || std::any_of(schedules_.begin(), schedules_.end(), [](const auto& each) {
        const ScheduleState* state = each.second.surely();
        return state != nullptr && !state->paused && !state->has_ended();
    });
}

// When runs fall due that were made and that nobody has met: from the newest on, as far back as jitter reaches. Of more
// than can be waited for one by one, when the last of them is due at the latest.
void Oracle::runs_ahead(const ScheduleModel& model, const ScheduleLife& life, std::vector<DueMs>& dues) const {
    std::vector<const SchedulePut*> puts;
    std::int64_t jitter_most = 0;
    for (const std::uint64_t serial : model.puts) {
        const SchedulePut& put = schedule_puts_[serial - 1];
        if (put.was_never_taken()) continue;
        puts.push_back(&put);
        jitter_most = std::max(jitter_most, put.command.rule.jitter_ms);
    }
    const std::size_t before = dues.size();
    DueMs latest = 0;
    for (std::uint64_t number = life.newest()->next_run - 1; number > 0; --number) {
        const RuleStretch* stretch = life.met.contains(number) ? nullptr : life.stretch_of(number);
        const std::optional<DueMs> nominal = stretch == nullptr ? std::nullopt : stretch->time(number);
        if (!nominal) continue;
        latest = std::max(latest, *nominal + jitter_most);
        if (*nominal + jitter_most <= now_) return;
        for (const SchedulePut* put : puts) {
            const DueMs due = due_of_run(*put, *nominal);
            if (due > now_) dues.push_back(due);
        }
        if (dues.size() - before <= kRunsAheadMost) continue;
        dues.resize(before);
        return dues.push_back(latest);
    }
}

// When one comes next, and when those fall due that were made.
void Oracle::schedule_dues_ahead(std::vector<DueMs>& dues) const {
    for (const auto& [name, model] : schedules_) {
        const ScheduleState* state = model.surely();
        if (state != nullptr && !state->paused) {
            if (const std::optional<DueMs> next = next_time(model)) dues.push_back(*next);
        }
        for (const ScheduleLife& life : model.lives) {
            if (life.was_lost) {  // it may have made runs before it went, by rules that nobody was told of
                for (const std::uint64_t serial : model.puts) {
                    const SchedulePut& put = schedule_puts_[serial - 1];
                    const DueMs last = life.removed_ms + put.command.rule.jitter_ms;
                    if (last > now_ && !put.was_never_taken()) dues.push_back(last);
                }
            }
            if (life.newest() != nullptr && life.newest()->made > life.met.size()) runs_ahead(model, life, dues);
        }
    }
}

// ---- runs that are met

MessageModel Oracle::run_of(const SchedulePut& put, DueMs due_ms) const {
    const PutScheduleCommand& command = put.command;
    MessageModel about;
    about.schedule_put = put.serial;
    about.put.name_space = command.name_space;
    about.put.queue = command.rule.queue;
    about.put.when = {due_ms, 0};
    copy_content(command, about.put);
    about.put.order_key = command.rule.order_key;
    about.put.priority = command.rule.priority;
    about.put.retry = command.rule.retry;
    if (command.rule.expires_after_ms != 0) {
        const DueMs expires = due_ms + command.rule.expires_after_ms;
        about.put.expires = When{expires, 0};
        about.expires = DueRange{expires, expires};
    }
    about.answered = true;
    about.answered_step = step_;
    about.first_put_ms = now_;
    about.leases_lost_before = put.leases_lost_before;
    return about;
}

MessageModel* Oracle::find_run(const LeaseCommand& command, const Delivered& delivery) {
    MessageModel* known = message_of(delivery.id);
    const auto found = schedules_.find({command.name_space, delivery.schedule});
    const std::uint64_t serial = std::strtoull(delivery.body.c_str(), nullptr, 10);
    const bool was_put = found != schedules_.end() && serial != 0 && serial <= schedule_puts_.size();
    if (!was_put || delivery.parent != 0) {
        violate("C1", "a run was delivered of a schedule that nobody put", known);
        return nullptr;
    }
    const SchedulePut& put = schedule_puts_[serial - 1];
    const PutScheduleCommand& sent = put.command;
    if (sent.name_space != command.name_space || sent.name != delivery.schedule ||
        static_cast<const Content&>(sent) != delivery) {
        violate("C1", "a run was delivered with another content than its schedule has", known);
        return nullptr;
    }
    if (known == nullptr) return run_met(found->second, put, delivery);
    if (known->schedule_put == serial && known->occurrence == delivery.occurrence) return known;
    violate("C6", "a run is delivered again as another one", known);
    return nullptr;
}

// For the first time.
MessageModel* Oracle::run_met(ScheduleModel& model, const SchedulePut& put, const Delivered& delivery) {
    const bool by_hand = delivery.occurrence == 0;
    const DueMs nominal = delivery.due_ms;
    const DueMs due = by_hand ? nominal : due_of_run(put, nominal);
    const World fresh{World::Phase::live, {due, due}, {nominal, nominal}, {}};
    MessageModel& about = messages_.emplace_back(run_of(put, due));
    about.serial = messages_.size();
    about.forgiven_high = run_;  // earlier runs may have delivered it, and each restart forgives an attempt
    about.occurrence = delivery.occurrence;
    about.was_told(delivery.delivered_ms, step_);
    if (delivery.attempt == 1 && !delivery.maybe_delivered) about.unended_ms = delivery.delivered_ms;
    about.set({0, 0}, {fresh});
    learn_rule(about);
    note(about, "a run is met: number, id", static_cast<std::int64_t>(delivery.occurrence),
         static_cast<std::int64_t>(delivery.id));
    id_learned(about, delivery.id);
    rare_.met(Rare::run_met);
    if (put.command.rule.jitter_ms != 0) rare_.met(Rare::run_with_jitter);
    asked_before_it_was_met(about, fresh);
    if (by_hand) {
        const auto answered = model.fired.find(delivery.id);
        const bool may_be_open = std::any_of(requests_.begin(), requests_.end(), [&](const auto& each) {
            const auto* told = std::get_if<ControlScheduleCommand>(&each.second.command);
            return told != nullptr && told->what == ControlScheduleCommand::What::fire && told->name == model.name &&
                   told->name_space == model.name_space && each.second.submitted_ms <= nominal;
        });
        const bool may_be_lost = std::any_of(model.asked.begin(), model.asked.end(), [&](const auto& asked) {
            return asked.first <= nominal && nominal <= asked.second;
        });
        if (answered == model.fired.end() ? !may_be_open && !may_be_lost : answered->second != nominal) {
            violate("C6", "a run by hand that nobody asked for then", &about);
        }
        model.fired_met.insert(delivery.id);
        return violated() ? nullptr : &about;
    }
    const bool counts_from_its_put =
        put.command.rule.times.kind == TimesKind::every && put.command.rule.times.start_ms == 0;
    if (!counts_from_its_put && !put.has_time(nominal) && !runs_may_wait(model)) {
        violate("C6", "a run is due at " + at(nominal) + ", which is no time of its schedule", &about);
        return nullptr;
    }
    if (put.command.rule.times.kind == TimesKind::cron) {
        rare_.met(Rare::run_of_a_cron_rule);
        if (put.times.back().is_shifted(nominal)) rare_.met(Rare::run_at_a_shifted_time);
        if (put.times.back().is_second_pass(nominal)) rare_.met(Rare::run_in_a_second_pass);
    }
    if (put.was_changed_to) rare_.met(Rare::run_of_a_changed_schedule);
    if (!put.was_told) rare_.met(Rare::run_of_an_unanswered_schedule);
    model.unexplained.push_back(about.serial);
    explain_runs(model);
    return violated() ? nullptr : &about;
}

void Oracle::explain_runs(ScheduleModel& model) {
    for (const std::uint64_t serial : std::exchange(model.unexplained, {})) {
        if (!violated()) explain_run(model, serial);
    }
}

// Finds the time that has its number.
void Oracle::explain_run(ScheduleModel& model, std::uint64_t serial) {
    const MessageModel& about = messages_[serial - 1];
    const DueMs nominal = about.epochs.front().worlds.front().nominal.low;
    for (auto life = model.lives.rbegin(); life != model.lives.rend() && !model.is_blurred; ++life) {
        const RuleStretch* stretch = life->stretch_of(about.occurrence);
        const bool is_its =
            stretch != nullptr && stretch->time(about.occurrence) == nominal &&
            (runs_may_wait(model) || stretch->rule() == schedule_puts_[about.schedule_put - 1].command.rule.times);
        // A life that began with a put whose response was lost is not known to any client yet (seed 21273).
        if (!is_its || (model.put_lost && was_made_after_its_removal(*life, about))) continue;
        const auto [met, is_new] = life->met.emplace(about.occurrence, serial);
        if (!is_new) {
            return violate("C6",
                           "time " + std::to_string(about.occurrence) + " of schedule " + model.name +
                               " has two runs: " + std::to_string(messages_[met->second - 1].id) + " and " +
                               std::to_string(about.id),
                           &about);
        }
        life->met_most = std::max(life->met_most, about.occurrence);
        life->met_step = step_;
        check_policies(model, *life, about, nominal);
        if (!violated() && was_made_after_its_removal(*life, about)) {
            violate("C4", "a run was made after its schedule was removed", &about);
        }
        return;
    }
    model.unexplained.push_back(serial);
}

// Whether a policy forbade it, by what was told for sure.
void Oracle::check_policies(const ScheduleModel& model, const ScheduleLife& life, const MessageModel& about,
                            DueMs nominal) {
    for (const auto& [revision, told] : life.told) {
        const ScheduleState& state = told.state;
        const RuleStretch* stretch = life.stretch_of(about.occurrence);
        const bool was_to_come = state.next_run <= about.occurrence && state.from_ms == stretch->from_ms();
        if (was_to_come && nominal < state.pass_until_ms) {
            return violate("C6",
                           "a run was made for " + at(nominal) + ", which came in a pause that lasted until " +
                               at(state.pass_until_ms),
                           &about);
        }
    }
    const bool may_overlap = std::any_of(model.puts.begin(), model.puts.end(), [this](std::uint64_t serial) {
        return schedule_puts_[serial - 1].command.rule.overlap == Overlap::allow;
    });
    if (may_overlap || model.fires != 0) return;
    rare_.met(Rare::run_that_must_not_overlap);
    for (const auto& [number, serial] : life.met) {
        const MessageModel& other = messages_[serial - 1];
        // Made after it and delivered before it.
        const bool was_out = other.id > about.id && !other.deliveries.empty() &&
                             other.deliveries.front().delivered_ms <= about.unended_ms;
        if (was_out) {
            return violate("C6",
                           "it was unfinished when a run was made for time " + std::to_string(number) + ", message " +
                               std::to_string(other.id),
                           &about);
        }
        const bool is_settled = other.id < about.id && other.open.empty() && other.certain() != nullptr &&
                                other.is_surely_unfinished() && other.purge == MessageModel::Purge::no;
        const bool may_have_ended = other.may_have_expired(latest()) || may_have_died(other) || other.may_be_back;
        if (!is_settled || may_have_ended) continue;
        return violate("C6",
                       "a run was made although the one of time " + std::to_string(number) + ", message " +
                           std::to_string(other.id) + ", is unfinished",
                       &about);
    }
}

// Ids are given out in the order in which messages are made.
bool Oracle::was_made_after_its_removal(const ScheduleLife& life, const MessageModel& about) const {
    if (life.removed_step == 0) return false;
    return std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& later) {
        return later.answered && later.parent == 0 && !later.is_run() && !later.is_firing() &&
               later.submitted_step > life.removed_step && later.id < about.id;
    });
}

// ---- answers

void Oracle::schedule_fired(const Request& request, const PutAnswer& answer) {
    const auto& told = std::get<ControlScheduleCommand>(request.command);
    ScheduleModel& model = *schedule_of(request.command);
    if (told.what != ControlScheduleCommand::What::fire)
        return schedule_violates(model, "X", "it is answered as a put");
    if (model.there == There::no && !request.is_overlapped) {
        return schedule_violates(model, "C4", "it has a run by hand after it was removed");
    }
    rare_.met(Rare::schedule_fired);
    const MessageModel* known = message_of(answer.id);
    const bool is_new = known == nullptr || (known->is_run() && known->occurrence == 0);
    const bool is_told_once = model.fired.emplace(answer.id, answer.due_ms).second;
    if (!is_new || !is_told_once || answer.id % kShardsMax != options_.shard || answer.repeated) {
        return schedule_violates(model, "C1", "a run by hand has an id that was given out before");
    }
    if (answer.due_ms < request.submitted_ms || answer.due_ms > now_) {
        schedule_violates(model, "C6", "a run by hand is due at " + at(answer.due_ms) + " and not at once");
    }
    ++totals_.messages;
}

// A look at one tells when it was made.
void Oracle::check_run_made(const MessageModel& about, const MessageAnswer& answer) {
    const PutScheduleCommand& put = schedule_puts_[about.schedule_put - 1].command;
    const ScheduleRule& rule = put.rule;
    if (answer.schedule != put.name) return violate("C6", "get answers that another schedule has made it", &about);
    if (about.occurrence == 0) return;
    const DueMs nominal = about.epochs.front().worlds.front().nominal.low;
    const std::int64_t late_ms = answer.put_ms - nominal;
    if (late_ms < 0) return violate("C2", "a run was made at " + at(answer.put_ms) + ", before its time", &about);
    const ScheduleModel& model = schedules_.at({put.name_space, put.name});
    for (const ScheduleLife& life : model.lives) {
        const auto met = life.met.find(about.occurrence);
        if (met == life.met.end() || met->second != about.serial || life.removed_step == 0) continue;
        if (answer.put_ms > life.removed_ms) {
            return violate("C4", "a run was made at " + at(answer.put_ms) + ", after its schedule was removed", &about);
        }
    }
    if (late_ms <= options_.run_on_time_ms || runs_may_wait(model)) return;
    const bool is_too_old = rule.misfire_window_ms != 0 && late_ms > rule.misfire_window_ms;
    if (rule.misfire == Misfire::skip || is_too_old) {
        return violate("C6", "a run was made " + at(late_ms) + " ms late, which its schedule forbids", &about);
    }
    rare_.met(Rare::late_run_looked_at);
}

// ---- the end

// Whether a run for this time may have ended before anybody met it.
bool Oracle::run_may_have_vanished(const ScheduleModel& model, DueMs nominal_ms) const {
    return std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
        const SchedulePut& put = schedule_puts_[serial - 1];
        MessageModel about = run_of(put, due_of_run(put, nominal_ms));
        if (about.may_have_expired(latest())) return true;
        const auto queue = queues_.find({about.put.name_space, about.put.queue});
        if (queue != queues_.end() && queue->second.was_purged) return true;
        about.attempts_least = UINT32_MAX;
        for (const RetryRule& rule : rules_of(about, 0)) {
            about.attempts_least = std::min(about.attempts_least, rule.attempts);
        }
        const bool is_let_go = nominal_ms + options_.dead_kept_ms <= latest() ||
                               (queue != queues_.end() && queue->second.discarded_until > nominal_ms);
        return unseen(about) >= about.attempts_least && is_let_go;
    });
}

void Oracle::check_runs(const ScheduleModel& model, const ScheduleLife& life) {
    const ScheduleState* state = life.newest();
    if (state == nullptr || life.was_lost) return;
    if (life.met.size() > state->made) {
        return schedule_violates(model, "C6",
                                 "it has made " + std::to_string(state->made) + " runs, and " +
                                     std::to_string(life.met.size()) + " have come");
    }
    const std::uint64_t missing = state->made - life.met.size();
    std::uint64_t may_have_vanished = 0;
    for (std::uint64_t number = 1; number < state->next_run && may_have_vanished < missing; ++number) {
        const RuleStretch* stretch = life.met.contains(number) ? nullptr : life.stretch_of(number);
        const std::optional<DueMs> nominal = stretch == nullptr ? std::nullopt : stretch->time(number);
        if (nominal && run_may_have_vanished(model, *nominal)) ++may_have_vanished;
    }
    if (missing > may_have_vanished) {
        return schedule_violates(
            model, "C3",
            "it has made " + std::to_string(state->made) + " runs, and " + std::to_string(missing) + " never came");
    }
    if (missing > 0) rare_.met(Rare::run_ended_unmet);
}

void Oracle::check_schedules() {
    for (const auto& [name, model] : schedules_) {
        if (model.is_blurred || violated()) continue;
        const ScheduleState* state = model.surely();
        if (state != nullptr && !state->paused && state->next_ms != 0 && state->next_ms <= now_) {
            return schedule_violates(model, "C3",
                                     "all is quiet, and time " + std::to_string(state->next_run) + ", " +
                                         at(state->next_ms) + ", is not decided");
        }
        for (const std::uint64_t serial : model.unexplained) {
            const MessageModel& about = messages_[serial - 1];
            const SchedulePut& put = schedule_puts_[about.schedule_put - 1];
            if (put.may_have_been_lost()) continue;
            return violate("C6",
                           "run " + std::to_string(about.occurrence) + " of schedule " + model.name +
                               " is for no time that has this number",
                           &about);
        }
        for (const auto& [id, due] : model.fired) {
            if (model.fired_met.contains(id) || run_may_have_vanished(model, due)) continue;
            return schedule_violates(model, "C3", "its run by hand, message " + std::to_string(id) + ", never came");
        }
        if (!model.unexplained.empty()) continue;
        for (const ScheduleLife& life : model.lives) {
            if (!violated()) check_runs(model, life);
        }
    }
}

}  // namespace duewheel
