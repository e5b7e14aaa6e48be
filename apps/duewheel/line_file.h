// The lines of a file, one after the other, however many there are.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

class LineFile {
  public:
    // "-": standard input. Whether it can be read is seen by the first line.
    explicit LineFile(const std::string& name);

    // Without its line feed, which the last one need not have. Nothing at the end of the file. Codes:
    // `unreadable_file`, `body_too_large`.
    Result<std::optional<std::string_view>> next();

    // Copies the rest to a file without a name, which is read from then on: so that it can be read twice. Codes:
    // `unreadable_file`, `no_space`.
    Status keep();
    // To its beginning; only of a file that is no pipe, or was kept.
    Status rewind();

    std::uint64_t bytes_read() const { return bytes_read_; }
    // 0 of what has no size, such as a pipe.
    std::uint64_t bytes() const;

  private:
    Error unreadable() const;

    struct Closes {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string name_;
    std::FILE* file_;
    std::unique_ptr<std::FILE, Closes> opened_;
    int error_ = 0;  // why it could not be opened
    std::string line_;
    std::uint64_t bytes_read_ = 0;
};

}  // namespace duewheel
