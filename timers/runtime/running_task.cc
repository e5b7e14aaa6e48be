#include "runtime/running_task.h"

#include <map>
#include <mutex>

#include "runtime/interleaving_point.h"

namespace duewheel {
namespace {

constinit thread_local RunningTask* innermost_task = nullptr;

// Maps each waiting thread to its task.
struct Waits {
    std::mutex mutex;
    std::map<std::uint32_t, TimerNode*> by_thread;
};

Waits& waits() {
    static Waits* const instance = new Waits;  // never destroyed: threads may outlive main()
    return *instance;
}

// Whether the thread that runs `node` waits in the end for `thread`. Under the lock of `waits`.
bool leads_to(const Waits& waiting, const TimerNode& node, std::uint32_t thread) {
    const TimerNode* next = &node;
    while (next->status() == TimerStatus::running) {
        const std::uint32_t runner = next->runner.load(std::memory_order_relaxed);
        if (runner == thread) return true;
        const auto found = waiting.by_thread.find(runner);
        if (found == waiting.by_thread.end()) return false;
        next = found->second;
    }
    return false;
}

}  // namespace

RunningTask::RunningTask(TimerNode& node) : node_(node), outer_(innermost_task) {
    innermost_task = this;
}

RunningTask::~RunningTask() {
    innermost_task = outer_;
}

TimerNode* RunningTask::innermost() {
    return innermost_task == nullptr ? nullptr : &innermost_task->node_;
}

TimerNode* RunningTask::shown() {
    return innermost_task == nullptr || innermost_task->is_hidden_ ? nullptr : &innermost_task->node_;
}

bool RunningTask::is_here(const TimerNode& node) {
    for (const RunningTask* task = innermost_task; task != nullptr; task = task->outer_) {
        if (&task->node_ == &node) return true;
    }
    return false;
}

HiddenTask::HiddenTask() : task_(innermost_task) {
    if (task_ != nullptr) task_->is_hidden_ = true;
}

HiddenTask::~HiddenTask() {
    if (task_ != nullptr) task_->is_hidden_ = false;
}

void wait_until_returned(TimerNode& node) {
    if (RunningTask::is_here(node)) return;
    Waits& waiting = waits();
    const std::uint32_t thread = this_thread_number();
    {
        const std::lock_guard lock(waiting.mutex);
        if (leads_to(waiting, node, thread)) return;
        waiting.by_thread[thread] = &node;
    }
    std::uint32_t word = node.word.fetch_or(TimerNode::kWaited, std::memory_order_acq_rel) | TimerNode::kWaited;
    while (TimerNode::status_of(word) == TimerStatus::running) {
        if (kInterleavingsExplored) {
            interleaving_wait();
        } else {
            node.word.wait(word, std::memory_order_acquire);
        }
        word = node.word.load(std::memory_order_acquire);
    }
    const std::lock_guard lock(waiting.mutex);
    waiting.by_thread.erase(thread);
}

}  // namespace duewheel
