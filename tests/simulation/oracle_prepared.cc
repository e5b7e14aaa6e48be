// Messages in transactions: none is delivered before its commit was requested or its default may apply, nor ever after
// an answered rollback. Messages with an answered commit are delivered like any other. The producer is asked as often
// as configured, never sooner, and not after a response has said that the prepared message is settled.
//
// For a prepared message the oracle keeps worlds as for any message, with an additional phase. Clients do not learn
// that a default applies: from the earliest possible time, it is one more world. They do not learn of a new check
// either: it becomes known when it is delivered, and from then on is a message like any other.
#include <algorithm>
#include <cstdlib>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

// Shorter ones may run out while the simulation comes to rest.
constexpr DueMs kUnhurriedMs = 1000;

// It was committed, whatever became of it.
bool is_committed(const World& world) {
    return world.phase != World::Phase::absent && !world.is_prepared() && !world.was_prepared;
}

}  // namespace

// ---- what is put

// Whether it says what no transaction can be.
bool Oracle::is_bad_half(const PutCommand& put) const {
    const TransactionRule& rule = *put.transaction;
    const std::uint32_t most = rule.check_queue.empty() ? 0 : options_.check_times_max;
    const std::uint32_t least = rule.check_queue.empty() ? 0 : 1;
    return put.repeat || rule.check_after_ms < 1 || rule.check_after_ms > options_.delay_max_ms ||
           rule.check_times < least || rule.check_times > most;
}

void Oracle::half_submitted(MessageModel& fresh) {
    if (!fresh.put.transaction || is_bad_half(fresh.put)) return;
    fresh.half.emplace();
    fresh.half->rule = *fresh.put.transaction;
    fresh.half->put_ms = now_;
    fresh.half->leases_lost_before = leases_[fresh.half->rule.check_queue].lost;
    overdue_prepared_.push_back(fresh.serial);
}

bool Oracle::is_refused_half(const Request& request, ErrorCode code) const {
    const auto* put = std::get_if<PutCommand>(&request.command);
    if (put == nullptr || !put->transaction || !is_bad_half(*put)) return false;
    return code == "out_of_range"_code || code == "missing_member"_code || code == "conflicting_members"_code ||
           code == "delay_too_long"_code;
}

// From when on its default may hold.
void Oracle::halves_told_time() {
    std::erase_if(overdue_prepared_, [this](std::uint64_t serial) {
        MessageModel& about = *message(serial);
        if (about.half->default_ms() > now_) return false;
        about.half->may_be_over = true;
        about.replace(Worlds(about.worlds()));
        return true;
    });
}

// ---- what a producer says

void Oracle::settle_replied(ReplyToken token, const Request& request, const SettleAnswer& answer) {
    const auto& command = std::get<SettleCommand>(request.command);
    MessageModel* about = message(request.serial);
    if (about == nullptr || answer.id != command.id || answer.committed != command.commits) {
        return violate("X", "a commit or a rollback is answered for another message, or as the other", about);
    }
    note(*about, command.commits ? "committed" : "rolled back");
    if (!about->half) return violate("X", "what is in no transaction is answered as settled", about);
    const Worlds before = explain(*about, token, [&](const World& world) {
        return world.is_prepared() || (command.commits ? is_committed(world) : world.was_prepared);
    });
    if (before.empty()) {
        return violate(
            "C4",
            std::string(command.commits ? "committed" : "rolled back") + ", but it is " + describe(about->worlds()),
            about);
    }
    const bool was_prepared = before.front().is_prepared();
    if (before.size() == 1 && was_prepared && about->has_expired(request.submitted_ms) && command.commits) {
        return violate("C3", "its time was over, and it was committed", about);
    }
    const DueRange now{done_since(*about, request, command.commits ? &commits : &takes_back), now_};
    Worlds next;
    for (const World& world : before) {
        if (!world.is_prepared()) {
            add_world(next, world);
        } else if (command.commits) {
            add_world(next, MessageModel::committed(world, now));
        } else {
            // Where its time was over that is answered like a rollback that is repeated.
            const bool may_be_over = about->may_have_expired(now_);
            if (may_be_over) add_world(next, MessageModel::ended_half(World::Phase::expired, {0, now_}));
            add_world(next, MessageModel::ended_half(World::Phase::cancelled, now));
        }
    }
    if (about->half->settle_lost) rare_.met(Rare::settle_repeated_after_a_crash);
    if (command.commits) {
        rare_.met(was_prepared ? Rare::half_committed : Rare::commit_repeated);
        if (was_prepared && before.front().nominal.low > now_) rare_.met(Rare::half_committed_before_it_was_due);
    } else {
        rare_.met(was_prepared ? Rare::half_rolled_back : Rare::rollback_repeated);
    }
    if (next != about->worlds()) about->set({run_, 0}, std::move(next));
    half_told_settled(*about);
}

