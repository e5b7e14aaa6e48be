// The only interface to the disk. The daemon uses posix_file_system(); the simulator replaces it with a disk that loses
// unsynced data, tears writes and fails on command.
//
// Nothing here retries or hides errors. An error of the operating system is returned as an Error with one of the codes
//   not_found  already_exists  no_space  in_use  io_error
// and a message with the path and the system's own words. What a failed sync means (the process must stop) is decided
// by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace duewheel {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// An open file. Several threads may read and write at positions at once; all other calls are for one thread.
class File {
  public:
    virtual ~File() = default;

    // Fills `into` from `offset`; returns how many bytes were there (fewer only at the end of the file).
    virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes into) const = 0;
    // Writes all of `bytes` at `offset`, and extends the file if needed. Durable only after sync_data().
    virtual Status write_at(std::uint64_t offset, ConstBytes bytes) = 0;
    // Returns when all bytes written before the call are durable (fdatasync). After a failure the state of every write
    // since the last success is unknown.
    virtual Status sync_data() = 0;
    virtual Result<std::uint64_t> size() const = 0;
    // Truncates or extends (with zeros) to exactly `size` bytes.
    virtual Status truncate(std::uint64_t size) = 0;
};

enum class OpenMode {
    read,        // must exist
    read_write,  // must exist
    create,      // must not exist; read and write
};

// A lock that is held as long as the object lives. A second holder, in any process, gets `in_use`.
class DirectoryLock {
  public:
    virtual ~DirectoryLock() = default;
};

class FileSystem {
  public:
    virtual ~FileSystem() = default;

    virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
    // The names (not paths) in a directory, sorted; without "." and "..".
    virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
    virtual Status remove(const std::string& path) = 0;       // a file; directories go with remove_tree()
    virtual Status remove_tree(const std::string& path) = 0;  // a missing directory is not an error
    // Atomic; replaces the file `to`. Durable after sync_directory() of the directory that holds both; a rename from
    // one directory to another is refused (io_error), because no single sync would make it durable.
    virtual Status rename(const std::string& from, const std::string& to) = 0;
    // Creates `path` and its missing parents. An existing directory is not an error; a file at the path is
    // already_exists. The directories are durable on return, and so are other pending names next to them.
    virtual Status make_directories(const std::string& path) = 0;
    // Makes created, renamed and removed names in `directory` durable.
    virtual Status sync_directory(const std::string& directory) = 0;
    // Locks a file named LOCK in the directory, which is created if it is missing and stays there.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) = 0;
    virtual Result<std::uint64_t> free_bytes(const std::string& directory) const = 0;
};

// The operating system's disk. Lives as long as the process.
FileSystem& posix_file_system();

}  // namespace duewheel
