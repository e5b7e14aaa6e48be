#include "server/process/ignored_signals.h"

#include <csignal>
#include <initializer_list>

namespace duewheel {

void ignore_harmless_signals() {
    // SIGXFSZ: the write then fails, and is reported with its file.
    for (const int signal : {SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
                             SIGXFSZ, SIGTTIN, SIGTTOU}) {
        std::signal(signal, SIG_IGN);
    }
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) std::signal(signal, SIG_IGN);
}

}  // namespace duewheel
