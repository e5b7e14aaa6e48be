// What the process does when it can neither continue nor return an error: an allocation fails, or an exception leaves a
// thread. It logs one line (fatal_error) and ends with kExitFatalError, as after every fatal error. An answer that was
// sent before is durable, so nothing is lost.
//
// Memory for the line is kept from the start.
#pragma once

#include "base/log.h"

namespace duewheel {

class RunRecord;

// sysexits.h: an error while doing input or output.
inline constexpr int kExitFatalError = 74;

// Once in a process. The sink is used by any thread, and stays until the process ends.
void end_with_one_line(LogSink& log);

// From now on such an end is also recorded in `run`, until it is another or null.
void record_last_resort_in(RunRecord* run);

}  // namespace duewheel
