// What may be the name of a queue, a namespace, a schedule or a watchdog: letters, marks and digits of any script and a
// few signs of ASCII, in Unicode's normalization form C. docs/decisions/2026-11-27-names-in-any-script.md says why so.
//
// Names are compared and ordered by their bytes. What was a name stays one: no later version of Unicode takes a letter
// away or changes the normal form of one that there is.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// What has the name, as errors say it.
struct NameOwner {
    std::string_view code;
    std::string_view whose;
    std::string_view field;
};
inline constexpr NameOwner kQueueName = NameOwner{"bad_queue_name", "a queue's", "queue"};
inline constexpr NameOwner kNamespaceName = NameOwner{"bad_namespace", "a namespace's", "namespace"};
inline constexpr NameOwner kScheduleName = NameOwner{"bad_schedule_name", "a schedule's", "schedule"};
inline constexpr NameOwner kWatchdogName = NameOwner{"bad_watchdog_name", "a watchdog's", "watchdog"};

// The owner's code where this is no name. O(size); a name of ASCII alone is looked at once.
Status check_name(std::string_view name, std::size_t bytes_max, const NameOwner& owner);

}  // namespace duewheel
