// The user at the terminal: its size, the progress of a long operation, and the signals that end one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace duewheel {

struct TerminalSize {
    std::size_t lines = 24;
    std::size_t columns = 80;
};

// None if standard output is not a terminal; a terminal of unknown size counts as 24 lines of 80.
std::optional<TerminalSize> terminal_size();

// The columns of the terminal; without one, no limit.
std::size_t output_columns();

// The progress of a long operation, in one line that is overwritten: on standard error, and only if that is a terminal,
// so that scripts and files do not receive it.
class Progress {
  public:
    // `what`: "copied". The destructor removes the line.
    explicit Progress(std::string what);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    // `all` is above 0. No wider than the terminal.
    void show(std::uint64_t done, std::uint64_t all);
    // Removes the line, if one is shown. Call it before anything else is printed on standard error.
    static void make_way();

  private:
    const std::string what_;
    const bool is_shown_;
    unsigned permille_ = ~0u;
};

// For long-running verbs that clean up before they end: SIGINT and SIGTERM set a flag, which the verb checks.
// Starts to catch them; from now on a closed pipe is an error of the write instead of a SIGPIPE.
void note_stop_signals();
bool is_to_stop();

}  // namespace duewheel
