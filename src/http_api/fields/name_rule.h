// Valid names of queues, namespaces, schedules and watchdogs: letters, marks and digits of any script and some ASCII
// punctuation, in Unicode normalization form C. docs/decisions/2026-11-27-names-in-any-script.md has the reasons.
//
// Names are compared and sorted by bytes. A valid name stays valid: no later version of Unicode removes a letter or
// changes the normal form of an existing one.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error_codes.h"
#include "base/status.h"

namespace duewheel {

// The owner of the name, for errors.
struct NameOwner {
    ErrorCode code;
    std::string_view whose;
    std::string_view field;
};
inline constexpr NameOwner kQueueName = NameOwner{"bad_queue_name"_code, "a queue's", "queue"};
inline constexpr NameOwner kNamespaceName = NameOwner{"bad_namespace"_code, "a namespace's", "namespace"};
inline constexpr NameOwner kScheduleName = NameOwner{"bad_schedule_name"_code, "a schedule's", "schedule"};
inline constexpr NameOwner kWatchdogName = NameOwner{"bad_watchdog_name"_code, "a watchdog's", "watchdog"};

// The owner's code if it is not a valid name. O(size); an ASCII name is scanned once.
Status check_name(std::string_view name, std::size_t bytes_max, const NameOwner& owner);

}  // namespace duewheel
