#include "server/process/end_signals.h"

#include <csignal>

namespace duewheel {
namespace {

void change_mask(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    static_cast<void>(pthread_sigmask(how, &signals, nullptr));
}

}  // namespace

void hold_end_signals() {
    change_mask(SIG_BLOCK);
}

void repeat_end_signal() {
    static_cast<void>(std::raise(SIGTERM));
}

void pass_end_signals() {
    change_mask(SIG_UNBLOCK);
}

}  // namespace duewheel
