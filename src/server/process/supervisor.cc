#include "server/process/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

Error unreachable(std::string_view socket, int error) {
    return {"unreachable"_code, "the service manager's socket " + std::string(socket) +
                                    " (NOTIFY_SOCKET) cannot be reached: " + std::generic_category().message(error)};
}

}  // namespace

Status Supervisor::tell(std::string_view state) const {
    if (socket_.empty()) return {};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_.size() >= sizeof address.sun_path) return unreachable(socket_, ENAMETOOLONG);
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());

    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return unreachable(socket_, errno);
    const ssize_t sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&address), size);
    const int error = errno;
    ::close(descriptor);
    if (sent < 0) return unreachable(socket_, error);
    return {};
}

std::chrono::microseconds watchdog_interval(const char* usec, const char* pid, std::int64_t own_pid) {
    const auto number = [](const char* text) {
        std::int64_t value = 0;
        const char* end = text + std::strlen(text);
        const std::from_chars_result read = std::from_chars(text, end, value);
        return read.ec == std::errc() && read.ptr == end ? value : 0;
    };
    if (usec == nullptr || (pid != nullptr && number(pid) != own_pid)) return {};
    return std::chrono::microseconds(std::max<std::int64_t>(number(usec), 0) / 2);
}

KeepAlive::KeepAlive(std::function<void()> alive, std::chrono::microseconds interval) {
    if (interval.count() == 0) return;
    thread_ = std::thread([this, alive = std::move(alive), interval] {
        std::unique_lock lock(mutex_);
        do {
            alive();
        } while (!changed_.wait_for(lock, interval, [this] { return is_ending_; }));
    });
}

KeepAlive::~KeepAlive() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

}  // namespace duewheel
