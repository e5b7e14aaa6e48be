#include "ingress/late_outcome.h"

#include <type_traits>
#include <variant>

namespace duewheel {

std::optional<ChangeOutcome> wanted_outcome(const Command& command) {
    return std::visit(
        [](const auto& of) -> std::optional<ChangeOutcome> {
            using T = std::decay_t<decltype(of)>;
            if constexpr (std::is_same_v<T, CancelCommand>) return ChangeOutcome::cancelled;
            if constexpr (std::is_same_v<T, DiscardCommand>) return ChangeOutcome::cancelled;
            if constexpr (std::is_same_v<T, RescheduleCommand>) return ChangeOutcome::rescheduled;
            if constexpr (std::is_same_v<T, FireCommand>) return ChangeOutcome::fired;
            if constexpr (std::is_same_v<T, HoldCommand>) return ChangeOutcome::held;
            if constexpr (std::is_same_v<T, KickCommand>) return ChangeOutcome::kicked;
            return std::nullopt;
        },
        command);
}

std::optional<Error> refusal_of(const ChangeAnswer& answer, ChangeOutcome wanted) {
    if (answer.outcome == wanted) return std::nullopt;
    switch (answer.outcome) {
        case ChangeOutcome::waiting:
            return Error{"already_waiting",
                         "the message waits for its delivery: it is neither held nor dead, and nothing was changed; to "
                         "end it, cancel it"};
        case ChangeOutcome::in_flight:
            return Error{"in_flight",
                         "a consumer holds the message, and nothing was changed: try again when its lease has ended, "
                         "or leave the message to the consumer"};
        case ChangeOutcome::delivered:
            return Error{"already_delivered",
                         "a consumer has acknowledged the message, and nothing was changed: put another one"};
        case ChangeOutcome::dead:
            return Error{"already_dead",
                         "the message has used up its attempts, and nothing was changed: bring it back with kick, or "
                         "end it for good with discard"};
        case ChangeOutcome::expired:
            return Error{"already_expired",
                         "the message has expired, and nothing was changed: put it again, if it is still wanted"};
        case ChangeOutcome::cancelled:
            return Error{"already_cancelled",
                         "the message was cancelled before, and nothing was changed: put it again, if it is still "
                         "wanted"};
        default:
            return Error{"gone",
                         "the message ended longer ago than outcomes are kept, and nothing was changed; the history "
                         "of its queue may still tell how"};
    }
}

std::optional<Error> refusal_of(const LeaseEndAnswer& answer) {
    if (answer.outcome != LeaseOutcome::expired) return std::nullopt;
    return Error{"lease_ended",
                 "the lease had ended before: by time, by another call, with the server that gave it, or because the "
                 "message has expired; another consumer may have the message: lease for longer, or extend the lease "
                 "while the work goes on"};
}

std::optional<Error> late_refusal(const Reply& reply, std::optional<ChangeOutcome> wanted) {
    if (const auto* change = std::get_if<ChangeAnswer>(&reply); change != nullptr && wanted) {
        return refusal_of(*change, *wanted);
    }
    if (const auto* end = std::get_if<LeaseEndAnswer>(&reply)) return refusal_of(*end);
    return std::nullopt;
}

}  // namespace duewheel
