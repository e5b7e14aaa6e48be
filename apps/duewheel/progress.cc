#include "progress.h"

#include <cstdio>

#include <unistd.h>

namespace duewheel {
namespace {

constexpr unsigned kCells = 40;

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (is_shown_ && permille_ != ~0u) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::uint64_t done, std::uint64_t all) {
    const auto permille = static_cast<unsigned>(done * 1000 / all);
    if (!is_shown_ || permille == permille_) return;
    permille_ = permille;
    const unsigned full = permille * kCells / 1000;
    const std::string bar = std::string(full, '#') + std::string(kCells - full, '.');
    std::fprintf(stderr, "\r[%s] %3u.%u %% %s", bar.c_str(), permille / 10, permille % 10, what_.c_str());
    std::fflush(stderr);
}

}  // namespace duewheel
