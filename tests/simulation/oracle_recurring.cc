// Recurring messages: an occurrence for each number from 1 on, each once and always under the same id, with the time
// that the rule gives it, none before that time, none after the recurring message has ended, and none missing.
//
// Clients are not informed that an occurrence was created. It becomes known at its first delivery, and from then on is
// a message like any other. For those not seen yet, the oracle knows how many may exist: as many as were due by now
// while their recurring message continued.
#include <algorithm>
#include <cstdlib>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

constexpr std::int64_t kIntervalMaxMs = 3660LL * 86'400'000;

std::string name_of(const MessageModel& loop, std::uint64_t number) {
    return "occurrence " + std::to_string(number) + " of loop " + std::to_string(loop.id);
}

}  // namespace

// ---- what is put

// Whether it says what no recurring message can be, where its first occurrence is due then.
bool Oracle::is_bad_loop(const PutCommand& put, DueMs start_ms) const {
    const RepeatChoice& choice = *put.repeat;
    const auto is_outside = [](std::int64_t value, std::int64_t least, std::int64_t most) {
        return value < least || value > most;
    };
    const bool grows = choice.factor_permille.value_or(1000) > 1000;
    if (is_outside(choice.every_ms, 1, kIntervalMaxMs)) return true;
    if (choice.times && is_outside(*choice.times, 1, static_cast<std::int64_t>(options_.repeat_times_max))) return true;
    if (choice.factor_permille && is_outside(*choice.factor_permille, 1000, 100'000)) return true;
    if (choice.max_ms && (!grows || is_outside(*choice.max_ms, choice.every_ms, kIntervalMaxMs))) return true;
    return choice.until_ms && *choice.until_ms < start_ms;
}

// Whether it would begin too long before `now`.
bool Oracle::is_loop_of_long_ago(const PutCommand& put, DueMs now) {
    return put.repeat && put.when.at_ms && *put.when.at_ms < now - kIntervalMaxMs;
}

void Oracle::loop_submitted(MessageModel& fresh) {
    const DueRange start = due_of(fresh.put.when, now_);
    if (!fresh.put.repeat || is_bad_loop(fresh.put, INT64_MIN)) return;
    fresh.loop.emplace(*fresh.put.repeat);
    fresh.loop->start = fresh.put.when.at_ms ? start : DueRange{start.low, kNeverMs};
    if (fresh.put.is_held) fresh.loop->held_at = 0;
    fresh.expires.reset();  // that of its occurrences
    loops_.push_back(fresh.serial);
}

// Whether a put or a move may be refused with this because of a recurring message.
bool Oracle::is_refused_loop(const Request& request, const MessageModel* about, ErrorCode code) const {
    const auto* put = std::get_if<PutCommand>(&request.command);
    if (code == "repeats"_code) {
        const bool moves = std::holds_alternative<RescheduleCommand>(request.command) ||
                           std::holds_alternative<FireCommand>(request.command);
        return moves && about != nullptr && about->is_recurring();
    }
    if (put == nullptr || !put->repeat) return false;
    if (code == "conflicting_members"_code) return put->expires && put->expires->at_ms;
    if (code == "expires_too_soon"_code) return put->expires && put->expires->delay_ms < 1;
    if (code != "out_of_range"_code) return false;
    return is_bad_loop(*put, due_of(put->when, request.submitted_ms).high) || is_loop_of_long_ago(*put, latest());
}

// ---- how far it has come

std::uint64_t Oracle::made_at_most(const MessageModel& about) const {
    const RecurringModel& loop = *about.loop;
    return std::min({loop.due_by(loop.start.low, latest()), loop.made_most, loop.held_at});
}

std::uint64_t Oracle::not_met(const MessageModel& about) const {
    const std::uint64_t made = made_at_most(about);
    return made - std::min(made, about.loop->seen_count);
}

bool Oracle::is_behind(const MessageModel& about) const {
    const World* world = about.certain();
    return world != nullptr && world->is_live() && about.loop->is_exact() &&
           about.loop->made_least < about.loop->due_by(about.loop->start.low, now_);
}

bool Oracle::some_loop_is_behind(const QueueKey* queue) const {
    return std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& about) {
        return about.is_recurring() && (queue == nullptr || is_in(about, *queue)) && is_behind(about);
    });
}