bool Oracle::settle_refused(ReplyToken token, const Request& request, const Error& error) {
    const auto* command = std::get_if<SettleCommand>(&request.command);
    MessageModel* about = message(request.serial);
    if (command == nullptr || about == nullptr) return false;
    const ErrorCode code = error.code;
    const bool is_committed_before = code == "already_committed"_code && !command->commits;
    const bool is_over = code == "already_rolled_back"_code && command->commits;
    if (code == "not_transactional"_code && !about->put.transaction && command->name_space == about->put.name_space) {
        rare_.met(Rare::settled_though_no_transaction);
        return true;
    }
    if ((!is_committed_before && !is_over) || !about->half) return false;
    note(*about, name_of(error.code));
    const bool may_be_purged = about->purge != MessageModel::Purge::no;
    const bool may_have_expired = about->may_have_expired(latest());
    const Worlds before = explain(*about, token, [&](const World& world) {
        if (is_committed_before) return is_committed(world);
        return world.was_prepared || (world.is_prepared() && (may_be_purged || may_have_expired));
    });
    if (before.empty()) {
        violate("C4", "refused with " + std::string(name_of(code)) + ", but it is " + describe(about->worlds()), about);
        return true;
    }
    rare_.met(is_over ? Rare::commit_of_what_was_rolled_back : Rare::rollback_of_what_was_committed);
    Worlds next;
    for (const World& world : before) {
        if (!world.is_prepared()) {
            add_world(next, world);
            continue;
        }
        if (may_be_purged) add_world(next, MessageModel::ended_half(World::Phase::cancelled, {about->purged_ms, now_}));
        if (may_have_expired) add_world(next, MessageModel::ended_half(World::Phase::expired, {0, latest()}));
        // Or somebody has ended it whose answer comes behind this one.
        for (const ReplyToken other : about->open) {
            const Request& open = requests_.at(other);
            const DueRange since{open.submitted_ms, now_};
            if (takes_back(open.command)) add_world(next, MessageModel::ended_half(World::Phase::cancelled, since));
        }
    }
    if (next != about->worlds()) about->set({run_, 0}, std::move(next));
    half_told_settled(*about);
    return true;
}

// An answer has told that it is a prepared message no more.
void Oracle::half_told_settled(MessageModel& about) {
    about.half->settled_ms = std::min(about.half->settled_ms, now_);
}

// It stands: how often its producer was asked, and until when it has time to answer.
void Oracle::half_stands(const MessageState& row, std::uint64_t checks_least, MessageModel& about) {
    PreparedModel& half = *about.half;
    rare_.met(row.due_ms < now_ ? Rare::half_overdue_when_looked_at : Rare::half_looked_at);
    const std::uint32_t checks = row.checks();
    if (checks > half.rule.check_times || checks < checks_least) {
        return violate("C6",
                       "get says that its producer was asked " + std::to_string(checks) + " times, of at least " +
                           std::to_string(checks_least) + " and at most " + std::to_string(half.rule.check_times),
                       &about);
    }
    const DueRange answer{half.earliest_ms(std::uint64_t{checks} + 1), latest() + half.rule.check_after_ms};
    if (!answer.holds(row.due_ms)) {
        return violate("C6",
                       "get says that an answer is due at " + at(row.due_ms) + ", and not between " + at(answer.low) +
                           " and " + at(answer.high),
                       &about);
    }
    if (alone_from_ms_ != kNeverMs && !half.checks_before_alone) half.checks_before_alone = checks;
    half.told_due_ms = std::max(half.told_due_ms, row.due_ms);
    half.checks_told = std::max(half.checks_told, checks);
}

