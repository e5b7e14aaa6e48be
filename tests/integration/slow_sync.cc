// Loaded into the daemon before the C library: fdatasync takes as many milliseconds longer as the file that
// DUEWHEEL_SLOW_SYNC_MS names says; nothing where there is no such file.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <dlfcn.h>

extern "C" int fdatasync(int descriptor) {
    using Sync = int (*)(int);
    static const Sync real = reinterpret_cast<Sync>(dlsym(RTLD_NEXT, "fdatasync"));
    if (const char* file = std::getenv("DUEWHEEL_SLOW_SYNC_MS")) {
        int milliseconds = 0;
        if (std::ifstream(file) >> milliseconds) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    }
    return real(descriptor);
}
