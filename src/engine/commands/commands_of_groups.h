// Commands on the groups of a queue and their settings, and their replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "message/message.h"
#include "resource/group_settings.h"

namespace duewheel {

// Changes the settings of a group: `change` is called when the command is executed, with its settings and the time. It
// is a pure function; an error refuses the command. Settings in which nothing is set any more are removed. `bytes`: its
// memory use.
struct ChangeGroupCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::string group;
    std::function<Status(GroupSettings&, DueMs now)> change;
    std::size_t bytes = 0;
};

// A group that has nothing and has no settings is described too: every name is that of a group.
struct DescribeGroupCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::string group;
};

enum class GroupOrder : std::uint8_t {
    backlog,  // the most ready messages first
    oldest,   // the longest due first
    leased,   // the most leased messages first
    name,     // in byte order, from the first after `after`
};

// The groups of a queue that have something due or leased, or settings.
struct ListGroupsCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    GroupOrder order = GroupOrder::backlog;
    std::string after{};        // by name
    bool only_limited = false;  // those with `limited_by`
    std::uint32_t limit = 100;
};

// Which limit keeps ready messages from being delivered: of their group, or else of their queue.
enum class LimitedBy : std::uint8_t { nothing, leased, rate, backoff, queue_leased, queue_rate };

// As responses and metrics have it; empty for nothing.
std::string_view limited_by_name(LimitedBy limit);

struct GroupAnswer {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::string group;
    GroupSettings settings;
    std::uint64_t ready = 0;
    bool is_ready_min = false;  // there may be more on disk
    std::uint64_t leased = 0;
    DueMs oldest_due_ms = 0;                    // of its ready messages; 0: none
    LimitedBy limited_by = LimitedBy::nothing;  // nothing too if none is ready
    DueMs limited_since_ms = 0;
};

struct GroupListAnswer {
    std::vector<GroupAnswer> groups;
    std::uint64_t known = 0;  // groups of the queue that have something due or leased, or settings
    bool complete = true;     // false: more follow after the last one
};

}  // namespace duewheel
