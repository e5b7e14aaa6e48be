// Signals that have no meaning for the server, of which the default action would end it: SIGPIPE, SIGUSR1, SIGUSR2,
// timers, asynchronous I/O, a failing power supply, the limit of a file's size, and the real-time signals. From now on
// they have no effect, and so has SIGHUP, unless an EventLoop listens to them. Signals that report a bug, and those
// that end a process, keep their action.
#pragma once

namespace duewheel {

void ignore_harmless_signals();

}  // namespace duewheel
