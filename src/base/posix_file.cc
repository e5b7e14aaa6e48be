// The operating system's disk behind base/file.h: plain system calls, each error turned into a value at once.
//
// Reads and writes loop until all is done (a call may do less than asked, and a signal may cut it short). Every
// descriptor is close-on-exec, so that a program started by the server never holds the lock or a file of it.
// There is no buffering, no retry of a failed sync and no silent fallback.
//
// A directory made here is durable on return. It is made from the top down and its name synced in its parent before the
// next one is made; so whatever an earlier run left unsynced when it was killed can only be the deepest directory that
// is there, and its parent is synced again.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/disk_guard.h"
#include "base/error_codes.h"
#include "base/file.h"

namespace duewheel {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0750;
constexpr const char* kLockName = "LOCK";

ErrorCode code_of(int number) {
    switch (number) {
        case ENOENT:
            return "not_found"_code;
        case EEXIST:
            return "already_exists"_code;
        case ENOSPC:
        case EDQUOT:
            return "no_space"_code;
        case EWOULDBLOCK:
            return "in_use"_code;
        default:
            return "io_error"_code;
    }
}

// `action` completes "cannot ...".
Error failure(int number, std::string_view action, const std::string& path) {
    return Error{code_of(number),
                 "cannot " + std::string(action) + " " + path + ": " + std::generic_category().message(number),
                 {}};
}

template <class Call>
auto retried_when_interrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result != -1 || errno != EINTR) return result;
    }
}

// Owns a descriptor. Ignores a failing close: data that must be durable was synced before.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }

  private:
    int number_;
};

Result<Descriptor> open_descriptor(const std::string& path, int flags) {
    const int number =
        retried_when_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, kFileMode); });
    if (number < 0) return failure(errno, "open", path);
    return Descriptor(number);
}

// The kernel counts offsets in a signed type: one of 2^63 or more becomes negative there and is refused.
class PosixFile final : public File {
  public:
    PosixFile(Descriptor descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes into) const override {
        assert_disk_is_allowed();
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got = retried_when_interrupted([&] {
                return ::pread(descriptor_.number(), into.data() + done, into.size() - done,
                               static_cast<off_t>(offset + done));
            });
            if (got < 0) return failure(errno, "read", path());
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    Status write_at(std::uint64_t offset, ConstBytes bytes) override {
        assert_disk_is_allowed();
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t put = retried_when_interrupted([&] {
                return ::pwrite(descriptor_.number(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
            });
            if (put < 0) return failure(errno, "write", path());
            if (put == 0) return failure(EIO, "write", path());
            done += static_cast<std::size_t>(put);
        }
        return {};
    }

    Status sync_data() override {
        assert_disk_is_allowed();
        if (retried_when_interrupted([&] { return ::fdatasync(descriptor_.number()); }) != 0) {
            return failure(errno, "sync", path());
        }
        return {};
    }

    Result<std::uint64_t> size() const override {
        struct stat facts {};
        if (::fstat(descriptor_.number(), &facts) != 0) return failure(errno, "look at", path());
        return static_cast<std::uint64_t>(facts.st_size);
    }

    Status truncate(std::uint64_t size) override {
        const auto cut = [&] { return ::ftruncate(descriptor_.number(), static_cast<off_t>(size)); };
        if (retried_when_interrupted(cut) != 0) return failure(errno, "truncate", path());
        return {};
    }

  private:
    // A file is renamed while it is open: a spare segment becomes one of the log. Errors name it as it is called now.
    std::string path() const {
        const std::string link = "/proc/self/fd/" + std::to_string(descriptor_.number());
        std::error_code unknown;
        const std::filesystem::path target = std::filesystem::read_symlink(link, unknown);
        struct stat facts {};
        const bool is_named = !unknown && ::fstat(descriptor_.number(), &facts) == 0 && facts.st_nlink > 0;
        if (!is_named) return path_;
        return (std::filesystem::path(path_).parent_path() / target.filename()).string();
    }

    Descriptor descriptor_;
    std::string path_;
};

// The lock belongs to the open file description; closing the descriptor releases it.
class PosixDirectoryLock final : public DirectoryLock {
  public:
    explicit PosixDirectoryLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  private:
    Descriptor descriptor_;
};

// Normalised, without a slash at the end (but "/" itself).
std::filesystem::path plain(const std::string& path) {
    std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

std::string parent_of(const std::filesystem::path& path) {
    const std::filesystem::path parent = path.parent_path();
    return parent.empty() ? "." : parent.string();
}

// 0, or the number of the error.
int sync_directory_errno(const std::string& directory) {
    const int number = retried_when_interrupted(
        [&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY); });
    if (number < 0) return errno;
    const Descriptor opened(number);
    return retried_when_interrupted([&] { return ::fsync(number); }) == 0 ? 0 : errno;
}

bool names_directory(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

// Syncs the name of an existing directory. A directory in an unreadable parent, or on a read-only file system, was not
// created by this program.
Status sync_name_of_existing(const std::filesystem::path& directory) {
    if (directory.empty() || directory == directory.root_path()) return {};
    const std::string parent = parent_of(directory);
    const int number = sync_directory_errno(parent);
    if (number == 0 || number == EACCES || number == EROFS || number == EINVAL) return {};
    return failure(number, "sync directory", parent);
}

class PosixFileSystem final : public FileSystem {
  public:
    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
        int flags = O_RDWR;
        if (mode == OpenMode::read) flags = O_RDONLY;
        if (mode == OpenMode::create) flags = O_RDWR | O_CREAT | O_EXCL;
        Result<Descriptor> opened = open_descriptor(path, flags);
        if (!opened) return std::move(opened).error();
        struct stat facts {};
        if (::fstat(opened->number(), &facts) != 0) return failure(errno, "look at", path);
        if (S_ISDIR(facts.st_mode)) return failure(EISDIR, "open", path);
        return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(*opened), path));
    }

