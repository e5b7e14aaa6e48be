#include "terminal.h"

#include <limits>

#include <sys/ioctl.h>
#include <unistd.h>

namespace duewheel {

std::optional<TerminalSize> terminal_size() {
    if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
    TerminalSize size;
    winsize reported{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &reported) == 0) {
        if (reported.ws_row > 0) size.lines = reported.ws_row;
        if (reported.ws_col > 0) size.columns = reported.ws_col;
    }
    return size;
}

std::size_t output_columns() {
    const std::optional<TerminalSize> size = terminal_size();
    return size ? size->columns : std::numeric_limits<std::size_t>::max();
}

}  // namespace duewheel
