// Loaded into the daemon before the C library: fdatasync fails once the file that DUEWHEEL_FAIL_SYNC_WHEN names exists,
// of all files or, with DUEWHEEL_FAIL_SYNC_OF, of those whose path contains that text.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {

bool is_meant(int descriptor) {
    const char* part = std::getenv("DUEWHEEL_FAIL_SYNC_OF");
    if (part == nullptr) return true;
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    return readlink(link.c_str(), path, sizeof path - 1) > 0 && std::strstr(path, part) != nullptr;
}

}  // namespace

extern "C" int fdatasync(int descriptor) {
    using Sync = int (*)(int);
    static const Sync real = reinterpret_cast<Sync>(dlsym(RTLD_NEXT, "fdatasync"));
    const char* trigger = std::getenv("DUEWHEEL_FAIL_SYNC_WHEN");
    if (trigger != nullptr && access(trigger, F_OK) == 0 && is_meant(descriptor)) {
        errno = EIO;
        return -1;
    }
    return real(descriptor);
}
