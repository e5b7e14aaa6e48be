#include "net/unix_socket.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"

namespace duewheel {

bool close_to_others(int socket) {
    return ::fchmod(socket, S_IRUSR | S_IWUSR) == 0;  // bind() takes the mode of the file from the socket
}

Status open_to_group(const std::string& path, gid_t group) {
    constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), group) != 0) {
        return Error{"forbidden_group"_code,
                     "Cannot give the socket " + path + " to the group with number " + std::to_string(group) + ": " +
                         std::generic_category().message(errno) + ". Start the server as a member of this group.",
                     ""};
    }
    if (::fchmodat(AT_FDCWD, path.c_str(), kMode, AT_SYMLINK_NOFOLLOW) == 0) return {};
    return Error{"io_error"_code,
                 "Cannot change the mode of the socket " + path + ": " + std::generic_category().message(errno) + ".",
                 ""};
}

std::string peer_of(int socket) {
    constexpr const char* kUnknown = "unknown";
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::getpeername(socket, raw, &size) != 0) return kUnknown;
    if (address.ss_family == AF_UNIX) {
        ucred user{};
        size = sizeof user;
        if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) return kUnknown;
        return "uid:" + std::to_string(user.uid);
    }
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(raw, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return kUnknown;
    return text.data();
}

}  // namespace duewheel
