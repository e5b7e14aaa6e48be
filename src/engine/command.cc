#include "engine/command.h"

namespace duewheel {

std::string_view change_outcome_name(ChangeOutcome outcome) {
    switch (outcome) {
        case ChangeOutcome::cancelled:
            return "cancelled";
        case ChangeOutcome::rescheduled:
            return "rescheduled";
        case ChangeOutcome::fired:
            return "fired";
        case ChangeOutcome::held:
            return "held";
        case ChangeOutcome::kicked:
            return "kicked";
        case ChangeOutcome::waiting:
            return "waiting";
        case ChangeOutcome::in_flight:
            return "in_flight";
        case ChangeOutcome::delivered:
            return "delivered";
        case ChangeOutcome::dead:
            return "dead";
        case ChangeOutcome::expired:
            return "expired";
        case ChangeOutcome::gone:
            return "gone";
    }
    return "unknown";
}

std::string_view cause_name(Cause cause) {
    switch (cause) {
        case Cause::acknowledged:
            return "acknowledged";
        case Cause::cancelled:
            return "cancelled";
        case Cause::expired:
            return "expired";
        case Cause::attempts_used_up:
            return "attempts_used_up";
        case Cause::purged:
            return "purged";
        case Cause::rolled_back:
            return "rolled_back";
        case Cause::skipped:
            return "skipped";
        case Cause::merged:
            return "merged";
        case Cause::failed:
            return "failed";
        case Cause::spawned:
            return "spawned";
        case Cause::kept_long_enough:
            return "kept_long_enough";
        case Cause::discarded:
            return "discarded";
        case Cause::lease_lost:
            return "lease_lost";
        case Cause::unanswered:
            return "unanswered";
        default:
            return "other";
    }
}

std::string_view lease_outcome_name(LeaseOutcome outcome) {
    switch (outcome) {
        case LeaseOutcome::done:
            return "done";
        case LeaseOutcome::retrying:
            return "retrying";
        case LeaseOutcome::dead:
            return "dead";
        case LeaseOutcome::extended:
            return "extended";
        case LeaseOutcome::released:
            return "released";
        case LeaseOutcome::held:
            return "held";
        case LeaseOutcome::expired:
            return "expired";
        case LeaseOutcome::purged:
            return "purged";
    }
    return "unknown";
}

}  // namespace duewheel
