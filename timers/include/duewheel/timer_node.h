// The representation of a timer of a TimerService: one node of 128 bytes, linked into the wheel of its service, and one
// atomic word that determines who may do what with it. Users of the library do not need it; see timeout.h.
//
// The word. A thread that changes the status with a compare-and-swap has won: a cancel and the firing can race, from
// any threads, and exactly one of them takes the node from pending.
//
//                    schedule            due               (executor)           the task has returned
//      idle ─────────► pending ─────────► handed ─────────► running ─────────► expired   or pending again: periodic
//                        │  cancel          │ cancel           │ cancel
//                        ▼                  ▼                  ▼
//                     cancelled          cancelled          running + last: no further period
//
// The word has, with the status, `posted` while the node is in the mailbox of its service (it has one link, so it is
// there at most once), `waited` when a thread sleeps until the task has returned, `again` when a one-shot timer is to
// run again, and the count of references: one of the service from scheduling until the end, and one of each Timeout.
// The last one returns the node to the pool.
//
// Nodes come from one pool of the process, with a cache in each thread (timers/runtime/node_pool.h), and their memory
// is only ever used for nodes: a Timeout may outlive its service. Nodes that are part of another object, such as a
// coroutine's frame, are `embedded`: they are not returned. Their task runs at every end, also when stop() cancels
// them, and may destroy them; so it is started as the last operation on the node, and their status stays `running`
// until they are scheduled again.
#pragma once

#include <atomic>
#include <cstdint>

#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timer_task.h>

namespace duewheel {

class TimerCore;
struct TimerRepeat;

enum class TimerStatus : std::uint32_t { idle, pending, handed, running, expired, cancelled };

struct TimerNode : IntrusiveLinks {
    static constexpr std::uint32_t kStatusMask = 0x7;
    static constexpr std::uint32_t kPosted = 0x08;
    static constexpr std::uint32_t kLast = 0x10;
    static constexpr std::uint32_t kWaited = 0x20;
    static constexpr std::uint32_t kEmbedded = 0x40;
    static constexpr std::uint32_t kStopped = 0x80;
    static constexpr std::uint32_t kRepeats = 0x100;
    static constexpr std::uint32_t kAtWall = 0x200;
    static constexpr std::uint32_t kAgain = 0x400;
    static constexpr std::uint32_t kReference = 0x800;

    TimerNode() = default;
    ~TimerNode() = default;

    static TimerStatus status_of(std::uint32_t word) { return static_cast<TimerStatus>(word & kStatusMask); }
    static constexpr std::uint32_t with_status(std::uint32_t word, TimerStatus status) {
        return (word & ~kStatusMask) | static_cast<std::uint32_t>(status);
    }
    bool repeats() const { return (word.load(std::memory_order_relaxed) & kRepeats) != 0; }
    TimerStatus status() const { return status_of(word.load(std::memory_order_acquire)); }

    // What a cancel needs is in the first 64 bytes, including the start of the task.
    std::atomic<std::uint32_t> word{0};
    std::atomic<std::uint32_t> runner{0};  // the number of the thread that runs its task
    TimerCore* core = nullptr;             // the core of the service of its present or last use
    TimerNode* next_posted = nullptr;      // in the mailbox
    std::atomic<Tick> wanted{kNever};      // the deadline, for the thread that takes it out of the mailbox
    TimerTask task;
    TimerRepeat* repeat = nullptr;  // of a periodic or wall timer: `repeats` is set, of the latter `at_wall`, too
};
static_assert(sizeof(TimerNode) <= 128);

}  // namespace duewheel
