#include "http_api/calls/late_outcome.h"

#include <type_traits>
#include <variant>

#include "base/error_codes.h"

namespace duewheel {

std::optional<ChangeOutcome> wanted_outcome(const Command& command) {
    return std::visit(
        [](const auto& of) -> std::optional<ChangeOutcome> {
            using T = std::decay_t<decltype(of)>;
            if constexpr (std::is_same_v<T, CancelCommand>) return ChangeOutcome::cancelled;
            if constexpr (std::is_same_v<T, DiscardCommand>) return ChangeOutcome::cancelled;
            if constexpr (std::is_same_v<T, RescheduleCommand>) return ChangeOutcome::rescheduled;
            if constexpr (std::is_same_v<T, PatchMessageCommand>) return ChangeOutcome::changed;
            if constexpr (std::is_same_v<T, FireCommand>) return ChangeOutcome::fired;
            if constexpr (std::is_same_v<T, HoldCommand>) return ChangeOutcome::held;
            if constexpr (std::is_same_v<T, KickCommand>) return ChangeOutcome::kicked;
            return std::nullopt;
        },
        command);
}

std::optional<Error> refusal_of(const ChangeAnswer& answer, ChangeOutcome wanted) {
    const bool is_requested = answer.outcome == ChangeOutcome::cancelling;  // only a cancel with `running` gets this
    if (answer.outcome == wanted || is_requested) return std::nullopt;
    switch (answer.outcome) {
        case ChangeOutcome::waiting:
            return Error{"already_waiting"_code,
                         "the message waits for delivery: it is neither held nor a dead letter, and nothing was "
                         "changed; to end it, cancel it"};
        case ChangeOutcome::in_flight:
            return Error{"in_flight"_code,
                         "a consumer has leased the message, and nothing was changed: try again after the lease has "
                         "ended, or cancel it with running=true, which asks the consumer to stop"};
        case ChangeOutcome::delivered:
            return Error{"already_delivered"_code,
                         "a consumer has acknowledged the message, and nothing was changed: put another one"};
        case ChangeOutcome::dead:
            return Error{"already_dead"_code,
                         "the message is a dead letter, and nothing was changed: return it to its queue with kick, or "
                         "end it for good with discard"};
        case ChangeOutcome::expired:
            return Error{"already_expired"_code,
                         "the message has expired, and nothing was changed: put it again if it is still needed"};
        case ChangeOutcome::cancelled:
            return Error{
                "already_cancelled"_code,
                "the message was cancelled earlier, and nothing was changed: put it again if it is still needed"};
        default:
            return Error{"gone"_code,
                         "the message ended longer ago than outcomes are kept, and nothing was changed; the history of "
                         "its queue may still show how"};
    }
}

std::optional<Error> refusal_of(const LeaseEndAnswer& answer) {
    if (answer.outcome != LeaseOutcome::expired) return std::nullopt;
    if (answer.by_restart) {
        return Error{"lease_ended"_code,
                     "the server was restarted, and this lease did not outlast that: it was granted or extended less "
                     "than a second before. Another consumer may have the message now; the server delivers it again "
                     "unless it has ended"};
    }
    return Error{"lease_ended"_code,
                 "the lease has already ended: it timed out, another call ended it, or the message expired. Another "
                 "consumer may have the message now. Use longer leases, or extend the lease during the work"};
}

std::optional<Error> late_refusal(const Reply& reply, std::optional<ChangeOutcome> wanted) {
    if (const auto* change = std::get_if<ChangeAnswer>(&reply); change != nullptr && wanted) {
        return refusal_of(*change, *wanted);
    }
    if (const auto* end = std::get_if<LeaseEndAnswer>(&reply)) return refusal_of(*end);
    return std::nullopt;
}

}  // namespace duewheel
