#include "simulation/random_limits.h"

#include <iterator>
#include <memory>
#include <utility>
#include <variant>

namespace duewheel {
namespace {

// What a command is about.
struct About {
    bool is_of_a_namespace = false;
    bool is_of_a_queue = false;  // by name, by the id of a message, or by a lease
    bool brings_a_rule = false;  // of a schedule or a watchdog
};

About about(const Command& command) {
    return std::visit(
        [](const auto& named) {
            About what;
            what.is_of_a_namespace = requires {
                named.name_space;
            }
            || requires {
                named.lease.code;
            }
            || requires {
                named.puts;
            };
            what.is_of_a_queue = requires {
                named.queue;
            }
            || requires {
                MessageId{named.id};
            }
            || requires {
                named.lease.code;
            }
            || requires {
                named.puts;
            };
            what.brings_a_rule = requires {
                named.rule;
            };
            return what;
        },
        command);
}

// Messages of records are named by key.
bool is_by_key(const Command& command) {
    return std::visit(
        [](const auto& named) {
            if constexpr (requires { named.by_key.queue; }) return named.by_key.is_given();
            return false;
        },
        command);
}

}  // namespace

SharedLimits random_limits(const Command& command, const SimOptions& options, Random& random) {
    constexpr const char* kPrefixes[] = {"q", "q0", "q1", "q2", "z"};
    if (!random.chance(150'000)) return nullptr;
    if (std::holds_alternative<TakeRecordsCommand>(command) || is_by_key(command)) return nullptr;
    const About what = about(command);
    if (what.brings_a_rule) return nullptr;
    AccessLimits limits;
    if (what.is_of_a_namespace && random.chance(600'000)) {
        if (random.chance(700'000)) limits.namespaces.push_back(options.name_spaces[0]);
        if (random.chance(500'000)) limits.namespaces.push_back(options.name_spaces[1]);
    }
    if (what.is_of_a_queue && random.chance(600'000))
        limits.queue_prefix = kPrefixes[random.below(std::size(kPrefixes))];
    if (limits == AccessLimits{}) return nullptr;
    return std::make_shared<const AccessLimits>(std::move(limits));
}

}  // namespace duewheel
