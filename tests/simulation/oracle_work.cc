// What workers say beside the end of a lease, and what is shown of it: the result of an ack, the checkpoint of an
// extension, the timeline of a message; and requests that wait for the end of a message.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {

// ---- results

// All acks of a lease say the same, so that it does not matter which of them was carried out. Some say nothing.
std::string Oracle::result_of(const LeaseToken& lease) {
    if ((lease.id / kShardsMax + lease.attempt) % 2 == 0) return {};
    return "[" + std::to_string(lease.attempt) + "," + std::to_string(lease.incarnation) + "]";
}

bool Oracle::is_lease_of_a_client(const LeaseToken& lease) const {
    const auto found = serial_of_id_.find(lease.id);
    const SeenDelivery* delivery = found == serial_of_id_.end() ? nullptr : message(found->second)->delivery_of(lease);
    return delivery != nullptr && !delivery->ends_with_server;
}

// The result is that of the lease whose ack ended the message, for as long as its outcome is shown.
void Oracle::check_result(const MessageModel& about, const MessageRow& row, const Worlds& worlds) {
    if (row.state.state != State::done) {
        if (!row.state.work->result.empty()) violate("C8", "what is not done has a result", &about);
        return;
    }
    const std::string& result = row.state.work->result;
    const bool may_be = std::any_of(worlds.begin(), worlds.end(), [&](const World& world) {
        if (world.phase != World::Phase::done) return false;
        const auto by = std::find_if(about.deliveries.begin(), about.deliveries.end(), [&](const SeenDelivery& seen) {
            return seen.token.attempt == world.attempt && seen.token.incarnation == world.incarnation;
        });
        if (by == about.deliveries.end()) return result.empty();
        return result == (by->ends_with_server ? std::string() : result_of(by->token));
    });
    if (!may_be) return violate("C8", "done with the result `" + result + "`, which its ack did not give", &about);
    if (!result.empty()) rare_.met(Rare::result_shown);
}

// ---- checkpoints

void Oracle::checkpoint_answered(ReplyToken token, const Request& request, const Reply& reply) {
    const auto* extend = std::get_if<ExtendCommand>(&request.command);
    if (extend == nullptr || !extend->checkpoint || !request.known_lease) return;
    const auto* end = std::get_if<LeaseEndAnswer>(&reply);
    WrittenText& checkpoint = message(request.serial)->checkpoint;
    if (end != nullptr && end->outcome == LeaseOutcome::extended) return checkpoint.accepted(token, step_, now_);
    checkpoint.refused(token);
}

void Oracle::check_checkpoint(const MessageModel& about, const Delivered& delivery) {
    const bool is_told_late =
        std::any_of(about.deliveries.begin(), about.deliveries.end(),
                    [&](const SeenDelivery& seen) { return seen.run == run_ && seen.attempt > delivery.attempt; });
    if (is_told_late) return;
    if (!about.checkpoint.may_be(delivery.checkpoint)) {
        return violate("C8", "delivered with the checkpoint `" + delivery.checkpoint + "`, which is not the last one",
                       &about);
    }
    if (delivery.checkpoint.empty()) return;
    const bool is_of_this_run = std::any_of(about.deliveries.begin(), about.deliveries.end(),
                                            [&](const SeenDelivery& seen) { return seen.run == run_; });
    rare_.met(is_of_this_run ? Rare::checkpoint_delivered : Rare::checkpoint_delivered_after_restart);
}

// ---- timelines

// What an attempt ends as by a command that ends its lease.
AttemptOutcome Oracle::end_by(const Command& command) {
    if (std::holds_alternative<AckCommand>(command)) return AttemptOutcome::done;
    if (std::holds_alternative<FailCommand>(command)) return AttemptOutcome::failed;
    return std::holds_alternative<ReleaseCommand>(command) ? AttemptOutcome::released : AttemptOutcome::held;
}

// An end of a lease was answered, and so its attempt belongs to the timeline.
void Oracle::attempt_ended(SeenDelivery& delivery, const Command& command) {
    delivery.told_end = end_by(command);
    delivery.told_end_step = step_;
}

