// Files filled with zeros ahead of use, so that a commit never waits for the disk to find space: syncing into space
// that is there takes less than growing a file, and a full disk is met here, where it can be waited out, and not in the
// middle of a commit.
//
// A file being filled is named `spare-<n>.filling`; it becomes `spare-<n>` when its zeros are synced. A spare found at
// the start may bear the header of a segment that was never born; such a one is filled again before it is used.
//
// A spare is begun only where the disk has room for all of it: filling the rest of a full disk again and again, to find
// that it does not suffice, would take that rest from others.
//
// It decides nothing about who may use the last ones: it says how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace duewheel {

// A file of zeros, synced, its name not yet.
struct SpareSegment {
    std::string name;
    std::unique_ptr<File> file;
    std::uint64_t bytes = 0;
};

// Any thread; prepare() is for one thread at a time and may run beside take().
class SpareSegments {
  public:
    // `wanted`: how many prepare() keeps ready. The file system outlives this.
    SpareSegments(FileSystem& files, std::string directory, std::uint64_t segment_bytes, std::size_t wanted);

    // Takes over what an earlier run left: names in the directory. Removes what was being filled.
    Status adopt(const std::vector<std::string>& names);

    // Fills until as many are ready as wanted. Blocks for as long as the disk takes. `no_space`: the disk is full; what
    // had been filled of the next one was given back. Other codes as of the file system.
    Status prepare();
    // A spare of at least `bytes`, a ready one or one that is filled now. Codes as of prepare().
    Result<SpareSegment> take(std::uint64_t bytes);
    // Gives back one that was taken and could not be used; it may bear anything.
    void give_back(SpareSegment spare);
    // Removes one, so that something else gets its space; false where no more than `keep` are there.
    Result<bool> give_up(std::size_t keep);

    std::size_t wanted() const { return wanted_; }
    std::size_t ready() const;
    std::size_t held() const;     // ready or not
    std::uint64_t bytes() const;  // on disk, ready or not

    static bool is_spare_name(std::string_view name);

  private:
    Result<SpareSegment> fill_new(std::uint64_t bytes);
    Status clean(SpareSegment& spare);
    bool pop_ready(SpareSegment& into);
    bool pop_found(SpareSegment& into);
    std::string path(const std::string& name) const { return directory_ + "/" + name; }

    FileSystem& files_;
    const std::string directory_;
    const std::uint64_t segment_bytes_;
    const std::size_t wanted_;

    mutable std::mutex mutex_;
    std::vector<SpareSegment> ready_;  // guarded by mutex_
    std::vector<SpareSegment> found_;  // guarded by mutex_; content not known
    std::uint64_t next_number_ = 1;    // guarded by mutex_
};

}  // namespace duewheel
