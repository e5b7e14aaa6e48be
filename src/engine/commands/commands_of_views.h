// Views of the messages of a queue: pages of unfinished and of ended ones, and forecasts. They change nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "message/message.h"
#include "message/state_set.h"
#include "store/store.h"

namespace duewheel {

// A page of the unfinished messages of a queue, in (due, id) order (listings.h).
struct ListCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet states = kUnfinishedStates;  // live states; or dead alone, ordered by (time of death, id)
    DuePosition from;                     // the first possible position of the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // opaque data of the interface, copied into the reply
};

struct ListedMessage {
    MessageRow row;                          // like in MessageAnswer
    DueMs lease_until_ms = 0;                // while leased
    std::string worker;                      // while leased: the name of its holder, if it gave one
    ErrorCode blocked_by = ErrorCode::none;  // of a ready one, as in MessageAnswer
};

struct ListAnswer {
    std::vector<ListedMessage> listed;
    std::optional<DuePosition> next;  // the start of the next page; none: this was the last one
    std::uint64_t query = 0;          // of the command
};

// A page of the ended messages of a queue, oldest first (history_pages.h).
struct HistoryCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet outcomes = kEndedStates;
    MessageId id = 0;  // 0: all
    DuePosition from;  // its end and its id: the first possible position of the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // like that of ListCommand
};

struct HistoryAnswer {
    std::string queue;
    std::vector<EndedRow> ended;
    std::optional<DuePosition> next;
    std::uint64_t query = 0;
};

// The number of messages due in each of the next minutes (forecasts.h).
struct ForecastCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;  // empty: all of the namespace
    std::uint32_t minutes = 60;
    DueMs step_ms = 60'000;  // of a row; a divisor of a day, and whole minutes
};

struct ForecastMinute {
    DueMs start_ms = 0;
    // Messages that become due then, for the first time or for a retry; recurring messages, by their next occurrence
    // only; and the runs that schedules will create.
    std::uint64_t scheduled = 0;
    std::uint64_t retrying = 0;
    std::uint64_t recurring = 0;
    std::uint64_t runs = 0;
    bool at_least = false;  // there may be more

    std::uint64_t due() const { return scheduled + retrying + recurring + runs; }
    void add(const ForecastMinute& other) {
        scheduled += other.scheduled;
        retrying += other.retrying;
        recurring += other.recurring;
        runs += other.runs;
        at_least |= other.at_least;
    }
    bool operator==(const ForecastMinute&) const = default;
};

// Whole minutes of UTC, except for the past part of the first one.
struct ForecastAnswer {
    std::string queue;  // empty: the whole namespace
    DueMs now_ms = 0;
    DueMs step_ms = 60'000;
    std::vector<ForecastMinute> minutes;  // or of longer steps
};

}  // namespace duewheel