void Oracle::check_timeline(const Request& request, const MessageModel& about, const MessageAnswer& answer) {
    const std::vector<PastAttempt>& timeline = answer.timeline;
    std::uint32_t before = 0;
    std::size_t ended = 0;
    for (const PastAttempt& past : timeline) {
        if (past.attempt <= before || past.attempt > answer.row.state.attempts) {
            return violate("X", "attempt " + std::to_string(past.attempt) + " stands in a timeline out of order",
                           &about);
        }
        before = past.attempt;
        if (past.ended_ms != 0) {
            ++ended;
        } else if (&past != &timeline.back() || answer.row.state.state != State::leased) {
            return violate("X", "an attempt that goes on stands in a timeline, and it is not leased", &about);
        }
        for (const SeenDelivery& seen : about.deliveries) {
            if (seen.attempt != past.attempt || !seen.told_end || seen.told_end_step >= request.step) continue;
            const bool is_it = past.outcome == *seen.told_end && past.worker == seen.worker && past.ended_ms != 0 &&
                               past.started_ms == seen.delivered_ms;
            if (!is_it) {
                return violate("X",
                               "attempt " + std::to_string(past.attempt) + " stands in a timeline as " +
                                   std::string(attempt_outcome_name(past.outcome)) + " of " + past.worker + ", from " +
                                   at(past.started_ms) + " to " + at(past.ended_ms),
                               &about);
            }
        }
    }
    if (ended > kPastAttemptsMax) return violate("C11", "a timeline is longer than its limit", &about);
    if (ended > 1) rare_.met(Rare::timeline_of_several);
    // A purge leaves none, and neither does a put that replaces the message.
    if (answer.row.state.state == State::cancelled || about.was_put_otherwise) return;
    for (const SeenDelivery& seen : about.deliveries) {
        // The ack of a short attempt may leave no trace, unless it has a name.
        const bool must_be = seen.told_end && (*seen.told_end != AttemptOutcome::done || !seen.worker.empty());
        if (!must_be || seen.told_end_step >= request.step) continue;
        if (answer.row.state.attempts >= seen.attempt + kPastAttemptsMax) continue;
        const bool is_there = std::any_of(timeline.begin(), timeline.end(),
                                          [&](const PastAttempt& past) { return past.attempt == seen.attempt; });
        if (!is_there) {
            return violate("X", "attempt " + std::to_string(seen.attempt) + " is missing in a timeline", &about);
        }
    }
}

// ---- requests that wait

bool Oracle::waits_for_an_end(const Command& command) {
    const auto* get = std::get_if<GetCommand>(&command);
    return get != nullptr && get->wait_ms > 0;
}

void Oracle::check_wait(const Request& request, const MessageModel& about, State state) {
    if (!waits_for_an_end(request.command)) return;
    const DueMs until = request.submitted_ms + std::get<GetCommand>(request.command).wait_ms;
    if (is_ended(state)) {
        if (now_ > request.submitted_ms) rare_.met(Rare::wait_answered_at_the_end);
    } else if (now_ >= until) {
        rare_.met(Rare::wait_ran_out);
    } else if (!is_stopping_ && !about.may_be_back) {  // or it was dead for a moment
        violate("X", "a request that waits until " + at(until) + " for the end is answered before it", &about);
    }
}

// Everything has settled: its message has not ended, or not for certain, and its time is not over. It counts from when
// the request was carried out, which was before the first time that everything had settled.
bool Oracle::may_still_wait(Request& request) const {
    if (!waits_for_an_end(request.command)) return false;
    if (request.settled_ms == 0) request.settled_ms = now_;
    if (now_ >= request.settled_ms + std::get<GetCommand>(request.command).wait_ms) return false;
    const MessageModel* about = message(request.serial);
    if (about == nullptr) return false;
    return std::any_of(about->worlds().begin(), about->worlds().end(),
                       [](const World& world) { return !world.is_ended() && world.phase != World::Phase::dead; });
}

}  // namespace duewheel
