#include "engine/messages/message_leases.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {

Verdict MessageLeases::decide(PendingCommand& pending, const LeaseMessageCommand& command) {
    if (command.lease_ms) {
        if (Status legal = check_lease_time(*command.lease_ms); !legal) {
            return replied(pending, std::move(legal).error());
        }
    }
    const Known known = finder_.find(pending, command.id, &command.name_space);
    if (known.what == Known::What::gone) return replied(pending, gone());
    if (const auto verdict = finder_.answer_unless_here(known, pending, command.id)) return *verdict;
    if (known.what == Known::What::ended) return replied(pending, not_leasable("has ended"));
    if (std::optional<Error> obstacle = find_obstacle(known.entry)) {
        return finder_.replied_unchanged(known, pending, *std::move(obstacle));
    }
    if (!run_.serving) return finder_.withdraw(known), Verdict::deferred;
    const Entry& entry = recent_.entry(known.entry);
    const LeaseTerms terms{command.lease_ms.value_or(queues_.lease_time(queues_.at(entry.queue))),
                           command.ends_with_server};
    if (entry.waits_for == WaitsFor::consumer) {
        dispatcher_.lease_ready(known.entry, pending.token, terms);
        return Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return finder_.withdraw(known), Verdict::settled;
    if (entry.state() == State::dead) {
        const QueueName& at = recent_.queues().name(entry.queue);
        if (Status room = queues_.take_room(entry.queue, at.name_space, at.queue); !room) {
            return finder_.replied_unchanged(known, pending, std::move(room).error());
        }
    }
    promises_[entry.id] = {.token = pending.token, .terms = terms};
    add(known.entry, due_now(entry), 0, Error{});
    return Verdict::settled;
}

std::optional<Error> MessageLeases::find_obstacle(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    const bool waits = waits_for_due(entry.state());
    if (entry.state() == State::leased) return not_leasable("is leased by a consumer: try again after its lease");
    if (entry.state() == State::prepared) return not_leasable("is prepared: commit it first");
    if (recent_.is_recurring(entry)) return not_leasable("is a recurring message: lease one of its occurrences");
    if (entry.waits_for != WaitsFor::consumer && !recent_.order_key(number).empty()) {
        return not_leasable("has an order key, and it is not its turn: lease it when it is ready");
    }
    if (lifecycle_.is_purged(entry) || dead_writer_.is_discarded(entry)) return not_leasable("is about to be removed");
    if (waits && lifecycle_.is_used_up(entry) && !queues_.outlasts_lost_leases(entry.queue)) {
        return not_leasable("has no attempts left: lease it when it is a dead letter");
    }
    if (queues_.at(entry.queue).paused) return not_leasable("is in a paused queue: resume the queue first");
    if (!queues_.may_lease(queues_.at(entry.queue), lifecycle_.leases().size() + promises_.size())) {
        return not_leasable("cannot be leased now, because as many are leased as may be: try again later");
    }
    if (lifecycle_.turns().why_limited(entry.queue, recent_.groups()[recent_.group_of(number)].group) !=
        ErrorCode::none) {
        return not_leasable(
            "cannot be leased now, because a limit of its queue or its group is reached: try again later");
    }
    return std::nullopt;
}

MessageRecord MessageLeases::due_now(const Entry& entry) const {
    MessageRecord record;
    if (waits_for_due(entry.state())) {
        record = changed(entry, RecordKind::change, Cause::fired_now);
        record.state.state = State::scheduled;
        record.state.due_ms = std::min(entry.due_ms, now_);
    } else {
        record = dead_writer_.redrive_record(entry, entry.state() == State::dead ? Cause::redriven : Cause::kicked);
        record.state.due_ms = now_;
    }
    if (!record.state.key.empty() && record.state.first_due_ms == 0) {
        record.state.first_due_ms = record.state.nominal_due_ms;
    }
    record.state.nominal_due_ms = std::min(record.state.nominal_due_ms, record.state.due_ms);
    return record;
}

void MessageLeases::lease_promised(MessageId id) {
    const auto found = promises_.find(id);
    if (found == promises_.end()) return;
    const Promise promise = found->second;
    promises_.erase(found);
    const EntryNumber number = recent_.find(id);
    assert(number != kNoEntry);  // the index does not contain its change yet
    std::optional<Error> obstacle = find_obstacle(number);
    if (!obstacle && recent_.entry(number).state() != State::ready) obstacle = not_leasable("has expired");
    if (obstacle) return reply(promise.token, Error{"made_ready"_code, obstacle->message + "; it was made due"});
    dispatcher_.lease_ready(number, promise.token, promise.terms);
}

void MessageLeases::forget(ReplyToken token) {
    std::erase_if(promises_, [token](const auto& promise) { return promise.second.token == token; });
}

}  // namespace duewheel
