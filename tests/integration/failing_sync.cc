// Loaded into the daemon before the C library: fdatasync fails once the file that DUEWHEEL_FAIL_SYNC_WHEN names exists.
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

extern "C" int fdatasync(int descriptor) {
    using Sync = int (*)(int);
    static const Sync real = reinterpret_cast<Sync>(dlsym(RTLD_NEXT, "fdatasync"));
    const char* trigger = std::getenv("DUEWHEEL_FAIL_SYNC_WHEN");
    if (trigger != nullptr && access(trigger, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return real(descriptor);
}
