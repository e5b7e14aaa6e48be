// duewheel lease --exec: a worker in one line. It leases one message at a time, runs the command for it, and
// acknowledges or fails the message by the exit status. It counts the outcomes of leases, not of commands: if a lease
// ended before its command did, another worker may do the work again. docs/command_line.md describes it for users.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.h"
#include "base/text_ends.h"
#include "message/failure_reason.h"
#include "session.h"

namespace duewheel {

struct WorkArguments {
    std::string queue;
    std::string command;
    std::string lease;       // empty: that of the queue; extended while the command runs
    std::string worker;      // its name; empty: the host and the process
    std::uint32_t jobs = 1;  // messages at the same time
    bool drain = false;      // end when no message is due
    bool result = false;     // the standard output of the command is the result of its message
};

// Works until SIGINT or SIGTERM, then waits for running commands. A second signal sends them SIGTERM, and a third one,
// or the end of ten seconds, SIGKILL; when they have ended, their messages are released, or acknowledged after exit
// status 0. Returns the exit code: kExitRefused also if a message was lost.
int work(const Session& session, const WorkArguments& arguments);

struct ChildEnd {
    bool done = false;   // it exited with status 0
    std::string reason;  // else: the last lines of its standard error, or how it ended
    std::string output;  // its standard output, if it is kept; one that is too large for a result is cut
};

// The command for one message: passes the body on its standard input and the other members in its environment, forwards
// its standard error and keeps the last lines, and waits for its end. It runs in a separate process group, so that
// Ctrl-C at the terminal reaches the worker and not the command.
class Child {
  public:
    // Runs `command` with /bin/sh and these variables in addition to the caller's environment, but without the
    // token of DUEWHEEL_TOKEN: a command need not be trusted with it. `keeps_output`: its standard output is kept, and
    // not forwarded. Code `cannot_run`.
    static Result<Child> start(const std::string& command, const std::vector<std::string>& variables,
                               bool keeps_output = false);

    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    ~Child();

    // Passes `input` and waits for the end. `each_while` is called at least every 50 ms; it returns the signal that is
    // to end the command, SIGTERM or SIGKILL, or 0. A command need not read its input. Processes that it leaves running
    // are not waited for; but after SIGTERM, which may have ended the shell alone, all of its group are.
    ChildEnd wait(std::string_view input, const std::function<int()>& each_while);

  private:
    Child(pid_t process, int input, int errors, int output)
        : group_(process), process_(process), input_(input), errors_(errors), output_(output) {}

    void feed(std::string_view& input);
    void listen();
    void keep_output();
    bool has_ended(int sent);
    ChildEnd end() const;

    pid_t group_ = -1;
    pid_t process_ = -1;  // -1: it has ended
    int input_ = -1;
    int errors_ = -1;
    int output_ = -1;  // -1: not kept, or at its end
    int status_ = 0;
    TextEnds said_{2 * kReasonBytesMax};  // on standard error
    std::string kept_;                    // of standard output
};

}  // namespace duewheel