// From when on it may have made all of them, and be done.
void Oracle::time_told(DueMs now) {
    now_ = std::max(now_, now);
    std::erase_if(loops_, [this](std::uint64_t serial) {
        MessageModel& about = *message(serial);
        const RecurringModel& loop = *about.loop;
        const std::optional<std::uint64_t> last = loop.last(loop.start.high);
        if (!last || loop.start.low + loop.offset_ms(*last) > now_) return false;
        about.may_have_made_all = true;
        about.replace(Worlds(about.worlds()));
        return true;
    });
    halves_told_time();
}

std::optional<DueMs> Oracle::next_due(const MessageModel& about) const {
    if (!about.is_recurring()) {
        const World* world = about.certain();
        return world != nullptr && world->is_live() ? std::optional(world->due.low) : std::nullopt;
    }
    const RecurringModel& loop = *about.loop;
    if (loop.start.high == kNeverMs) return std::nullopt;
    // One whose put was never answered, and that nobody has met, may not be there.
    if (about.id == 0) return loop.start.high;
    const std::uint64_t next = loop.due_by(loop.start.high, now_) + 1;
    if (const auto last = loop.last(loop.start.high); last && next > *last) return std::nullopt;
    return loop.start.high + loop.offset_ms(next);
}

std::vector<const MessageModel*> Oracle::loops_left() const {
    std::vector<const MessageModel*> loops;
    for (const MessageModel& message : messages_) {
        if (message.is_recurring() && message.id != 0 && message.may_be_unfinished()) loops.push_back(&message);
    }
    return loops;
}

// Its put was not answered, and now a time of it is told.
bool Oracle::learn_start(MessageModel& about, std::uint64_t number, DueMs due_ms) {
    RecurringModel& loop = *about.loop;
    const DueMs start = due_ms - loop.offset_ms(number);
    if (loop.start.holds(start)) return loop.start = {start, start}, true;
    violate("C6",
            name_of(about, number) + " is due at " + at(due_ms) + " and not from " +
                at(loop.start.low + loop.offset_ms(number)) + " on, as its rule says",
            &about);
    return false;
}

// It has surely made this one, and all before it.
void Oracle::occurrence_made(MessageModel& about, std::uint64_t number) {
    RecurringModel& loop = *about.loop;
    const std::optional<std::uint64_t> last = loop.last(loop.start.low);
    if (last && number > *last) {
        return violate("C6", name_of(about, number) + " was made, and it has " + std::to_string(*last), &about);
    }
    if (number > made_at_most(about)) {
        const DueMs due = loop.due_ms(number);
        return violate("C6",
                       name_of(about, number) + ", due at " + at(due) + ", was made " +
                           (due > latest() ? "before its time" : "although the loop is " + describe(about.worlds())),
                       &about);
    }
    loop.made_least = std::max(loop.made_least, number);
    if (last && number == *last) loop_is_done(about);
}

// It has made its last one.
void Oracle::loop_is_done(MessageModel& about) {
    RecurringModel& loop = *about.loop;
    const std::optional<std::uint64_t> last = loop.last(loop.start.low);
    if (!last || made_at_most(about) < *last) {
        return violate("C6", "loop " + std::to_string(about.id) + " is done before it can have made all", &about);
    }
    const World* certain = about.certain();
    if (certain != nullptr && certain->phase == World::Phase::done) return;
    const Worlds worlds = with_open_commands(about, 0);
    const bool may_be = std::any_of(worlds.begin(), worlds.end(), [](const World& world) {
        return world.is_live() || world.phase == World::Phase::done;
    });
    if (!may_be) return violate("C6", "a loop is done that is " + describe(about.worlds()), &about);
    rare_.met(Rare::loop_done);
    if (about.put.repeat->until_ms) rare_.met(Rare::loop_ended_by_its_time);
    loop.made_least = loop.made_most = *last;
    about.set({run_, 0}, {World{World::Phase::done, {}, {}, {loop.due_ms(*last), now_}}});
}

// Answers that end it or set it aside: what was due by then may have been made, and nothing later is. A kick may have
// come after the one that set it aside.
void Oracle::loop_held(MessageModel& about) {
    RecurringModel& loop = *about.loop;
    rare_.met(Rare::loop_held);
    if (about.open.empty()) loop.held_at = std::min(loop.held_at, loop.due_by(loop.start.low, latest()));
}

void Oracle::loop_kicked(const ChangeAnswer& answer, MessageModel& about) {
    RecurringModel& loop = *about.loop;
    rare_.met(Rare::loop_kicked);
    for (std::uint64_t next = loop.made_least + 1; next <= made_at_most(about) + 1; ++next) {
        if (loop.is_exact() && loop.due_ms(next) == answer.due_ms) return;
        if (!loop.is_exact() && loop.start.holds(answer.due_ms - loop.offset_ms(next))) return;
    }
    violate("C6", "a loop is kicked to " + at(answer.due_ms) + ", which is no time of it that can be next", &about);
}

