// duewheel lease --exec: a worker in one line. It takes a message at a time, runs the command for it, and ends the
// lease as the command ended. What it counts is what became of the leases, not of the commands: where one had ended
// before its command did, another worker may do the work again. docs/command_line.md describes it for its users.
#pragma once

#include <cstdint>
#include <string>

#include "session.h"

namespace duewheel {

struct WorkArguments {
    std::string queue;
    std::string command;
    std::string lease;       // empty: as the queue has it; extended while the command runs
    std::uint32_t jobs = 1;  // messages at the same time
    bool drain = false;      // end when none is due
};

// Works until SIGINT or SIGTERM, which lets running commands end; a second one ends them and gives their messages back.
// Returns the exit code: kExitRefused too where a message was lost.
int work(const Session& session, const WorkArguments& arguments);

}  // namespace duewheel
