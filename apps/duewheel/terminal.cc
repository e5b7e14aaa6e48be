#include "terminal.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace duewheel {
namespace {

constexpr std::size_t kCellsMost = 40;
constexpr std::size_t kColumnsUnknown = 80;

bool stands_there = false;  // a line is shown; one flag, because the process has one standard error

std::size_t columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsUnknown;
    return size.ws_col;
}

volatile std::sig_atomic_t received = 0;

void note(int) {
    received = 1;
}

}  // namespace

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

Progress::Progress(std::string what) : what_(std::move(what)), is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    make_way();
}

void Progress::make_way() {
    if (stands_there) std::fputs("\r\x1b[K", stderr);
    stands_there = false;
}

void Progress::show(std::uint64_t done, std::uint64_t all) {
    const auto permille = static_cast<unsigned>(done * 1000 / all);
    if (!is_shown_ || permille == permille_) return;
    permille_ = permille;
    char figure[16];
    std::snprintf(figure, sizeof(figure), "%3u.%u %% ", permille / 10, permille % 10);
    std::string line = figure + what_;
    const std::size_t room = columns() - 1;  // some terminals wrap a line that fills the last column
    const std::size_t around = line.size() + 3;
    if (const std::size_t cells = room < around ? 0 : std::min(room - around, kCellsMost); cells > 0) {
        const std::size_t full = permille * cells / 1000;
        line = "[" + std::string(full, '#') + std::string(cells - full, '.') + "] " + line;
    }
    std::fprintf(stderr, "\r\x1b[K%.*s", static_cast<int>(room), line.c_str());
    std::fflush(stderr);
    stands_there = true;
}

void note_stop_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, nullptr);
}

bool is_to_stop() {
    return received != 0;
}

}  // namespace duewheel
