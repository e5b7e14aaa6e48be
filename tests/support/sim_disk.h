// A disk in memory for the simulator: it keeps apart what a program sees and what would be there after a power cut, and
// it fails on command.
//
// What a crash does, and why so:
//   - Bytes. A file has durable bytes and a list of writes since the last sync_data(). The device writes sectors of 512
//     bytes, each whole or not at all, in any order. So each sector ends, by chance and apart from all others, as one
//     of the versions it went through since the sync: torn and reordered writes fall out. A lost sector beyond the
//     durable end may still have made the file longer, with zeros.
//         synced "aaaa", then write "bb" at 0 and "c" at 1: after a crash "aaaa", "bbaa" or "bcaa"; never "acaa"
//   - Names. create, rename and remove wait for sync_directory(). Each may be kept or lost by chance, but of those on
//     one name the earlier come first, as in a file system with a journal; a rename is there whole or not at all.
//   - A failed sync. Some of the bytes are durable, and the others never will be, however often sync succeeds later,
//     though reads still show them: the page cache has forgotten that they are not on the device.
//   - Handles and locks from before the crash are dead: a file answers io_error, a lock is free.
// Each crash first draws how much survives, from nothing to all, because one fixed chance would hardly ever leave a
// long file wholly kept or wholly lost.
//
// Everything is decided by the seed, by the generator given to the crash and by the order of the calls. For one thread.
// Paths are those of a disk of its own, whose root "/" is there from the start; "a/b" means "/a/b". It knows no links,
// no permissions and no time; sync of a file does not make its name durable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "shared/random.h"

namespace duewheel {

enum class DiskOperation {
    open,
    read,
    write,
    sync_data,
    size,
    truncate,
    list,
    remove,
    remove_tree,
    rename,
    make_directories,
    sync_directory,
    lock,
    free_bytes,
};
inline constexpr std::size_t kDiskOperationCount = 14;

class SimDisk final : public FileSystem {
  public:
    static constexpr std::uint64_t kSectorBytes = 512;
    static constexpr std::uint64_t kDefaultCapacityBytes = std::uint64_t{1} << 40;

    // `seed` decides what a failing write or sync leaves behind.
    explicit SimDisk(std::uint64_t seed = 0);
    SimDisk(const SimDisk&) = delete;
    SimDisk& operator=(const SimDisk&) = delete;
    // Files and locks must be gone before.
    ~SimDisk() override;

    // The power is cut and comes back: what was not durable is kept or lost as `random` draws. Faults that were ordered
    // stay; counts go on.
    void crash(Random& random);
    // The two halves of crash(), for a cut in the middle of a call (from the hook): in between each operation, on any
    // handle or path, answers io_error, so that the program that was cut off can do no more harm.
    void power_off(Random& random);
    void power_on();

    // The `nth` operation of this kind from now (1: the next) fails with io_error. A failing write may have written a
    // part from the front. One order per kind; a later one replaces it, and 0 takes it back.
    void fail(DiskOperation operation, std::uint64_t nth = 1);
    // All files together may hold so many bytes; beyond that write and truncate answer no_space, a write after filling
    // what is left. May be below what is held already.
    void set_capacity(std::uint64_t bytes);
    // Damages one byte, durable and seen: it becomes its exclusive or with `mask`. The file must be there and longer.
    void flip(const std::string& path, std::uint64_t offset, std::byte mask = std::byte{0xff});
    // Called before each operation takes effect, with its path as given; may call crash(), power_off() and fail().
    // Empty: none.
    void set_hook(std::function<void(DiskOperation, std::string_view path)> hook);

    // How often an operation was called, the failed ones included.
    std::uint64_t count(DiskOperation operation) const;
    std::uint64_t used_bytes() const;

    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Result<std::vector<std::string>> list(const std::string& directory) const override;
    Status remove(const std::string& path) override;
    Status remove_tree(const std::string& path) override;
    Status rename(const std::string& from, const std::string& to) override;
    Status make_directories(const std::string& path) override;
    Status sync_directory(const std::string& directory) override;
    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) override;
    Result<std::uint64_t> free_bytes(const std::string& directory) const override;

  private:
    struct Machine;
    class OpenFile;
    class Lock;

    std::unique_ptr<Machine> machine_;
};

}  // namespace duewheel
