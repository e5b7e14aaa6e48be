// duewheel lease --exec: a worker in one line. It leases one message at a time, runs the command for it, and
// acknowledges or fails the message by the exit status. It counts the outcomes of leases, not of commands: if a lease
// ended before its command did, another worker may do the work again. docs/command_line.md describes it for users.
#pragma once

#include <cstdint>
#include <string>

#include "session.h"

namespace duewheel {

struct WorkArguments {
    std::string queue;
    std::string command;
    std::string lease;       // empty: that of the queue; extended while the command runs
    std::uint32_t jobs = 1;  // messages at the same time
    bool drain = false;      // end when no message is due
};

// Works until SIGINT or SIGTERM, then waits for running commands. A second signal sends them SIGTERM, and a third one,
// or the end of ten seconds, SIGKILL; when they have ended, their messages are released, or acknowledged after exit
// status 0. Returns the exit code: kExitRefused also if a message was lost.
int work(const Session& session, const WorkArguments& arguments);

}  // namespace duewheel
