#include "engine/commands/command_limits.h"

#include <type_traits>
#include <variant>

namespace duewheel {

Status check_limits(const PutCommand& put, const AccessLimits& limits) {
    if (!limits.admits_namespace(put.name_space)) return outside_namespaces(put.name_space);
    if (!limits.admits_queue(put.queue)) return outside_queues(limits, "queue");
    if (put.transaction && !put.transaction->check_queue.empty() &&
        !limits.admits_queue(put.transaction->check_queue)) {
        return outside_queues(limits, "transaction.check_back.queue");
    }
    return {};
}

Status check_limits(const Command& command, const AccessLimits& limits) {
    return std::visit(
        [&](const auto& named) -> Status {
            using T = std::decay_t<decltype(named)>;
            if constexpr (std::is_same_v<T, PutCommand>) {
                return check_limits(named, limits);
            } else if constexpr (requires { named.puts; }) {
                for (const PutCommand& put : named.puts) {
                    if (Status fine = check_limits(put, limits); !fine) return fine;
                }
                return {};
            } else {
                if constexpr (requires { named.name_space; }) {
                    if (!limits.admits_namespace(named.name_space)) return outside_namespaces(named.name_space);
                }
                // A forecast without a queue is one of all of them.
                if constexpr (requires { named.queue; }) {
                    if (!limits.admits_queue(named.queue)) return outside_queues(limits, "queue");
                }
                if constexpr (requires { named.by_key; }) {
                    if (named.by_key.is_given() && !limits.admits_queue(named.by_key.queue)) {
                        return outside_queues(limits, "queue");
                    }
                }
                return {};
            }
        },
        command);
}

}  // namespace duewheel
