// Puts: one or many, with or without keys, and repeated; what their responses must contain, and what is known about a
// request of many puts whose response was lost.
#include <algorithm>
#include <utility>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

bool may_be_absent(const MessageModel& about) {
    return about.may_be(World::Phase::absent);
}

}  // namespace

// ---- what is sent

MessageModel* Oracle::holder_of(const PutCommand& put) {
    if (put.key.empty()) return nullptr;
    const auto found = serial_of_key_.find({put.name_space, put.queue, put.key});
    return found == serial_of_key_.end() ? nullptr : message(found->second);
}

bool Oracle::share_key(const MessageModel& left, const MessageModel& right) {
    return !left.put.key.empty() && left.put.key == right.put.key && left.put.queue == right.put.queue &&
           left.put.name_space == right.put.name_space;
}

// Whether another message may have its key: since it died, or ended, so much time may have passed.
bool Oracle::may_have_freed_its_key(const MessageModel& about, OnKey on_key) const {
    const std::int64_t kept_ms = on_key == OnKey::once ? options_.keys_kept_ms : -1;
    const Worlds worlds = with_open_commands(about, 0);
    return std::any_of(worlds.begin(), worlds.end(), [&](const World& world) {
        if (world.phase == World::Phase::absent) return false;
        DueMs ended = world.ended.low;
        if (world.is_unfinished()) {
            const bool may_have_ended = may_have_died(about) || about.may_have_expired(latest());
            if (!may_have_ended) return false;
            ended = may_have_died(about) ? 0 : about.expires->low;
        }
        return ended + kept_ms < latest();
    });
}

bool Oracle::has_surely_freed_its_key(const MessageModel& about, OnKey on_key, DueMs by) const {
    const World* world = about.certain();
    const std::int64_t kept_ms = on_key == OnKey::once ? options_.keys_kept_ms : 0;
    return world != nullptr && about.open.empty() && world->is_ended() && world->ended.high != 0 &&
           world->ended.high + kept_ms < by;
}

// Another message with the key of that one, and its content: it is there, or may be.
MessageModel& Oracle::take_key_over(std::uint64_t serial, const PutCommand& put) {
    rare_.met(Rare::key_taken_over);
    MessageModel fresh;
    fresh.put = put;
    fresh.put.on_key = OnKey::once;
    fresh.was_put_otherwise = messages_[serial - 1].was_put_otherwise;
    fresh.serial = messages_.size() + 1;
    fresh.first_put_ms = now_;
    fresh.submitted_step = messages_[serial - 1].submitted_step;
    fresh.leases_lost_before = messages_[serial - 1].leases_lost_before;
    fresh.expires = messages_[serial - 1].expires;
    loop_submitted(fresh);
    half_submitted(fresh);
    if (fresh.half && messages_[serial - 1].half) fresh.half->put_ms = messages_[serial - 1].half->put_ms;
    fresh.set({run_, 0}, {World{}});
    fresh.was_told(now_, step_);  // it has waited for no longer
    messages_.push_back(std::move(fresh));
    learn_rule(messages_.back());
    serial_of_key_[{put.name_space, put.queue, put.key}] = messages_.size();
    note(messages_.back(), "has the key of put", static_cast<std::int64_t>(serial));
    return messages_.back();
}

// A put that was sent again, and whose answer was lost. Where its key may have been free, it may be another message
// now.
void Oracle::put_lost(std::uint64_t serial, const PutCommand& put, DueMs submitted_ms) {
    const MessageModel& about = messages_[serial - 1];
    if (put.key.empty() || !may_have_freed_its_key(about, put.on_key)) return;
    const DueRange due = due_of_put(put, submitted_ms, {submitted_ms, now_});
    MessageModel& fresh = take_key_over(serial, put);
    fresh.carried_out = {submitted_ms, now_};
    fresh.set({run_ + 1, 0}, {World{}, fresh.fresh(due)});
}

// The newest message with its key and that content whose id no client knows.
std::uint64_t Oracle::unknown_with_key_of(std::uint64_t serial, const Content& content) const {
    const MessageModel& first = messages_[serial - 1];
    if (first.id == 0 && (!first.was_put_otherwise || first.may_have_content(content))) return serial;
    for (std::uint64_t at = messages_.size(); at > serial; --at) {
        const MessageModel& other = messages_[at - 1];
        if (other.id != 0 || !share_key(other, first)) continue;
        if (!other.was_put_otherwise || other.may_have_content(content)) return at;
    }
    return serial;
}

// Whether some message that may have the key was put with another request.
bool Oracle::may_conflict(const MessageModel& about, const PutCommand& put) const {
    return std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& other) {
        return share_key(other, about) && other.put.request_hash != put.request_hash;
    });
}

