// How far a node has read the topic of its log, so that a start need not read the topic from its front: the file
// `topic` in the data directory.
//
// It is written at the beginning of a segment, and may be behind: everything before the position is durable in the
// local log. It can always be found again by reading from the front, so a damaged one counts as none.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "replication/topic_chain.h"

namespace duewheel {

class PositionFile {
  public:
    PositionFile(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

    // Nothing if there is none.
    Result<std::optional<ChainPosition>> read() const;
    // Durable on return. Codes: `no_space`, `io_error`.
    Status write(const ChainPosition& position);
    Status remove();

  private:
    std::string path() const { return directory_ + "/topic"; }

    FileSystem& files_;
    const std::string directory_;
};

}  // namespace duewheel
