// The size of the terminal on standard output: for tables that must fit, and for screens that are redrawn.
#pragma once

#include <cstddef>
#include <optional>

namespace duewheel {

struct TerminalSize {
    std::size_t lines = 24;
    std::size_t columns = 80;
};

// None if standard output is not a terminal; a terminal of unknown size counts as 24 lines of 80.
std::optional<TerminalSize> terminal_size();

// The columns of the terminal; without one, no limit.
std::size_t output_columns();

}  // namespace duewheel
