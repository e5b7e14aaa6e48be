// How far something long has come, in one line that is written anew: on standard error, and only where that is a
// terminal, so that neither scripts nor files get it.
#pragma once

#include <cstdint>
#include <string>

namespace duewheel {

class Progress {
  public:
    // `what`: "copied". The line goes with the object.
    explicit Progress(std::string what);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    // `all` is above 0. No wider than the terminal.
    void show(std::uint64_t done, std::uint64_t all);
    // Before something else is said on standard error: takes away the line that is shown, if one is.
    static void make_way();

  private:
    const std::string what_;
    const bool is_shown_;
    unsigned permille_ = ~0u;
};

}  // namespace duewheel
