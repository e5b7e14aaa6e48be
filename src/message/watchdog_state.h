// A watchdog creates a message when it has not been fed for some time. It has a name. As a value, and in its byte form:
// the value of a `rule` record and of a row of the index.
//
//     timeout 30 s, max 5 min:    first feed ── fed ── fed ──── 30 s ────► fires
//                                     └────────── 5 min at most ─────────► fires
//
// Each feed moves the instant at which it fires. Then it creates a message and sleeps until it is fed again, or fires
// again every `repeat_every`. The state is the rule and its progress. Each record contains all of it, so the newest one
// is complete, except for the content of its messages, which is only in the newest whole record of the watchdog. So a
// feed is a small record. engine/rules/watchdog_course.h has the effects of feeds and firings on the state.
//
// The byte form is that of schedules (schedule_state.h), with its own tags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/message_template.h"

namespace duewheel {

// All settings of a watchdog, except the content of its messages.
struct WatchdogRule : MessageTemplate {
    std::int64_t timeout_ms = 0;       // after the last feed
    std::int64_t max_ms = 0;           // after the first feed since it last fired; 0: no limit
    std::int64_t repeat_every_ms = 0;  // after a firing, until it is fed; 0: it sleeps

    bool operator==(const WatchdogRule&) const = default;
};

struct WatchdogState {
    std::uint32_t revision = 0;  // incremented by each record; 0: there is no such watchdog
    WatchdogRule rule;
    DueMs created_ms = 0;
    DueMs fed_ms = 0;        // the last feed; creation counts as one
    DueMs first_fed_ms = 0;  // the first one since it last fired; 0: none
    DueMs due_ms = 0;        // when it fires; 0: it sleeps until it is fed
    std::uint64_t feeds = 0;

    // It was due, and was fed before its message could be created: that message is overdue. 0: none is.
    DueMs owed_ms = 0;
    DueMs owed_fed_ms = 0;  // the last feed before it

    std::uint64_t fired = 0;   // messages made
    std::uint64_t merged = 0;  // due times that were merged into another message
    MessageId last_id = 0;     // the newest message
    DueMs last_due_ms = 0;     // the instant at which that message was due

    bool is_asleep() const { return due_ms == 0 && owed_ms == 0; }
    bool operator==(const WatchdogState&) const = default;
};

// The longest value of a valid watchdog, with reserve.
inline constexpr std::size_t kWatchdogBytesMax = 1u << 10;

// The longest `timeout`, `max` and `repeat_every`: a hundred years.
inline constexpr std::int64_t kWatchdogMaxMs = 100LL * 366 * 24 * 3600 * 1000;

// Empty for a state without a revision.
std::string encode_watchdog(const WatchdogState& state);

// Codes: `damaged_record`, `newer_format`.
Result<WatchdogState> decode_watchdog(std::string_view bytes);

}  // namespace duewheel
