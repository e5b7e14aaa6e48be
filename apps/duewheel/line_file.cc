#include "line_file.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace duewheel {
namespace {

// No server accepts more, so that a mistake such as /dev/zero ends.
constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

}  // namespace

LineFile::LineFile(const std::string& name)
    : name_(name == "-" ? "standard input" : name),
      file_(name == "-" ? stdin : std::fopen(name.c_str(), "rb")),
      opened_(name == "-" ? nullptr : file_),
      error_(file_ == nullptr ? errno : 0) {}

Result<std::optional<std::string_view>> LineFile::next() {
    if (file_ == nullptr) return unreadable();
    line_.clear();
    bool has_begun = false;
    for (int c = getc_unlocked(file_); c != EOF; c = getc_unlocked(file_)) {
        has_begun = true;
        ++bytes_read_;
        if (c == '\n') return std::optional<std::string_view>(line_);
        line_ += static_cast<char>(c);
        if (line_.size() > kLineBytesMax) {
            return Error{"body_too_large", "A line of " + name_ + " is longer than a message can be."};
        }
    }
    if (std::ferror(file_)) return unreadable();
    return has_begun ? std::optional<std::string_view>(line_) : std::nullopt;
}

Status LineFile::keep() {
    if (file_ == nullptr) return unreadable();
    std::unique_ptr<std::FILE, Closes> kept(std::tmpfile());
    char piece[64 * 1024];
    std::size_t got = 0;
    while (kept && (got = std::fread(piece, 1, sizeof piece, file_)) > 0) {
        if (std::fwrite(piece, 1, got, kept.get()) != got) kept.reset();
    }
    if (!kept || std::fflush(kept.get()) != 0) {
        return Error{"no_space", "Cannot store the input from " + name_ + " in a temporary file: " +
                                     std::strerror(errno) + ". Write it to a file and give its name."};
    }
    if (std::ferror(file_)) return unreadable();
    file_ = kept.get();
    opened_ = std::move(kept);
    return rewind();
}

Status LineFile::rewind() {
    if (file_ == nullptr || std::fseek(file_, 0, SEEK_SET) != 0) return unreadable();
    bytes_read_ = 0;
    return {};
}

std::uint64_t LineFile::bytes() const {
    struct stat found {};
    if (file_ == nullptr || ::fstat(::fileno(file_), &found) != 0 || !S_ISREG(found.st_mode)) return 0;
    return static_cast<std::uint64_t>(found.st_size);
}

Error LineFile::unreadable() const {
    return {"unreadable_file", "Cannot read " + name_ + ": " + std::strerror(file_ == nullptr ? error_ : errno) + "."};
}

}  // namespace duewheel