// The number of the message that is put, or that was put before under its key.
std::uint64_t Oracle::put_submitted(const PutCommand& put, ReplyToken token) {
    if (MessageModel* holder = holder_of(put)) {
        note(*holder, "put again", static_cast<std::int64_t>(token));
        // It may be this one that is executed, and clocks may have gone back since the first (seed 5085).
        if (put.on_key != OnKey::once) holder->was_put_otherwise = true;
        const bool may_be_the_first = !holder->answered && put.body != holder->put.body;
        if (put.on_key == OnKey::replace || may_be_the_first) holder->body.sent(put.body, token, step_);
        if (put.on_key == OnKey::replace) {
            ++holder->returns_open;
            holder->checkpoint.sent({}, token, step_);
        }
        if (!holder->answered) holder->carried_out.low = std::min(holder->carried_out.low, now_);
        if (!holder->answered && holder->half) holder->half->put_ms = std::min(holder->half->put_ms, now_);
        if (!holder->answered && holder->expires) {
            holder->expires->low = std::min(holder->expires->low, due_of(*put.expires, now_).low);
        }
        return holder->serial;
    }
    MessageModel& fresh = messages_.emplace_back();
    fresh.serial = messages_.size();
    fresh.put = put;
    fresh.first_put_ms = fresh.carried_out.low = now_;
    fresh.submitted_step = step_;
    fresh.leases_lost_before = leases_[put.queue].lost;
    fresh.set({run_, 0}, {World{}});
    learn_rule(fresh);
    if (put.expires) {
        fresh.expires = due_of(*put.expires, now_);
        if (!put.expires->at_ms) fresh.expires->high = kNeverMs;
    }
    loop_submitted(fresh);
    half_submitted(fresh);
    if (!put.key.empty()) serial_of_key_[{put.name_space, put.queue, put.key}] = fresh.serial;
    note(fresh, "put submitted: at, delay", put.when.at_ms.value_or(0), put.when.delay_ms);
    return fresh.serial;
}

void Oracle::batch_submitted(Request& request, ReplyToken token) {
    const auto& command = std::get<PutBatchCommand>(request.command);
    const std::uint64_t before = messages_.size();
    for (const PutCommand& put : command.puts) {
        put_tried(put, token, request.batch.size());
        const std::uint64_t serial = put_submitted(put, token);
        request.batch.push_back(serial);
        std::vector<ReplyToken>& open = message(serial)->open;
        if (std::find(open.begin(), open.end(), token) == open.end()) open.push_back(token);
    }
    request.first_of_batch = before + 1;
}

// ---- what is answered

// What was put before under its key. Puts with keys are due at an instant here, so that each try means the same.
void Oracle::put_repeated(ReplyToken token, const Request& request, const PutAnswer& answer, MessageModel& about) {
    const auto& put = std::get<PutCommand>(request.command);
    if (put.on_key == OnKey::replace || answer.kept != (put.on_key == OnKey::keep)) {
        return violate("C9", "a put is answered otherwise than its `on_key` says", &about);
    }
    MessageModel* known = message_of(answer.id);
    if (known != nullptr && known != &about && share_key(*known, about)) {
        // Either the other message with the key was never put, or this one has taken the key over.
        const bool may_be = known->serial > about.serial ? may_have_freed_its_key(about, put.on_key)
                                                         : may_be_absent(about) || known->may_be_back;
        if (!may_be || has_surely_freed_its_key(*known, put.on_key, request.submitted_ms)) {
            return violate("C9", "a put is answered with a message that has lost its key", known);
        }
        if (known->serial < about.serial)
            serial_of_key_[{known->put.name_space, known->put.queue, known->put.key}] = known->serial;
        return;
    }
    if ((known != nullptr && known != &about) || (about.id != 0 && about.id != answer.id)) {
        return violate("C9", "a repeated put is answered with another message", &about);
    }
    if (has_surely_freed_its_key(about, put.on_key, request.submitted_ms)) {
        return violate("C9", "a key is held for longer than it is kept", &about);
    }
    if (put.on_key == OnKey::once && put.request_hash != about.put.request_hash) {
        return violate("C9", "another request with the same key is answered as repeated", &about);
    }
    if (answer.kept) {
        if (!may_be_kept(about, request, answer)) {
            return violate("C9",
                           "kept as " + std::string(state_name(answer.state)) + ", due " + at(answer.due_ms) +
                               ", but it is " + describe(about.worlds()),
                           &about);
        }
        rare_.met(Rare::put_kept);
    } else if (!about.was_put_otherwise && !due_of(about.put.when, request.submitted_ms).holds(answer.due_ms)) {
        return violate("C9", "a repeated put is answered another due time", &about);
    }
    if (about.is_recurring()) {
        rare_.met(Rare::loop_put_again);
        if (answer.state == State::ready || answer.state == State::leased) {
            return violate("C6", "a put of a loop is answered as a message that somebody may have", &about);
        }
    }
    rare_.met(Rare::put_repeated);
    if (about.answered) {
        if (!about.may_be_unfinished()) rare_.met(Rare::put_repeated_after_the_end);
        return;
    }
    const Worlds worlds = explain(about, token, [](const World& world) { return world.phase != World::Phase::absent; });
    if (worlds.empty()) return violate("C9", "answered as repeated, but it was never put", &about);
    rare_.met(Rare::put_repeated_after_a_crash);
    batch_told(about, true);
    if (about.id == 0) ++totals_.messages;
    about.answered = true;
    if (worlds != about.worlds()) about.set({run_, 0}, worlds);
    if (about.id == 0) id_learned(about, answer.id);
}

