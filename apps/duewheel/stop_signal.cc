#include "stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace duewheel {
namespace {

volatile std::sig_atomic_t received = 0;

void note(int) {
    received = 1;
}

}  // namespace

void note_stop_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, nullptr);
}

bool is_to_stop() {
    return received != 0;
}

}  // namespace duewheel
