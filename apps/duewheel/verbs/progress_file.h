// The file in which a command of `lease --exec` says how far it is, in lines such as `progress 0.4` and
// `checkpoint {"at": 3}`. The newest complete line of each kind counts. The command may append to the file or replace
// it, and both may leave its size as it was, so it is read from the beginning each time; of a file that has grown
// large, only the end.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

class ProgressFile {
  public:
    // What the file says of one kind.
    struct Kind {
        std::string_view member;  // of an extension; also the first word of the line
        std::string json;         // empty: no line yet
        std::string sent;
    };

    // In a new directory below TMPDIR that only this user can enter; the destructor removes it. Code `io_error`.
    static Result<std::unique_ptr<ProgressFile>> make();
    ~ProgressFile();
    ProgressFile(const ProgressFile&) = delete;
    ProgressFile& operator=(const ProgressFile&) = delete;

    // There is no file until the command writes one.
    std::string path() const { return directory_ + "/progress"; }

    // Reads the file. `has_ended`: the command has, so a last line without a line feed is not one that is being
    // written. Returns a line that is of neither kind; of all calls, only the first that finds one does.
    std::optional<std::string> read(bool has_ended);

    std::array<Kind, 2>& kinds() { return kinds_; }

  private:
    explicit ProgressFile(std::string directory) : directory_(std::move(directory)) {}

    bool read_line(std::string_view line);

    std::string directory_;
    std::array<Kind, 2> kinds_{Kind{"checkpoint", {}, {}}, Kind{"progress", {}, {}}};
    bool has_reported_ = false;
};

}  // namespace duewheel