void Oracle::put_replied(ReplyToken token, const Request& request, const PutAnswer& answer) {
    // Where it may have ended before, and freed its key, it is another one.
    const auto& put = [&]() -> const PutCommand& {
        if (const auto* one = std::get_if<PutCommand>(&request.command)) return *one;
        return messages_[request.serial - 1].put;
    }();
    std::uint64_t serial = request.serial;
    if (!answer.repeated && !answer.replaced && !put.key.empty()) {
        const MessageModel& holder = messages_[serial - 1];
        const bool was_there = holder.id != 0 || holder.worlds().size() > 1;
        const bool takes_over = was_there && may_have_freed_its_key(holder, put.on_key);
        if (takes_over) serial = take_key_over(serial, PutCommand(put)).serial;
    }
    MessageModel& about = messages_[serial - 1];
    note(about, answer.repeated ? "repeated: id, due" : "accepted: id, due", static_cast<std::int64_t>(answer.id),
         answer.due_ms);
    if (answer.replaced) return put_replaced(token, request, answer, about);
    if (answer.repeated) return put_repeated(token, request, answer, about);
    const Worlds& worlds = about.worlds();
    if (about.id != 0 || !may_be_absent(about)) return violate("C9", "a put with a key was carried out twice", &about);
    if (worlds.size() > 1 || request.submitted_ms > about.first_put_ms) {
        rare_.met(Rare::put_made_good_after_a_crash);
    }
    if (serial_of_id_.contains(answer.id)) {
        return violate("C1", "id " + std::to_string(answer.id) + " was given out twice", &about);
    }
    if (answer.id == 0 || answer.id % kShardsMax != options_.shard)
        return violate("X", "an id of another shard", &about);
    if (!put.key.empty()) {  // no put before it was carried out, whatever they said
        about.put.when = put.when;
        about.put.body = put.body;
        about.put.request_hash = put.request_hash;
        about.body = {};
    }
    about.carried_out = {request.submitted_ms, now_};
    const DueRange due = due_of_put(put, request.submitted_ms, about.carried_out);
    if (!due.holds(answer.due_ms)) {
        return violate("C2",
                       "a put is due at " + at(answer.due_ms) + " and not from " + at(due.low) + " to " + at(due.high),
                       &about);
    }
    batch_told(about, false);
    about.id = answer.id;
    about.answered = true;
    about.answered_step = step_;
    learn_rule(about);
    for (const PurgeMark& mark : queue_of(about.put.name_space, about.put.queue).marks) {
        if (answer.id <= mark.through) about.purge = MessageModel::Purge::surely;
    }
    if (about.expires) {
        about.expires->high = std::min(about.expires->high, due_of(*about.put.expires, request.submitted_ms).high);
        if (about.expires->high <= std::max(answer.due_ms, request.submitted_ms)) {
            return violate("C3", "a put that expires before it is due was accepted", &about);
        }
    }
    serial_of_id_[answer.id] = about.serial;
    ++totals_.messages;
    const DueRange exact{answer.due_ms, answer.due_ms};
    const bool has_no_expiry = put.expires && (put.expires->at_ms || put.expires->delay_ms < 1);
    if (put.repeat && (!about.is_recurring() || has_no_expiry || is_bad_loop(put, answer.due_ms))) {
        return violate("C6", "a loop was accepted that makes no sense", &about);
    }
    if (!answer.repeated && is_loop_of_long_ago(put, request.submitted_ms)) {
        return violate("C6", "a loop was accepted that would begin long ago", &about);
    }
    if (about.is_recurring()) {
        rare_.met(Rare::loop_put);
        about.loop->start = exact;
        if (answer.state == State::ready) return violate("C6", "a loop is answered as due itself", &about);
    }
    if ((answer.state == State::held) != about.put.is_held) {
        return violate("C4", "a put that is to be set aside is answered as none, or the other way round", &about);
    }
    if (about.put.is_held) rare_.met(about.is_recurring() ? Rare::loop_put_aside : Rare::put_aside);
    if ((answer.state == State::prepared) != about.half.has_value() || (put.transaction && !about.half)) {
        return violate("C6", "a put in a transaction is answered as none, or the other way round", &about);
    }
    if (about.half) rare_.met(Rare::half_put);
    about.set({run_, 0}, {about.fresh(exact)});
    check_limit(about, about.submitted_step);
    check_namespace_limit(about, about.submitted_step);
}

