// The one interface to the disk. The daemon uses posix_file_system(); the simulator puts a disk in its place that
// loses what was not synced, tears writes and fails on command.
//
// Nothing here retries or hides: an error of the operating system comes back as an Error whose code is one of
//   not_found  already_exists  no_space  in_use  io_error
// and whose message names the path and the system's own words. What a failed sync means (the process must stop) is the
// caller's rule, not this file's.
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

// An open file. Reads and writes at a position may run on several threads at once; anything else is for one thread.
class File {
  public:
    virtual ~File() = default;

    // Fills `into` from `offset`; returns how many bytes were there (fewer only at the end of the file).
    virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes into) const = 0;
    // Writes all of `bytes` at `offset`, growing the file where needed. Durable only after sync_data().
    virtual Status write_at(std::uint64_t offset, ConstBytes bytes) = 0;
    // Returns after all bytes written before the call are durable (fdatasync). After a failure nothing may be assumed
    // about any write since the last success.
    virtual Status sync_data() = 0;
    virtual Result<std::uint64_t> size() const = 0;
    // Cuts or extends (with zeros) to exactly `size` bytes.
    virtual Status truncate(std::uint64_t size) = 0;
};

enum class OpenMode {
    read,        // must exist
    read_write,  // must exist
    create,      // must not exist; read and write
};

// Held while it lives; a second holder, in this process or another, gets `in_use`.
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
    virtual Status remove_tree(const std::string& path) = 0;  // not there: fine
    // Atomic; replaces the file `to`. Durable after sync_directory() of the directory that holds both; a rename from
    // one directory to another is refused (io_error), because no single sync would make it durable.
    virtual Status rename(const std::string& from, const std::string& to) = 0;
    // Makes `path` and what is missing above it. There already: fine; a file in the way: already_exists. The
    // directories are durable on return, which makes other waiting names beside them durable too.
    virtual Status make_directories(const std::string& path) = 0;
    // Makes created, renamed and removed names in `directory` durable.
    virtual Status sync_directory(const std::string& directory) = 0;
    // Held on a file named LOCK in the directory, which is made when it is missing and stays there.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) = 0;
    virtual Result<std::uint64_t> free_bytes(const std::string& directory) const = 0;
};

// The operating system's disk. Lives as long as the process.
FileSystem& posix_file_system();

}  // namespace duewheel
