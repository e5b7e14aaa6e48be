#include "directory_owner.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace duewheel {

Status give_to_owner(const std::string& directory) {
    struct stat owner {};
    if (::geteuid() != 0 || ::stat(directory.c_str(), &owner) != 0 || owner.st_uid == 0) return {};
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator each(directory, failed), end; !failed && each != end;
         each.increment(failed)) {
        struct stat seen {};
        const char* path = each->path().c_str();
        if (::lstat(path, &seen) != 0 || seen.st_uid != 0) continue;
        if (::lchown(path, owner.st_uid, owner.st_gid) != 0) failed.assign(errno, std::generic_category());
    }
    if (!failed) return {};
    return Error{"not_owner", "the command succeeded, but files in " + directory +
                                  " could not be given to its owner (" + failed.message() +
                                  "): change their owner with chown -R before you start the server"};
}

}  // namespace duewheel
