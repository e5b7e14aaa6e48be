// Which tasks run on which threads just now: what Timeout::cancel() needs to say "here" or "elsewhere", and what
// cancel_and_wait() needs so that no ring of tasks waits for itself.
#pragma once

#include "timer/thread_number.h"
#include <duewheel/timer_node.h>

namespace duewheel {

// Lives as long as a task runs. A task may drive another service, so they nest.
class RunningTask {
  public:
    explicit RunningTask(TimerNode& node);
    RunningTask(const RunningTask&) = delete;
    RunningTask& operator=(const RunningTask&) = delete;
    ~RunningTask();

    // The innermost one of this thread; nullptr outside of tasks.
    static TimerNode* innermost();
    // The same for who asks for his timer: nullptr where that is hidden from him.
    static TimerNode* shown();
    static bool is_here(const TimerNode& node);

  private:
    friend class HiddenTask;

    TimerNode& node_;
    RunningTask* outer_;
    bool is_hidden_ = false;
};

// While one lives, the task that runs on this thread shows no timer: for code that is not to have the handle of a timer
// that serves more than this run.
class HiddenTask {
  public:
    HiddenTask();
    HiddenTask(const HiddenTask&) = delete;
    HiddenTask& operator=(const HiddenTask&) = delete;
    ~HiddenTask();

  private:
    RunningTask* const task_;
};

// Returns when the task of `node` no longer runs; at once when it runs here, or when its thread waits, directly or by
// others, for a task that runs here. The caller has a reference.
void wait_until_returned(TimerNode& node);

}  // namespace duewheel