// What is told once of a half that is none any more is so for good.
void Oracle::half_looked_at(const Request& request, const MessageRow& row, MessageModel& about) {
    if (row.state.state == State::prepared) return half_stands(row.state, request.made_least, about);
    half_told_settled(about);
    const bool is_cancelled = row.state.state == State::cancelled;
    const bool is_ended = is_cancelled || row.state.state == State::expired;
    Worlds next = with_open_commands(about, 0);
    std::erase_if(next, [&](const World& world) { return world.is_prepared() || (world.was_prepared && !is_ended); });
    // Nobody knew when its default came to hold.
    for (World& world : next) {
        const bool is_due = world.is_live() && world.due.high == kNeverMs && world.due.holds(row.state.due_ms);
        if (is_due && !is_ended && row.state.state != State::done) world.due = {row.state.due_ms, row.state.due_ms};
    }
    if (row.state.state == State::expired && about.may_be(World::Phase::prepared)) {
        rare_.met(Rare::half_expired);
        add_world(next, MessageModel::ended_half(World::Phase::expired, {0, latest()}));
    }
    if (is_cancelled && about.half->ends_asked == 0 && about.purge == MessageModel::Purge::surely)
        rare_.met(Rare::half_purged);
    const bool by_default = is_cancelled && about.half->ends_asked == 0 && about.purge == MessageModel::Purge::no;
    if (by_default) {
        rare_.met(Rare::half_rolled_back_by_default);
        check_asked(about);
    }
    if (next.empty() || next == about.worlds()) return;
    about.set(about.epochs.back().from, std::move(next));
}

void Oracle::half_delivered(MessageModel& about) {
    if (about.half->ends_asked == 0 && about.deliveries.empty()) {
        rare_.met(Rare::half_committed_by_default);
        check_asked(about);
    }
    half_told_settled(about);
}

// ---- checks that are met

// The half that it asks about. Its put may never have been answered.
MessageModel* Oracle::find_half(const Delivered& delivery) {
    const std::uint64_t serial = std::strtoull(delivery.body.c_str(), nullptr, 10);
    MessageModel* half = message_of(delivery.parent);
    const bool is_a_put = serial != 0 && serial <= messages_.size() && messages_[serial - 1].half;
    if (half == nullptr && is_a_put) {
        MessageModel& about = messages_[unknown_with_key_of(serial, delivery) - 1];
        if (about.id == 0 && about.half) {
            rare_.met(Rare::check_of_an_unanswered_half);
            batch_told(about, true);
            Worlds worlds = with_open_commands(about, 0);
            std::erase_if(worlds, [](const World& world) { return world.phase == World::Phase::absent; });
            if (worlds.empty()) {
                violate("C1", "a check was delivered of a half that was never put", &about);
                return nullptr;
            }
            about.set({run_, 0}, std::move(worlds));
            id_learned(about, delivery.parent);
            half = &about;
        }
    }
    const bool fits = half != nullptr && half->half && is_a_put &&
                      (half->serial == serial || share_key(*half, messages_[serial - 1]));
    if (fits) return half;
    violate("C6", "delivered as a check of " + std::to_string(delivery.parent) + ", which is no such half", half);
    return nullptr;
}

