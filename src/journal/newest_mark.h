// The number of the newest segment, stored separately from the segments: in the name of an empty file,
// `newest-<number>`. Headers chain segments to their predecessors, so a missing one in the middle is detected, but a
// log does not show that something followed its end. If the file of the newest segment were lost, all that was
// acknowledged in it would be lost unnoticed.
// The mark detects this: a log that does not reach it is refused.
//
// It is raised for each new segment, after the segment has its name and before its first commit, by one rename and one
// sync of the directory. So it never exceeds what existed, and no acknowledged commit is in a segment beyond it. A name
// cannot be torn or half written, unlike the bytes of a file.
//
// A directory without a mark, such as a copy of the segments alone, is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace duewheel {

class NewestMark {
  public:
    // `number`: what was found; 0: there is no mark yet. The file system must outlive this.
    NewestMark(FileSystem& files, std::string directory, std::uint64_t number)
        : files_(files), directory_(std::move(directory)), number_(number) {}

    std::uint64_t number() const { return number_; }
    // Returns when it is durable; lower numbers change nothing. After an error, `no_space` or `io_error`, it can be
    // called again.
    Status raise(std::uint64_t number);

    // `newest-<number, 20 digits>`.
    static std::string name_of(std::uint64_t number);
    // The number in such a name; 0 if it is not such a name.
    static std::uint64_t number_of(std::string_view name);

  private:
    FileSystem& files_;
    const std::string directory_;
    std::uint64_t number_;
    bool durable_ = true;  // false: the file has its name, but it was not synced
};

}  // namespace duewheel
