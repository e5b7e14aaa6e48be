// A watchdog: what makes a message when nobody has fed it for a while, under a name. As a value, and in its byte form:
// the value of a `rule` record and of a row of the index.
//
//     timeout 30 s, most 5 min:   first feed ── fed ── fed ──── 30 s ────► fires
//                                     └────────── 5 min at most ─────────► fires
//
// Each feed moves the instant at which it fires. When that comes it makes a message and sleeps until it is fed again,
// or goes on firing every `again`. The state is the rule and how far it has come; each record holds all of it, so that
// the newest one is all there is to know. What its messages hold stands in the watchdog's newest whole record alone, so
// a feed is a small record. engine/watchdog_course.h says what feeds and firings make of a state.
//
// The byte form is that of schedules (schedule_state.h), with tags of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/retry_rule.h"

namespace duewheel {

// All that a user says of a watchdog, its messages' contents apart.
struct WatchdogRule {
    std::int64_t timeout_ms = 0;       // after the last feed
    std::int64_t max_ms = 0;           // after the first feed since it last fired; 0: no bound
    std::int64_t repeat_every_ms = 0;  // after a firing, until it is fed; 0: it sleeps
    std::string queue;                 // of the messages, as is what follows
    std::string order_key;
    std::int32_t priority = 0;
    std::int64_t expires_after_ms = 0;  // the instant at which it fires; 0: never
    RetryChoice retry;
    std::uint64_t content_hash = 0;  // of body, headers and content type

    bool operator==(const WatchdogRule&) const = default;
};

struct WatchdogState {
    std::uint32_t revision = 0;  // rises with each record; 0: there is no such watchdog
    WatchdogRule rule;
    DueMs created_ms = 0;
    DueMs fed_ms = 0;        // the last feed; being set up counts as one
    DueMs first_fed_ms = 0;  // the first one since it last fired; 0: there was none
    DueMs due_ms = 0;        // when it fires; 0: it sleeps until it is fed
    std::uint64_t feeds = 0;

    // It was due, and was fed before its message could be made. That is still owed; 0: none is.
    DueMs owed_ms = 0;
    DueMs owed_fed_ms = 0;  // the last feed before

    std::uint64_t fired = 0;   // messages made
    std::uint64_t merged = 0;  // times that it was due, and another message stands for
    MessageId last_id = 0;     // the newest message
    DueMs last_due_ms = 0;     // the instant that it was made for

    bool is_asleep() const { return due_ms == 0 && owed_ms == 0; }
    bool operator==(const WatchdogState&) const = default;
};

// The longest value of a legal watchdog, with room to spare.
inline constexpr std::size_t kWatchdogBytesMax = 1u << 10;

// The longest timeout, bound and `again`: a hundred years.
inline constexpr std::int64_t kWatchdogMostMs = 100LL * 366 * 24 * 3600 * 1000;

// Empty for a state without a revision.
std::string encode_watchdog(const WatchdogState& state);

// Codes: `damaged_record`, `newer_format`.
Result<WatchdogState> decode_watchdog(std::string_view bytes);

// Among the subjects of `rule` records. The numbers stand in the log.
inline constexpr std::uint32_t kSubjectWatchdog = 2;

}  // namespace duewheel
