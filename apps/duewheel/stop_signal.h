// For verbs that work for a while and have something to put in order before they end: SIGINT and SIGTERM are noted, and
// looked for where it suits.
#pragma once

namespace duewheel {

// From now on they are noted, and a reader that has gone (SIGPIPE) is an error of the write.
void note_stop_signals();
bool is_to_stop();

}  // namespace duewheel
