// The one place that asks the operating system for the time. Everything below main is told the time instead, so that a
// test and the simulator can tell it another.
//
// There are two kinds, and they are never compared. The wall clock says what a calendar says; it may jump, both ways.
// The monotonic clocks only go forward and start anywhere; they are for intervals within one run. All round down: now
// is never said to be later than it is. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/instant.h"

namespace duewheel {

// The wall clock. Milliseconds since 1970 UTC.
InstantMs wall_now_ms();
std::int64_t wall_now_ns();

// Goes on evenly while the machine runs, and stands still while it is suspended.
std::int64_t monotonic_now_ns();

// Like monotonic_now_ns(), but goes on while the machine is suspended: a growing distance between the two is a suspend.
std::int64_t boot_now_ns();

// Which run of the machine boot_now_ns() counts; empty where the system does not tell. Reads a small file.
std::string machine_run();

// What the calling thread has used of the processor so far.
std::int64_t thread_cpu_ns();

}  // namespace duewheel
