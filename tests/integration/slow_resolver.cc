// Loaded into the daemon before the C library: a look-up of a name in `.slow.test` is not answered for a minute, as by
// a name server that has gone.
#include <chrono>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <netdb.h>

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
    using LookUp = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const LookUp real = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "getaddrinfo"));
    if (name != nullptr && std::string_view(name).ends_with(".slow.test")) {
        std::this_thread::sleep_for(std::chrono::minutes(1));
        return EAI_AGAIN;
    }
    return real(name, service, hints, found);
}
