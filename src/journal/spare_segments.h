// Files filled with zeros in advance, so that a commit never waits for the disk to allocate space: syncing existing
// space is faster than extending a file, and a full disk is met here, where it can be waited out, and not in the middle
// of a commit.
//
// A file being filled is named `spare-<n>.filling`; it becomes `spare-<n>` when its zeros are synced. A spare found at
// the start may have the header of a segment that was never used; it is filled again before it is used.
//
// A spare is started only if the disk has space for all of it: repeatedly filling the rest of a full disk in vain would
// take that space from others.
//
// The callers decide who may use the last ones; this class only counts them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace duewheel {

// A file of zeros, synced; its name is not durable yet.
struct SpareSegment {
    std::string name;
    std::unique_ptr<File> file;
    std::uint64_t bytes = 0;
};

enum class SpareSize : std::uint8_t { at_least, exactly };

// Any thread; prepare() is for one thread at a time and may run at the same time as take().
class SpareSegments {
  public:
    // `wanted`: how many prepare() keeps ready. The file system must outlive this.
    SpareSegments(FileSystem& files, std::string directory, std::uint64_t segment_bytes, std::size_t wanted);

    // Takes over what an earlier run left: names in the directory. Removes partly filled files.
    Status adopt(const std::vector<std::string>& names);

    // Fills until enough are ready. Blocks for as long as the disk takes. `no_space`: the disk is full; what had been
    // filled of the next one was freed. Other codes as of the file system.
    Status prepare();
    // A spare of at least `bytes`, or of exactly `bytes`: a ready one, or one that is filled now. Codes as of
    // prepare().
    Result<SpareSegment> take(std::uint64_t bytes, SpareSize size);
    // Returns one that was taken and could not be used; its content may be anything.
    void return_spare(SpareSegment spare);
    // Removes one to free its space; false if there are no more than `keep`.
    Result<bool> give_up(std::size_t keep);

    std::size_t wanted() const { return wanted_; }
    std::size_t ready() const;
    std::size_t held() const;     // ready or not
    std::uint64_t bytes() const;  // on disk, ready or not

    static bool is_spare_name(std::string_view name);

  private:
    Result<SpareSegment> fill_new(std::uint64_t bytes);
    Status clean(SpareSegment& spare);
    bool pop(std::vector<SpareSegment>& from, SpareSegment& into);
    std::string path(const std::string& name) const { return directory_ + "/" + name; }

    FileSystem& files_;
    const std::string directory_;
    const std::uint64_t segment_bytes_;
    const std::size_t wanted_;

    mutable std::mutex mutex_;
    std::vector<SpareSegment> ready_;  // guarded by mutex_
    std::vector<SpareSegment> found_;  // guarded by mutex_; content unknown
    std::uint64_t next_number_ = 1;    // guarded by mutex_
};

}  // namespace duewheel