void Oracle::loop_cancelled(MessageModel& about) {
    RecurringModel& loop = *about.loop;
    if (loop.cancelled_step != 0) return;
    rare_.met(Rare::loop_cancelled);
    loop.cancelled_step = step_;
    loop.made_most = std::min(loop.made_most, loop.due_by(loop.start.low, latest()));
    // The last one would have ended it.
    if (const auto last = loop.last(loop.start.low)) loop.made_most = std::min(loop.made_most, *last - 1);
    if (loop.made_least > loop.made_most) violate("C6", "a loop was cancelled that had made all", &about);
}

void Oracle::loop_purged(MessageModel& about, MessageId through) {
    RecurringModel& loop = *about.loop;
    if (about.id == 0 || about.id > through) return;
    rare_.met(Rare::loop_purged);
    loop.made_most = std::min(loop.made_most, loop.due_by(loop.start.low, latest()));
}

// ---- what a look at it tells

void Oracle::check_loop_row(MessageModel& about, const MessageState& row, std::uint64_t made_least) {
    RecurringModel& loop = *about.loop;
    const std::uint64_t next = row.next_occurrence;
    if (next == 0) return violate("X", "a loop is told of as a message that comes once", &about);
    if (!loop.is_exact() && !learn_start(about, next, row.due_ms)) return;
    const std::optional<std::uint64_t> last = loop.last(loop.start.low);
    if (last && next > *last) return violate("C6", name_of(about, next) + " is to come, which is one too many", &about);
    if (row.due_ms != loop.due_ms(next) || row.nominal_due_ms != row.due_ms) {
        return violate(
            "C6", name_of(about, next) + " is to be due at " + at(row.due_ms) + " and not at " + at(loop.due_ms(next)),
            &about);
    }
    if (next <= made_least) {
        return violate("C6", name_of(about, next) + " is to come, and was made before", &about);
    }
    if (next > 1) occurrence_made(about, next - 1);
}

void Oracle::loop_looked_at(const Request& request, const MessageAnswer& answer, MessageModel& about) {
    const MessageRow& row = answer.row;
    if (row.state.attempts != 0 || row.state.maybe_delivered) return violate("X", "a loop has attempts", &about);
    if (row.state.state == State::done) return loop_is_done(about);
    if (row.state.state == State::cancelled) {
        // For good, whichever of several made it so.
        Worlds ended = with_open_commands(about, 0);
        std::erase_if(ended, [](const World& world) { return world.phase != World::Phase::cancelled; });
        if (!ended.empty() && ended != about.worlds()) about.set({run_, 0}, std::move(ended));
        return;
    }
    if (!answer.repeat) return violate("X", "a look at a loop does not tell its rule", &about);
    check_loop_row(about, row.state, request.made_least);
    if (violated()) return;
    const RepeatRule& rule = *answer.repeat;
    const RepeatChoice& choice = *about.put.repeat;
    const bool same = rule.start_ms == about.loop->start.low && rule.every_ms == choice.every_ms &&
                      rule.times == static_cast<std::uint64_t>(choice.times.value_or(0)) &&
                      rule.factor_permille == choice.factor_permille.value_or(1000) &&
                      rule.end_ms == choice.until_ms.value_or(0);
    if (!same) violate("C1", "a look at a loop tells another rule than was put", &about);
}

// Checks when an occurrence was made, and that any message says what it is.
void Oracle::check_made(const MessageModel& about, const MessageAnswer& answer) {
    const MessageModel* loop = message(about.parent);
    if (answer.parent != (loop == nullptr ? 0 : loop->id) || answer.occurrence != about.occurrence) {
        return violate("C6", "get answers that it is the occurrence of another loop, or another one of it", &about);
    }
    if (answer.repeat.has_value() != about.is_recurring()) return violate("X", "get answers another rule", &about);
    const MessageModel& of = about.is_check ? *loop : about;
    const std::optional<TransactionRule> rule = of.half ? std::optional(of.half->rule) : std::nullopt;
    if (answer.transaction != rule) return violate("X", "get answers another transaction than was put", &about);
    if (about.is_check) {
        if (answer.put_ms != about.put.when.at_ms) violate("C6", "a check is not due when it was made", &about);
        return;
    }
    if (about.is_run()) return check_run_made(about, answer);
    if (about.is_firing()) return check_firing_made(about, answer);
    if (!answer.watchdog.empty()) return violate("X", "get answers that a watchdog has made it", &about);
    if (!answer.schedule.empty()) return violate("X", "get answers that a schedule has made it", &about);
    if (loop == nullptr) return;
    if (answer.put_ms < loop->loop->due_ms(about.occurrence)) {
        return violate("C6",
                       name_of(*loop, about.occurrence) + " was made at " + at(answer.put_ms) + ", before it was due",
                       &about);
    }
    const World* world = loop->certain();
    if (loop->loop->cancelled_step != 0 && world != nullptr && answer.put_ms > world->ended.high) {
        violate("C6", name_of(*loop, about.occurrence) + " was made after the loop was cancelled", &about);
    }
}

