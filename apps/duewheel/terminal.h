// How large the terminal is that standard output goes to: for tables that have to fit, and for what is drawn anew.
#pragma once

#include <cstddef>
#include <optional>

namespace duewheel {

struct TerminalSize {
    std::size_t lines = 24;
    std::size_t columns = 80;
};

// Nothing where standard output is no terminal; one that does not know its size has 24 lines of 80.
std::optional<TerminalSize> terminal_size();

// The columns of the terminal; without one, as many as there are.
std::size_t output_columns();

}  // namespace duewheel
