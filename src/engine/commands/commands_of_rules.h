// Commands on rules that create messages, schedules and watchdogs, and their replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "message/records/content.h"
#include "message/records/record.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"
#include "message/watchdog_state.h"

namespace duewheel {

// ---- of both kinds of rules

// A patch is like that of a queue (commands_of_queues.h). It creates the rule if it does not exist, from an empty one;
// if a required member is missing then (code missing_member), it is an unknown rule.
template <class Rule, class Put>
struct PatchRule {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::function<Result<Put>(const Rule&, const MessageContent&)> change;
    std::size_t bytes = 0;
    // Internal: the whole record of the rule, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};

template <class Rule>
struct DescribeRule {
    std::string name_space{kDefaultNamespace};
    std::string name;
};

// Like those of queues.
template <class Rule>
struct ListRules {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
};

// ---- schedules

// Creates a schedule, or changes it in place (schedules.h); replies with the schedule after the change.
struct PutScheduleCommand : Content {  // of its messages
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleRule rule;
    ScheduleTimes times;         // of that rule
    std::optional<bool> paused;  // none: unchanged
};

using PatchScheduleCommand = PatchRule<ScheduleRule, PutScheduleCommand>;

struct ControlScheduleCommand {
    enum class What : std::uint8_t {
        pause,   // no run is created after the reply
        resume,  // runs continue with the next time; those of the pause are skipped
        fire,    // one run now; replies like a put
        remove,
    };
    std::string name_space{kDefaultNamespace};
    std::string name;
    What what = What::pause;
    // fire, internal: the schedule's whole record, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};

using DescribeScheduleCommand = DescribeRule<ScheduleRule>;
using ListSchedulesCommand = ListRules<ScheduleRule>;

// The next times of a schedule; changes nothing.
struct PreviewScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::uint32_t count = 10;
    std::optional<DueMs> from_ms;                           // none: the next times
    std::shared_ptr<const PutScheduleCommand> after_put{};  // not null: as they would be after this put
};

struct ScheduleAnswer : Content {
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleState state;
    bool created = false;                    // by this command
    bool invalid_zone = false;               // its zone is not in the zone data
    ErrorCode blocked_by = ErrorCode::none;  // why its next run cannot be created; none: it can
    std::string zone_data;                   // version of the time zone data of the next times
    std::optional<bool> removed;             // reply to a remove: whether it existed
    bool has_content = false;
};

struct ScheduleListAnswer {
    std::vector<ScheduleAnswer> schedules;  // without contents
    bool complete = true;                   // false: more follow after the last one
};

struct PreviewAnswer {
    struct Time {
        std::uint64_t number =
            0;  // 0: it will not be one, or its number is unknown because the preview starts elsewhere
        DueMs nominal_ms = 0;
        DueMs due_ms = 0;  // including the jitter
        std::string local;
        ClockNote note = ClockNote::none;
    };
    struct Excluded {
        DueMs nominal_ms = 0;
        std::string local;
        std::string_view why;
    };
    std::string name_space{kDefaultNamespace};
    std::string name;
    bool paused = false;
    TimesRule rule;
    std::string zone_data;
    std::vector<Time> times;
    std::vector<Excluded> excluded;  // in the same range, up to the requested number
    bool more_excluded = false;      // there are more
};

// ---- watchdogs

// Creates a watchdog, or changes it in place (watchdogs.h); replies with the watchdog after the change.
struct PutWatchdogCommand : Content {  // of its messages
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogRule rule;
    bool feeds = false;  // an existing one; a new one is always fed
};

using PatchWatchdogCommand = PatchRule<WatchdogRule, PutWatchdogCommand>;

struct FeedWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};

// Replies like a put.
struct RemoveWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};

using DescribeWatchdogCommand = DescribeRule<WatchdogRule>;
using ListWatchdogsCommand = ListRules<WatchdogRule>;

struct WatchdogAnswer : Content {
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogState state;
    ErrorCode blocked_by = ErrorCode::none;  // why its message cannot be created; none: it can
    bool created = false;                    // by this command
    std::optional<bool> late;                // of a put that fed it: as of a feed
    std::optional<bool> removed;             // reply to a remove: whether it existed
    bool has_content = false;
};

struct FedAnswer {
    std::string name_space{kDefaultNamespace};
    std::string name;
    DueMs due_ms = 0;         // when it fires without another feed
    bool late = false;        // it was due or had fired since the previous feed
    std::uint64_t fired = 0;  // messages created so far
};

struct WatchdogListAnswer {
    std::vector<WatchdogAnswer> watchdogs;  // without contents
    bool complete = true;                   // false: more follow after the last one
};

}  // namespace duewheel
