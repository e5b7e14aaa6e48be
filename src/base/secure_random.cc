#include "base/secure_random.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <sys/random.h>

#include "base/error_codes.h"

namespace duewheel {

Status secure_random_bytes(std::span<std::byte> into) {
    while (!into.empty()) {
        const ssize_t got = ::getrandom(into.data(), into.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return Error{"io_error"_code, "cannot get random bytes: " + std::generic_category().message(errno), {}};
        }
        into = into.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

}  // namespace duewheel
