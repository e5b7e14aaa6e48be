// Reads the lines of a file one by one, so that files of any size need little memory.
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
    // "-": standard input. An unreadable file is reported with the first line.
    explicit LineFile(const std::string& name);

    // The next line without its line feed, which the last line need not have. None at the end of the file. Codes:
    // `unreadable_file`, `body_too_large`.
    Result<std::optional<std::string_view>> next();

    // Copies the remaining lines to an unnamed temporary file, which is read from then on, so that they can be read
    // twice. Codes: `unreadable_file`, `no_space`.
    Status keep();
    // Returns to the beginning; only for a file that is not a pipe, or was copied.
    Status rewind();

    std::uint64_t bytes_read() const { return bytes_read_; }
    // 0 if it has no size, such as a pipe.
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
