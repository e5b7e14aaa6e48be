// The oracle's model of a watchdog: the puts that clients sent, when it was fed or may have been, and the states that
// clients received. It uses no code of the engine: when a watchdog may fire follows from answered feeds and from the
// documented rule.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/commands/command.h"

namespace duewheel {

// A watchdog as a client sets it. Its serial is the hash of its content, and stands in the body of its messages.
struct WatchdogPut {
    std::uint64_t serial = 0;
    PutWatchdogCommand command;
    std::uint64_t leases_lost_before = 0;  // of its queue, when it was sent
};

// Something that was decided in this stretch of time, or that may have been.
struct DecidedWithin {
    DueMs from_ms = 0;
    DueMs until_ms = 0;
    bool is_sure = false;

    bool holds(DueMs at) const { return from_ms <= at && at <= until_ms; }
};

struct WatchdogModel {
    struct Open {
        DueMs from_ms = 0;
        bool puts = false;
        bool may_feed = false;
        bool removes = false;
        // When it was sent: another one that puts or removes it was in progress; it was fed then or later; it was
        // surely there, or surely not; what its newest revision was.
        bool is_overlapped = false;
        DueMs surely_fed_ms = 0;
        DueMs silent_until_ms = 0;
        bool was_there = false;
        bool was_gone = false;
        std::uint64_t removes_before = 0;
        std::uint64_t told_before = 0;
    };

    std::string name_space;
    std::string name;
    std::map<ReplyToken, Open> open;  // all requests that name it
    std::vector<std::uint64_t> puts;  // serials
    std::vector<DecidedWithin> feeds;
    std::vector<DecidedWithin> changes;  // puts
    std::uint64_t removes = 0;           // sent
    bool is_there = false;               // surely
    bool is_gone = true;                 // likewise
    bool is_blurred = false;            // two lives of it cannot be told from one another: its messages are not counted
    DueMs surely_fed_ms = 0;            // somebody was told that it was fed at that time or later
    DueMs silent_until_ms = 0;          // and that it does not fire before, unless it is set again
    std::optional<WatchdogState> told;  // the newest state
    std::uint64_t times_told = 0;
    std::uint64_t fired_before = 0;                        // messages of lives that have ended
    std::set<MessageId> met;                               // its messages
    std::map<std::pair<DueMs, DueMs>, MessageId> firings;  // by last feed and due time

    bool may_be_there() const { return !is_gone || !open.empty(); }
    // What it was told to be last, where it is surely there still.
    const WatchdogState* surely() const { return is_there && told ? &*told : nullptr; }
};

}  // namespace duewheel
