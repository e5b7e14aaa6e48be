// One run of a command for one message: the body on its standard input, what else there is to say in its environment,
// its standard error passed on with the last line kept, and its end.
//
// The command gets a process group of its own, so that Ctrl-C at the terminal reaches the worker and not the work.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.h"

namespace duewheel {

struct ChildEnd {
    bool done = false;   // ended by itself with exit status 0
    std::string reason;  // else: the last line of its standard error, or how it ended
};

class Child {
  public:
    // Runs `command` by /bin/sh with these variables beside the caller's own. Code `cannot_run`.
    static Result<Child> start(const std::string& command, const std::vector<std::string>& variables);

    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    ~Child();

    // Hands `input` over and waits for the end. `each_while` is called at least every 50 ms; true ends the command.
    // A command need not read its input; what it leaves running behind it is not waited for.
    ChildEnd wait(std::string_view input, const std::function<bool()>& each_while);

  private:
    Child(pid_t process, int input, int errors) : process_(process), input_(input), errors_(errors) {}

    void feed(std::string_view& input);
    void listen();
    bool has_ended();
    ChildEnd end() const;

    pid_t process_ = -1;
    int input_ = -1;
    int errors_ = -1;
    int status_ = 0;
    std::string line_;  // of standard error, as far as it has come
    std::string last_line_;
};

}  // namespace duewheel
