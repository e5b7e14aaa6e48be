// For long-running verbs that clean up before they end: SIGINT and SIGTERM set a flag, which the verb checks.
#pragma once

namespace duewheel {

// Starts to catch them; from now on a closed pipe is an error of the write instead of a SIGPIPE.
void note_stop_signals();
bool is_to_stop();

}  // namespace duewheel
