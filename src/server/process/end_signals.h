// SIGTERM and SIGINT while a standby node becomes the owner: between the loop of the one and the loop of the other
// nothing listens to them. They wait, and the owner then ends as if they had come later, which releases the log.
//
// For the main thread; threads that it starts while it holds them never get these signals.
#pragma once

namespace duewheel {

void hold_end_signals();
// One that came before hold_end_signals(), and was too late for the loop that received it.
void repeat_end_signal();
void pass_end_signals();

}  // namespace duewheel