    Result<std::vector<std::string>> list(const std::string& directory) const override {
        std::error_code failed;
        std::filesystem::directory_iterator entry(directory, failed);
        std::vector<std::string> names;
        for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
            names.push_back(entry->path().filename().string());
        }
        if (failed) return failure(failed.value(), "list", directory);
        std::sort(names.begin(), names.end());
        return names;
    }

    Status remove(const std::string& path) override {
        if (::unlink(path.c_str()) != 0) return failure(errno, "remove", path);
        return {};
    }

    Status remove_tree(const std::string& path) override {
        std::error_code failed;
        std::filesystem::remove_all(path, failed);
        if (failed) return failure(failed.value(), "remove", path);
        return {};
    }

    Status rename(const std::string& from, const std::string& to) override {
        if (parent_of(plain(from)) != parent_of(plain(to))) return failure(EXDEV, "rename " + from + " to", to);
        if (std::rename(from.c_str(), to.c_str()) != 0) return failure(errno, "rename " + from + " to", to);
        return {};
    }

    Status make_directories(const std::string& path) override {
        if (path.empty()) return failure(ENOENT, "make directory", path);
        std::filesystem::path deepest = plain(path);
        std::vector<std::filesystem::path> missing;  // the lowest first, until they are reversed
        while (!deepest.empty() && !names_directory(deepest) && deepest != deepest.root_path()) {
            missing.push_back(deepest);
            deepest = deepest.parent_path();
        }
        if (Status synced = sync_name_of_existing(deepest); !synced) return synced;
        std::reverse(missing.begin(), missing.end());
        for (const std::filesystem::path& directory : missing) {
            const int number = ::mkdir(directory.c_str(), kDirectoryMode) == 0 ? 0 : errno;
            const bool made_by_another = number == EEXIST && names_directory(directory);
            if (number != 0 && !made_by_another) return failure(number, "make directory", directory.string());
            if (Status synced = sync_directory(parent_of(directory)); !synced) return synced;
        }
        return {};
    }

    Status sync_directory(const std::string& directory) override {
        if (const int number = sync_directory_errno(directory); number != 0) {
            return failure(number, "sync directory", directory);
        }
        return {};
    }

    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) override {
        const std::string path = (std::filesystem::path(directory) / kLockName).string();
        Result<Descriptor> opened = open_descriptor(path, O_RDWR | O_CREAT);
        if (!opened) return std::move(opened).error();
        const int number = opened->number();
        if (retried_when_interrupted([&] { return ::flock(number, LOCK_EX | LOCK_NB); }) != 0) {
            Error error = failure(errno, "lock", path);
            if (error.code == "in_use"_code) error.message += " (another server uses this directory; stop it first)";
            return error;
        }
        return std::unique_ptr<DirectoryLock>(std::make_unique<PosixDirectoryLock>(std::move(*opened)));
    }

    Result<std::uint64_t> free_bytes(const std::string& directory) const override {
        struct statvfs facts {};
        if (retried_when_interrupted([&] { return ::statvfs(directory.c_str(), &facts); }) != 0) {
            return failure(errno, "look at the free space of", directory);
        }
        return static_cast<std::uint64_t>(facts.f_bavail) * static_cast<std::uint64_t>(facts.f_frsize);
    }
};

}  // namespace

FileSystem& posix_file_system() {
    static PosixFileSystem file_system;
    return file_system;
}

}  // namespace duewheel
