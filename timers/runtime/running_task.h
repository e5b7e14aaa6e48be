// The tasks that are running on each thread: Timeout::cancel() uses it to return "here" or "elsewhere", and
// cancel_and_wait() to detect that tasks would wait for each other in a cycle.
#pragma once

#include "runtime/thread_number.h"
#include <duewheel/timer_node.h>

namespace duewheel {

// Exists while a task runs. A task may drive another service, so they nest.
class RunningTask {
  public:
    explicit RunningTask(TimerNode& node);
    RunningTask(const RunningTask&) = delete;
    RunningTask& operator=(const RunningTask&) = delete;
    ~RunningTask();

    // The innermost one of this thread; nullptr outside of tasks.
    static TimerNode* innermost();
    // The same for a query of the own timer: nullptr where that is hidden.
    static TimerNode* shown();
    static bool is_here(const TimerNode& node);

  private:
    friend class HiddenTask;

    TimerNode& node_;
    RunningTask* outer_;
    bool is_hidden_ = false;
};

// While one exists, the running task of this thread shows no timer: for code that must not get the handle of a timer
// that is used for more than this run.
class HiddenTask {
  public:
    HiddenTask();
    HiddenTask(const HiddenTask&) = delete;
    HiddenTask& operator=(const HiddenTask&) = delete;
    ~HiddenTask();

  private:
    RunningTask* const task_;
};

// Returns when the task of `node` no longer runs; at once if it runs here, or if its thread waits, directly or through
// others, for a task that runs here. The caller has a reference.
void wait_until_returned(TimerNode& node);

}  // namespace duewheel
