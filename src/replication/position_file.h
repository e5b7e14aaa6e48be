// Where the segments of the local log begin in the topic: the file `topic` in the data directory.
//
// A start reads the topic from the newest of these positions instead of its front, and the owner deletes the topic up
// to the one of its oldest segment. Each is written when its segment begins, so the file may be behind; everything
// before a position is durable in the local log. The positions can always be found again by reading the topic from its
// front, so damaged ones count as missing.
//
// Reading is for any thread, writing for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "replication/topic_chain.h"

namespace duewheel {

class PositionFile {
  public:
    PositionFile(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

    // The oldest first; without those from the first damaged one on.
    Result<std::vector<ChainPosition>> read() const;
    // Adds the position of the newest segment. Positions that do not precede it belong to another log, and those with a
    // commit before `front_commit` to segments that no longer exist: they are omitted.
    // Durable on return. Codes: `no_space`, `io_error`.
    Status add(const ChainPosition& position, std::uint64_t front_commit);
    Status remove();

  private:
    std::string path() const { return directory_ + "/topic"; }
    Status write(const std::string& bytes);

    FileSystem& files_;
    const std::string directory_;
};

}  // namespace duewheel
