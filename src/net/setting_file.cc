#include "net/setting_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk_guard.h"

namespace duewheel {
namespace {

struct OpenFile {
    const int fd;
    ~OpenFile() {
        if (fd >= 0) ::close(fd);
    }
};

}  // namespace

Result<Secret> read_setting_file(const SettingFile& file, std::size_t bytes_max, std::string_view secret,
                                 std::string_view too_large) {
    assert_disk_is_allowed();
    const OpenFile open{::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat about {};
    if (open.fd < 0 || ::fstat(open.fd, &about) != 0) {
        return file.error("cannot be read: " + std::string(std::strerror(errno)) +
                          "; check the path and the permissions");
    }
    if (!S_ISREG(about.st_mode)) return file.error("is not a file; check the path");
    if (!secret.empty() && (about.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return file.error(
            "can be read or changed by other users; run chmod 600 on it (640 if its group needs it), and replace the " +
            std::string(secret) + " if it may have been read");
    }
    std::string text(bytes_max + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t part = ::read(open.fd, text.data() + size, text.size() - size);
        if (part < 0) return file.error("cannot be read: " + std::string(std::strerror(errno)));
        if (part == 0) break;
        size += static_cast<std::size_t>(part);
    }
    Secret content{text.substr(0, size)};
    ::explicit_bzero(text.data(), text.size());
    if (size > bytes_max) return file.error(too_large);
    return content;
}

}  // namespace duewheel
