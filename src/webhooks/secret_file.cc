#include "webhooks/secret_file.h"

#include <array>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace duewheel {
namespace {

constexpr std::size_t kSecretFileBytesMax = 512;

struct OpenSecretFile {
    const int fd;
    ~OpenSecretFile() {
        if (fd >= 0) ::close(fd);
    }
};

}  // namespace

Result<Secret> read_secret_file(const std::string& path, const std::string& what, ErrorCode code) {
    const std::string which = "the file " + path + " of " + what;
    const OpenSecretFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat about {};
    if (file.fd < 0 || ::fstat(file.fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        return Error{code, which + " cannot be read; check its path and permissions"};
    }
    if ((about.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return Error{code, which +
                               " can be read or changed by other users; run chmod 600 on it, and replace the secret if "
                               "it may have been read"};
    }
    std::array<char, kSecretFileBytesMax + 1> bytes{};
    const ssize_t size = ::read(file.fd, bytes.data(), bytes.size());
    std::string_view text(bytes.data(), static_cast<std::size_t>(size > 0 ? size : 0));
    if (text.size() > kSecretFileBytesMax) text = {};
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    Secret secret{std::string(text)};
    ::explicit_bzero(bytes.data(), bytes.size());
    return secret;
}

}  // namespace duewheel
