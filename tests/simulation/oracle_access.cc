// Commands with the limits of a token. A command that names something outside is refused as forbidden. A message
// outside looks like one that does not exist, and its lease like one that has ended. None of these changes anything:
// the worlds of messages do not get to know of them. A command within its limits is judged like one without.
#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

// Written out by hand, so that it is not the code that it judges.
bool is_admitted(const AccessLimits& limits, const std::string& name_space, const std::string& queue) {
    bool has_namespace = limits.namespaces.empty();
    for (const std::string& each : limits.namespaces) has_namespace |= each == name_space;
    return has_namespace && queue.compare(0, limits.queue_prefix.size(), limits.queue_prefix) == 0;
}

bool names_outside(const PutCommand& put, const AccessLimits& limits) {
    if (!is_admitted(limits, put.name_space, put.queue)) return true;
    const bool has_checks = put.transaction && !put.transaction->check_queue.empty();
    return has_checks && !is_admitted(limits, put.name_space, put.transaction->check_queue);
}

bool names_outside(const Command& command, const AccessLimits& limits) {
    if (const auto* put = std::get_if<PutCommand>(&command)) return names_outside(*put, limits);
    if (const auto* batch = std::get_if<PutBatchCommand>(&command)) {
        for (const PutCommand& put : batch->puts) {
            if (names_outside(put, limits)) return true;
        }
        return false;
    }
    return std::visit(
        [&](const auto& named) {
            if constexpr (requires { named.name_space + named.queue; }) {
                return !is_admitted(limits, named.name_space, named.queue);
            } else if constexpr (requires { named.name_space; }) {
                return !is_admitted(limits, named.name_space, limits.queue_prefix);
            } else {
                return false;
            }
        },
        command);
}

}  // namespace

// Whether the command is to be refused for the limits; remembers it then.
bool Oracle::outside_submitted(const Command& command, const AccessLimits& limits, ReplyToken token) {
    OutsideRequest request;
    request.names_it = names_outside(command, limits);
    request.is_of_a_lease = std::visit(
        [](const auto& named) {
            return requires {
                named.lease.code;
            };
        },
        command);
    if (!request.names_it) {
        const MessageModel* about = message_of(id_of(command));
        if (about == nullptr || is_admitted(limits, about->put.name_space, about->put.queue)) return false;
        request.serial = about->serial;
    }
    outside_.emplace(token, request);
    return true;
}

void Oracle::outside_replied(const OutsideRequest& request, const Reply& reply) {
    const auto* error = std::get_if<Error>(&reply);
    const ErrorCode code = error == nullptr ? ErrorCode::none : error->code;
    if (request.names_it) {
        if (code == "forbidden"_code) return rare_.met(Rare::forbidden_outside_its_limits);
        return violate("C12", "a command that names what its limits exclude is not refused as forbidden");
    }
    const MessageModel* about = message(request.serial);
    if (code == "too_busy"_code) return rare_.met(Rare::too_busy);
    if (code == "delay_too_long"_code) return;  // of every message, before it is looked up
    if (request.is_of_a_lease) {
        const auto* end = std::get_if<LeaseEndAnswer>(&reply);
        const bool has_ended = end != nullptr && end->outcome == LeaseOutcome::expired;
        if (has_ended || code == "bad_lease_token"_code) return rare_.met(Rare::lease_outside_its_limits);
        return violate("C12", "a lease outside the limits of its command is known", about);
    }
    // A command by key names its queue.
    if (code == "unknown_id"_code || code == "forbidden"_code) return rare_.met(Rare::unknown_outside_its_limits);
    violate("C12",
            "a message outside the limits of its command is known" +
                (code == ErrorCode::none ? std::string() : ": refused with " + std::string(name_of(code))),
            about);
}

// A message that ended longer ago than its end is kept is gone, and nothing tells whose it was: with limits it is
// unknown.
bool Oracle::is_forgotten_within_limits(const Request& request, const Error& error) const {
    const MessageModel* about = message(request.serial);
    if (!request.is_limited || about == nullptr || error.code != "unknown_id"_code) return false;
    return std::visit(
        [&](const auto& named) {
            if constexpr (requires { named.name_space; }) return named.name_space == about->put.name_space;
            return false;
        },
        request.command);
}

}  // namespace duewheel
