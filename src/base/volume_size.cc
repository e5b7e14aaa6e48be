#include "base/volume_size.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/statvfs.h>

#include "base/error_codes.h"

namespace duewheel {

Result<std::uint64_t> volume_bytes(const std::string& directory) {
    std::error_code failed;
    std::filesystem::path path = std::filesystem::absolute(directory, failed);
    while (!failed) {
        struct statvfs facts {};
        if (::statvfs(path.c_str(), &facts) == 0) {
            return static_cast<std::uint64_t>(facts.f_blocks) * static_cast<std::uint64_t>(facts.f_frsize);
        }
        if (errno == EINTR) continue;
        if (errno != ENOENT || !path.has_relative_path()) failed = std::error_code(errno, std::generic_category());
        path = path.parent_path();
    }
    return Error{"io_error"_code, "cannot tell the size of the file system of " + directory + ": " + failed.message()};
}

}  // namespace duewheel