void Oracle::batch_replied(ReplyToken token, const Request& request, const PutBatchAnswer& answer) {
    const auto& command = std::get<PutBatchCommand>(request.command);
    if (answer.results.size() != command.puts.size()) return violate("X", "a batch of puts has not an answer for each");
    rare_.met(Rare::batch_put);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < answer.results.size() && !violated(); ++i) {
        const Request part{
            command.puts[i], request.submitted_ms, request.batch[i], 0, false, request.step, 0, 0, {}, {}, 0};
        const auto* answered = std::get_if<PutAnswer>(&answer.results[i]);
        put_told(command.puts[i], token, i, answered != nullptr && !answered->repeated);
        if (const auto* error = std::get_if<Error>(&answer.results[i])) {
            ++refused;
            error_replied(part, *error);
        } else {
            put_replied(token, part, std::get<PutAnswer>(answer.results[i]));
        }
    }
    if (refused > 0 && refused < answer.results.size()) rare_.met(Rare::batch_put_partly_refused);
}

// ---- requests of many whose answer was lost: all that could be taken is there, or nothing

// Nothing that is known could have refused it.
bool Oracle::is_surely_taken(const MessageModel& about, const Request& request) {
    const PutCommand& put = about.put;
    const DueMs ahead = put.when.at_ms ? *put.when.at_ms - request.submitted_ms : put.when.delay_ms;
    const QueueModel& queue = queue_of(put.name_space, put.queue);
    const bool has_no_limit = queue.is_known && queue.open.empty() && queue.settings.pending_max == 0 &&
                              queue.settings_step < request.step && !namespace_of(put.name_space).was_limited;
    if (put.transaction) return false;  // its default may end it unmet
    if (put.repeat && (put.repeat->until_ms || is_bad_loop(put, INT64_MIN))) return false;
    if (is_loop_of_long_ago(put, latest())) return false;
    return !put.expires && ahead <= options_.delay_max_ms && has_no_limit && options_.queues_max > kQueuesAtMost;
}

void Oracle::puts_lost(const Request& request) {
    // From now on it is unknown which of the requests that were sent before was executed.
    if (request.serial != 0) message(request.serial)->lost_batch = 0;
    for (const std::uint64_t serial : request.batch) message(serial)->lost_batch = 0;
    if (std::holds_alternative<TakeRecordsCommand>(request.command)) return;  // the position tells (oracle_inputs.cc)
    LostBatch lost;
    for (const std::uint64_t serial : request.batch) {
        const bool is_twice = std::find(lost.serials.begin(), lost.serials.end(), serial) != lost.serials.end();
        if (serial < request.first_of_batch || is_twice || !is_surely_taken(*message(serial), request)) continue;
        lost.serials.push_back(serial);
    }
    if (lost.serials.size() < 2) return;
    for (const std::uint64_t serial : lost.serials) message(serial)->lost_batch = lost_batches_.size() + 1;
    lost_batches_.push_back(std::move(lost));
}

// It has turned out whether the put of a lost batch was executed.
void Oracle::batch_told(MessageModel& about, bool was_put) {
    const std::size_t number = std::exchange(about.lost_batch, 0);
    if (number == 0 || !about.open.empty()) return;
    LostBatch& batch = lost_batches_[number - 1];
    (was_put ? batch.there : batch.not_there) = about.serial;
    if (batch.there == 0 || batch.not_there == 0) {
        rare_.met(was_put ? Rare::lost_batch_found_there : Rare::lost_batch_found_missing);
        return;
    }
    violate("C1",
            "of a batch of puts one was carried out (put " + std::to_string(batch.there) + ") and one was not (put " +
                std::to_string(batch.not_there) + ")",
            &about);
}

// Everything was drained, so who was not met was never there, unless it ended without a word.
void Oracle::check_lost_batches() {
    for (const LostBatch& batch : lost_batches_) {
        if (batch.there == 0) continue;
        for (const std::uint64_t serial : batch.serials) {
            MessageModel& about = *message(serial);
            const bool may_have_ended = queue_of(about.put.name_space, about.put.queue).was_purged ||
                                        may_be_let_go(about) || may_be_discarded(about) ||
                                        (about.is_recurring() && may_have_vanished(about, 1));
            if (about.id != 0 || about.lost_batch == 0 || may_have_ended) continue;
            return violate("C1",
                           "of a batch of puts one was carried out (put " + std::to_string(batch.there) +
                               "), and this one never came",
                           &about);
        }
    }
}

}  // namespace duewheel
