// Loaded into the daemon before the C library: names in `.slow.test` are not looked up for a minute, as by a name
// server that has gone; a name that the file DUEWHEEL_NAMES has, a line each with the addresses behind it, has these.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <netdb.h>

namespace {

using LookUp = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

int look_up(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
    static const LookUp real = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(name, service, hints, found);
}

// The addresses of a name in the order of its line; nothing where it has none.
std::string addresses_of(const std::string& name) {
    const char* file = std::getenv("DUEWHEEL_NAMES");
    std::ifstream lines(file != nullptr ? file : "");
    for (std::string line; std::getline(lines, line);) {
        std::string known;
        std::istringstream words(line);
        if (words >> known && known == name) return line.substr(name.size());
    }
    return {};
}

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
    const std::string asked = name != nullptr ? name : "";
    if (asked.ends_with(".slow.test")) {
        std::this_thread::sleep_for(std::chrono::minutes(1));
        return EAI_AGAIN;
    }
    std::istringstream addresses(addresses_of(asked));
    addrinfo** last = found;
    *found = nullptr;
    for (std::string address; addresses >> address;) {
        if (const int error = look_up(address.c_str(), service, hints, last); error != 0) return error;
        while (*last != nullptr) last = &(*last)->ai_next;
    }
    return *found != nullptr ? 0 : look_up(name, service, hints, found);
}
