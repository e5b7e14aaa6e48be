// The progress of a long operation, in one line that is overwritten: on standard error, and only if that is a terminal,
// so that scripts and files do not receive it.
#pragma once

#include <cstdint>
#include <string>

namespace duewheel {

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

}  // namespace duewheel
