// Commands on queues and namespaces and their settings, and their replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "message/message.h"
#include "message/queue_counts.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"

namespace duewheel {

// Sets or changes the settings of a queue; replies with the queue after the change.
struct ConfigureQueueCommand {
    enum class What : std::uint8_t {
        set,      // replaces all settings by `settings`
        pause,    // nothing is delivered after the reply
        resume,   // deliveries continue
        purge,    // ends all messages that are in the queue now
        discard,  // ends all messages that are dead letters now
        remove,   // removes the settings; only from a queue without messages
    };
    std::string name_space{kDefaultNamespace};
    std::string queue;
    What what = What::set;
    QueueSettings settings;          // set
    bool keeps_pause = false;        // set: keeps the pause of the queue, whatever `settings` has
    std::optional<DueMs> before_ms;  // discard: only those from before this instant; none: all
    // pause: because the target at this URL answered 410. Ignored if the queue has another target now.
    std::string gone_url{};
};

// Patches change some settings and keep the others (settings.h, named_rules.h). `change` is called when the command is
// executed, with the settings at that time, so that changes of earlier commands are not lost. It is a pure function; an
// error refuses the command. `bytes`: its memory use.
struct PatchQueueCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::function<Status(QueueSettings&)> change;
    std::size_t bytes = 0;
};

struct DescribeQueueCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
};

// Queues by name, in byte order, from the first after `after`; only those whose names begin with `prefix`.
struct ListQueuesCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
    std::string prefix{};
};

// The state of a queue's target. The engine does not know it: the pusher fills it in. A target that answered 410 has
// paused its queue (PausedBy::target) and gets no more requests: its previous state is kept
// unchanged.
struct TargetStatus {
    enum class State : std::uint8_t {
        works,        // or nothing else is known
        trying,       // it failed, and one post tests whether it works again
        failed,       // paused after failures
        retry_after,  // it asked for a pause (Retry-After)
        unfit,        // the server's configuration does not allow posts to it
        off,          // the server posts nothing
    };
    State state = State::works;
    DueMs backoff_until_ms = 0;  // failed, asked
    std::uint32_t in_flight = 0;
};

// What applies to a queue: its own settings, and those of the server where it has none.
struct QueueRules {
    std::int64_t lease_ms = 0;
    RetryRule retry;
};

// `counts` and `leased` are exact; `ready` is the number of due messages in memory: all except a backlog on disk.
struct QueueAnswer {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    QueueSettings settings;
    QueueCounts counts;
    std::uint64_t ready = 0;
    std::uint64_t leased = 0;
    std::uint64_t waiters = 0;
    bool backlog_on_disk = false;
    std::uint64_t purged = 0;     // by the current purge, since the process started
    std::uint64_t discarded = 0;  // by the current discard, likewise
    std::optional<bool> removed;  // reply to a remove: whether there were settings
    std::optional<TargetStatus> target;
    std::optional<QueueRules> in_force;  // reply to a describe
};

struct QueueListAnswer {
    std::vector<QueueAnswer> queues;
    bool complete = true;  // false: more follow after the last one
};

// Redrives the dead letters of a queue, the oldest first, but none that becomes one after the call.
struct RedriveCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::optional<std::uint64_t> max;  // none: as many as the engine allows
};

struct RedriveAnswer {
    std::uint64_t redriven = 0;
    bool more = false;  // the limit of the call was reached, and there may be more
};

// Replaces the limits of a namespace, or removes its settings; its content stays unchanged.
struct ConfigureNamespaceCommand {
    std::string name_space{kDefaultNamespace};
    bool removes = false;
    NamespaceSettings settings;  // unless it removes
};

struct PatchNamespaceCommand {
    std::string name_space{kDefaultNamespace};
    std::function<Status(NamespaceSettings&)> change;
    std::size_t bytes = 0;
};

struct DescribeNamespaceCommand {
    std::string name_space{kDefaultNamespace};
};

// Namespaces by name, in byte order, from the first after `after`.
struct ListNamespacesCommand {
    std::string after;
    std::uint32_t limit = 100;
};

// The limits of a namespace, and their use.
struct NamespaceAnswer {
    std::string name_space{kDefaultNamespace};
    NamespaceSettings settings;
    std::uint64_t pending = 0;
    std::uint64_t queues = 0;
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::optional<bool> removed;  // reply to a remove: whether there were settings
};

struct NamespaceListAnswer {
    std::vector<NamespaceAnswer> namespaces;
    bool complete = true;  // false: more follow after the last one
};

}  // namespace duewheel