MessageModel* Oracle::find_check(const Delivered& delivery) {
    MessageModel* half = find_half(delivery);
    if (half == nullptr) return nullptr;
    const std::uint64_t number = delivery.occurrence;
    const PutCommand& put = half->put;
    note(*half, "a check is met: number, id", static_cast<std::int64_t>(number),
         static_cast<std::int64_t>(delivery.id));
    if (*delivery.check != half->half->rule || number < 1 || number > half->half->rule.check_times) {
        violate("C6", "a producer is asked otherwise, or more often, than was said", half);
        return nullptr;
    }
    if (static_cast<const Content&>(put) != delivery || !delivery.key.empty()) {
        violate("C1", "a check was delivered with another content than its half has", half);
        return nullptr;
    }
    const auto known = half->half->checks.find(number);
    if (known == half->half->checks.end()) return check_met(*half, delivery);
    if (messages_[known->second - 1].id == delivery.id) return &messages_[known->second - 1];
    violate("C6",
            "check " + std::to_string(number) + " has two ids: " + std::to_string(messages_[known->second - 1].id) +
                " and " + std::to_string(delivery.id),
            half);
    return nullptr;
}

// For the first time. It is due when it was made.
MessageModel* Oracle::check_met(MessageModel& half, const Delivered& delivery) {
    PreparedModel& model = *half.half;
    const std::uint64_t number = delivery.occurrence;
    const DueMs made = delivery.due_ms;
    const std::string name = "check " + std::to_string(number) + " of message " + std::to_string(half.id);
    const auto wrong = [&](std::string_view clause, const std::string& what) {
        violate(clause, name + ", made at " + at(made) + ", " + what, &half);
        return nullptr;
    };
    if (made < model.earliest_ms(number)) return wrong("C6", "comes before " + at(model.earliest_ms(number)));
    for (const auto& [other, serial] : model.checks) {
        const MessageModel& met = messages_[serial - 1];
        const DueMs between = (other < number ? made - *met.put.when.at_ms : *met.put.when.at_ms - made);
        const auto apart = static_cast<DueMs>(other < number ? number - other : other - number);
        const bool in_order = (other < number) == (met.id < delivery.id);
        if (!in_order || between < apart * model.rule.check_after_ms) {
            return wrong("C6", "comes too soon beside check " + std::to_string(other));
        }
    }
    if (made > model.settled_ms) return wrong("C4", "asks for what was answered at " + at(model.settled_ms));
    if (half.expires && made >= half.expires->high) return wrong("C3", "asks for a half whose time was over");
    for (const PurgeMark& mark : queue_of(half.put.name_space, half.put.queue).marks) {
        if (half.id <= mark.through && made > mark.answered_ms) return wrong("C3", "asks for a half that was purged");
    }
    if (serial_of_id_.contains(delivery.id) || delivery.id <= half.id) {
        return wrong("C6", "has an id that was given out before");
    }
    rare_.met(Rare::check_met);
    if (number > 1) rare_.met(Rare::second_check_met);
    if (model.settled_ms != INT64_MAX) rare_.met(Rare::check_met_after_its_half);
    MessageModel& about = messages_.emplace_back();
    about.serial = messages_.size();
    about.forgiven_high = run_;  // earlier runs may have delivered it, and each restart forgives an attempt
    about.parent = half.serial;
    about.occurrence = number;
    about.is_check = true;
    about.put = half.put;
    about.put.queue = model.rule.check_queue;
    about.put.order_key.clear();
    about.put.group.clear();
    about.put.retry = {};
    about.put.transaction.reset();
    about.put.key.clear();
    about.put.request_hash = 0;
    about.put.when = {made, 0};
    const DueMs expires = made + model.rule.check_after_ms;
    about.put.expires = When{expires, 0};
    about.expires = DueRange{expires, expires};
    about.first_put_ms = now_;
    about.was_told(delivery.delivered_ms, step_);
    about.answered = true;
    about.answered_step = step_;
    about.submitted_step = half.submitted_step;
    about.leases_lost_before = model.leases_lost_before;
    about.set({0, 0}, {about.fresh({made, made})});
    learn_rule(about);
    model.checks.emplace(number, about.serial);
    id_learned(about, delivery.id);
    asked_before_it_was_met(about, {World::Phase::live, {made, made}, {made, made}, {}});
    return violated() ? nullptr : &about;
}