// ---- occurrences that are met

MessageModel* Oracle::find_loop(const Delivered& delivery) {
    const std::uint64_t serial = std::strtoull(delivery.body.c_str(), nullptr, 10);
    MessageModel* loop = message_of(delivery.parent);
    const bool is_a_put = serial != 0 && serial <= messages_.size() && messages_[serial - 1].is_recurring();
    if (loop == nullptr && is_a_put) {  // its put was never answered
        MessageModel& about = messages_[unknown_with_key_of(serial, delivery) - 1];
        if (about.id == 0) {
            rare_.met(Rare::occurrence_of_an_unanswered_loop);
            batch_told(about, true);
            Worlds worlds = with_open_commands(about, 0);
            std::erase_if(worlds, [](const World& world) { return world.phase == World::Phase::absent; });
            if (worlds.empty()) {
                violate("C1", "an occurrence was delivered of a loop that was never put", &about);
                return nullptr;
            }
            about.set({run_, 0}, std::move(worlds));
            id_learned(about, delivery.parent);
            loop = &about;
        }
    }
    const bool fits = loop != nullptr && loop->is_recurring() && is_a_put &&
                      (loop->serial == serial || share_key(*loop, messages_[serial - 1]));
    if (fits) return loop;
    violate("C6", "delivered as an occurrence of " + std::to_string(delivery.parent) + ", which is no such loop", loop);
    return nullptr;
}

MessageModel* Oracle::find_occurrence(const Delivered& delivery) {
    MessageModel* loop = find_loop(delivery);
    if (loop == nullptr) return nullptr;
    const std::uint64_t number = delivery.occurrence;
    if (number == 0 || delivery.id <= delivery.parent) {
        violate("C6", "delivered as an occurrence without a number, or with an older id than its loop", loop);
        return nullptr;
    }
    note(*loop, "an occurrence is met: number, id", static_cast<std::int64_t>(number),
         static_cast<std::int64_t>(delivery.id));
    if (!loop->loop->is_exact() && !learn_start(*loop, number, delivery.due_ms)) return nullptr;
    std::vector<std::uint64_t>& seen = loop->loop->seen;
    if (number > seen.size()) seen.resize(std::min<std::uint64_t>(number, made_at_most(*loop)));
    if (number > seen.size() || seen[number - 1] == 0) {
        occurrence_made(*loop, number);
        if (!violated()) seen[number - 1] = occurrence_met(*loop, delivery).serial;
    } else if (messages_[seen[number - 1] - 1].id != delivery.id) {
        violate("C6",
                name_of(*loop, number) + " has two ids: " + std::to_string(messages_[seen[number - 1] - 1].id) +
                    " and " + std::to_string(delivery.id),
                loop);
    }
    if (violated()) return nullptr;
    MessageModel& about = messages_[seen[number - 1] - 1];
    if (static_cast<const Content&>(about.put) == delivery) return &about;
    violate("C1", name_of(*loop, number) + " was delivered with another content than was put", &about);
    return nullptr;
}

