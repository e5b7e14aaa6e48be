// The number of the newest segment, kept apart from the segments: the name of an empty file, `newest-<number>`.
//
// Headers chain segments to the ones before them, so one that is missing in the middle is seen; but nothing in a log
// tells that something followed its end. Were the file of the newest segment lost, all that was acknowledged in it
// would be lost without a word. The mark is that word: a log that does not reach it is refused.
//
// It is raised at each roll, after the new segment has its name and before the first commit in it, by one rename and
// one sync of the directory: it never says more than there was, and no acknowledged commit stands in a segment that it
// does not know. A name cannot be torn or half written, as the bytes of a file could.
//
// A directory without a mark, such as a copy of the segments alone, is taken as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace duewheel {

class NewestMark {
  public:
    // `number`: what was found; 0: there is no mark yet. The file system outlives this.
    NewestMark(FileSystem& files, std::string directory, std::uint64_t number)
        : files_(files), directory_(std::move(directory)), number_(number) {}

    std::uint64_t number() const { return number_; }
    // Returns when it is durable; lower numbers change nothing. After an error, `no_space` or `io_error`, it may be
    // called again.
    Status raise(std::uint64_t number);

    // `newest-<number, 20 digits>`.
    static std::string name_of(std::uint64_t number);
    // The number in such a name; 0: it is no such name.
    static std::uint64_t number_of(std::string_view name);

  private:
    FileSystem& files_;
    const std::string directory_;
    std::uint64_t number_;
    bool durable_ = true;  // false: the file has its name, but that was not synced
};

}  // namespace duewheel