std::uint64_t Oracle::checks_not_met(const QueueKey* queue) const {
    std::uint64_t sum = 0;
    for (const MessageModel& about : messages_) {
        if (!about.half || about.half->rule.check_queue.empty()) continue;
        const PreparedModel& half = *about.half;
        if (queue != nullptr && *queue != QueueKey{about.put.name_space, half.rule.check_queue}) continue;
        const DueMs until = std::max(latest(), half.put_ms);
        const auto due = static_cast<std::uint64_t>((until - half.put_ms) / half.rule.check_after_ms);
        const std::uint64_t most = std::min<std::uint64_t>(half.rule.check_times, due);
        sum += most - std::min<std::uint64_t>(most, half.checks.size());
    }
    return sum;
}

// ---- the end

// A check lives until the next one, so that consumers that have much else to take may come too late for it: seed 29 of
// 4,000 steps left them 12,000 messages, and they were at its queue again after 1.5 s.
bool Oracle::is_unhurried(const TransactionRule& rule) const {
    const DueMs slowest = std::max({kUnhurriedMs - 1, slowest_drain_ms_, now_ - drained_ms_});
    return rule.check_after_ms > slowest && !leases_in_use_;
}

void Oracle::leave_halves_alone() {
    alone_from_ms_ = now_;
    drained_ms_ = now_;
}

void Oracle::queues_are_drained() {
    slowest_drain_ms_ = std::max(slowest_drain_ms_, now_ - drained_ms_);
    drained_ms_ = now_;
}

// Its default holds, and at the end consumers were there for each check. But where names of queues are short, the one
// that a check needs may be one too many when it is to be made (seed 46878).
void Oracle::check_asked(const MessageModel& about) {
    const PreparedModel& half = *about.half;
    if (!half.checks_before_alone || !is_unhurried(half.rule) || queues_.size() > options_.queues_max) return;
    for (std::uint64_t number = *half.checks_before_alone + 1; number <= half.rule.check_times; ++number) {
        if (half.checks.contains(number)) continue;
        return violate("C6", "its default holds, and its producer never met check " + std::to_string(number), &about);
    }
    rare_.met(Rare::default_after_every_check);
}

std::vector<const MessageModel*> Oracle::halves_left() const {
    std::vector<const MessageModel*> halves;
    for (const MessageModel& about : messages_) {
        if (!about.half || about.id == 0) continue;
        const bool is_left = std::any_of(about.worlds().begin(), about.worlds().end(), [](const World& world) {
            return world.is_prepared() || (world.is_live() && world.due.high == kNeverMs);
        });
        if (is_left) halves.push_back(&about);
    }
    return halves;
}

// Left alone for as long as it takes, where time goes on step by step.
bool Oracle::half_had_its_time(const PreparedModel& half) const {
    if (alone_from_ms_ == kNeverMs) return false;
    return now_ > alone_from_ms_ + (static_cast<DueMs>(half.rule.check_times) + 2) * half.rule.check_after_ms;
}

// Its put was never answered, nothing kept it from its default, and nobody has met it since.
bool Oracle::half_is_over(const MessageModel& about) const {
    return about.id == 0 && half_had_its_time(*about.half);
}

// The first check would have made it known, and so would a commit.
bool Oracle::has_surely_ended(const MessageModel& about) const {
    return half_is_over(about) && is_unhurried(about.half->rule);
}

// When something may come of it. Where time went on in leaps it has had fewer checks than intervals: a look tells.
std::optional<DueMs> Oracle::next_due_of_half(const MessageModel& about) const {
    const PreparedModel& half = *about.half;
    if (half.told_due_ms > now_) return half.told_due_ms;
    if (half_had_its_time(half)) return std::nullopt;
    return now_ + half.rule.check_after_ms;
}

}  // namespace duewheel
