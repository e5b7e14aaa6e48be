// The only place that asks the operating system for the time. Everything below main takes the time as an argument, so
// that tests and the simulator can pass another.
//
// There are two kinds of clocks, and they are never compared. The wall clock shows calendar time and can jump both
// ways. The monotonic clocks only go forward and start anywhere; they are for intervals within one run. All of them
// round down: the result is never later than the actual time. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "shared/instant.h"

namespace duewheel {

// The wall clock. Milliseconds since 1970 UTC.
InstantMs wall_now_ms();
std::int64_t wall_now_ns();

// Advances evenly while the machine runs, and does not advance while it is suspended.
std::int64_t monotonic_now_ns();

// Like monotonic_now_ns(), but also advances while the machine is suspended, so the difference reveals a suspend.
std::int64_t boot_now_ns();

// Identifies the boot that boot_now_ns() counts from; empty if the system has no such id. Reads a small file.
std::string machine_run();

// Processor time used by the calling thread.
std::int64_t thread_cpu_ns();

}  // namespace duewheel