// For the first time: from now on it is a message with a client that knows of it.
MessageModel& Oracle::occurrence_met(MessageModel& loop, const Delivered& delivery) {
    const DueMs due = loop.loop->due_ms(delivery.occurrence);
    MessageModel& about = messages_.emplace_back();
    about.serial = messages_.size();
    about.forgiven_high = run_;  // earlier runs may have delivered it, and each restart forgives an attempt
    about.parent = loop.serial;
    about.occurrence = delivery.occurrence;
    about.put = loop.put;
    about.put.repeat.reset();
    about.put.is_held = false;
    about.put.key.clear();
    about.put.request_hash = 0;
    about.put.when = {due, 0};
    if (loop.put.expires) {
        const DueMs expires = due + loop.put.expires->delay_ms;
        about.put.expires = When{expires, 0};
        about.expires = DueRange{expires, expires};
    }
    about.first_put_ms = now_;
    about.was_told(delivery.delivered_ms, step_);
    about.answered = true;
    about.answered_step = step_;
    about.submitted_step = loop.submitted_step;
    about.leases_lost_before = loop.leases_lost_before;
    about.rule = loop.rule;
    about.set({0, 0}, {about.fresh({due, due})});
    learn_rule(about);
    ++loop.loop->seen_count;
    rare_.met(Rare::occurrence_met);
    if (loop.put.repeat->factor_permille.value_or(1000) > 1000) rare_.met(Rare::occurrence_of_a_growing_loop);
    if (serial_of_id_.contains(delivery.id)) {
        violate("C6", name_of(loop, delivery.occurrence) + " has the id of another message", message_of(delivery.id));
        return about;
    }
    id_learned(about, delivery.id);
    check_after_its_end(loop, about);
    asked_before_it_was_met(about, {World::Phase::live, {due, due}, {due, due}, {}});
    return about;
}

// What was asked of its queue before anybody knew of it may have met it.
void Oracle::asked_before_it_was_met(MessageModel& about, const World& fresh) {
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    if (queue.purge_lost_ms != 0 && about.purge == MessageModel::Purge::no) may_be_purged(about, queue.purge_lost_ms);
    if (queue.redriven_ms != 0) {
        about.may_be_back = true;
        about.forgiven_high = attempts_high(about) + 1;  // with the delivery that tells of it
        about.redriven_ms = now_;
        World back = fresh;
        back.due.high = std::max(back.due.high, now_);
        about.replace({back});
    }
    for (const auto& [token, request] : requests_) {
        const auto* redrive = std::get_if<RedriveCommand>(&request.command);
        if (redrive == nullptr || !is_in(about, {redrive->name_space, redrive->queue})) continue;
        about.open.push_back(token);
        ++about.returns_open;
    }
}

// Ids are given out in the order in which messages are made.
void Oracle::check_after_its_end(const MessageModel& loop, const MessageModel& occurrence) {
    for (const PurgeMark& mark : queue_of(loop.put.name_space, loop.put.queue).marks) {
        if (loop.id <= mark.through && occurrence.id > mark.through) {
            return violate("C6", name_of(loop, occurrence.occurrence) + " was made after the loop was purged", &loop);
        }
    }
    const std::vector<std::uint64_t>& seen = loop.loop->seen;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i] == 0 || i + 1 == occurrence.occurrence) continue;
        const bool in_order = (i + 1 < occurrence.occurrence) == (messages_[seen[i] - 1].id < occurrence.id);
        if (!in_order) return violate("C6", "the occurrences of a loop were made in another order", &loop);
    }
    if (loop.loop->cancelled_step == 0) return;
    for (const MessageModel& later : messages_) {
        const bool was_put_later =
            later.answered && later.parent == 0 && later.submitted_step > loop.loop->cancelled_step;
        if (!was_put_later || later.id > occurrence.id) continue;
        return violate("C6", name_of(loop, occurrence.occurrence) + " was made after the loop was cancelled", &loop);
    }
}

// ---- the end

// Whether it may have ended before anybody met it.
bool Oracle::may_have_vanished(const MessageModel& about, std::uint64_t number) const {
    const DueMs due = about.loop->due_ms(number);
    if (about.put.expires && due + about.put.expires->delay_ms <= latest()) return true;
    const auto queue = queues_.find({about.put.name_space, about.put.queue});
    if (queue != queues_.end() && queue->second.was_purged) return true;
    // Dead by leases that nobody saw, and not kept.
    const auto leases = leases_.find(about.put.queue);
    const std::uint64_t unseen =
        leases == leases_.end() ? 0 : leases->second.open + leases->second.lost - about.leases_lost_before;
    const bool is_let_go =
        due + options_.dead_kept_ms <= latest() || (queue != queues_.end() && queue->second.discarded_until > due);
    return unseen >= about.attempts_least && is_let_go;
}

void Oracle::check_occurrences(const MessageModel& about) {
    const RecurringModel& loop = *about.loop;
    if (!loop.is_exact()) return;  // nobody has met any
    for (std::uint64_t number = 1; number <= loop.made_least; ++number) {
        const bool was_met = number <= loop.seen.size() && loop.seen[number - 1] != 0;
        if (was_met) continue;
        if (!may_have_vanished(about, number)) {
            return violate("C6", name_of(about, number) + " was made and never delivered", &about);
        }
        rare_.met(Rare::occurrence_ended_unmet);
    }
}

}  // namespace duewheel
