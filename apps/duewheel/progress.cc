#include "progress.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

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

}  // namespace

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

}  // namespace duewheel
