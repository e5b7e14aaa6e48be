#include <algorithm>
#include <limits>

#include "shared/random.h"
#include <duewheel/jitter.h>

namespace duewheel {
namespace {

// One number from seed, name and instant. After each word a step mixes the whole state (shared/random.h), so that names
// that differ in one letter and instants that differ in one second have independent delays.
std::uint64_t mixed(std::uint64_t seed, std::string_view name, Instant nominal) {
    std::uint64_t state = seed;
    const auto take_in = [&state](std::uint64_t word) {
        const std::uint64_t drawn = splitmix64(state);
        state = drawn ^ word;
    };
    take_in(name.size());
    for (const char letter : name) take_in(static_cast<unsigned char>(letter));
    take_in(static_cast<std::uint64_t>(nominal.time_since_epoch().count()));
    return splitmix64(state);
}

}  // namespace

Instant with_jitter(Instant nominal, std::string_view name, Jitter jitter) {
    if (jitter.max.count() <= 0) return nominal;
    const auto most = static_cast<std::uint64_t>(jitter.max.count());
    const std::uint64_t delay = Random(mixed(jitter.seed, name, nominal)).below(most + 1);
    const std::int64_t begin = nominal.time_since_epoch().count();
    const std::int64_t room =
        begin <= 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::max() - begin;
    return nominal +
           std::chrono::milliseconds(static_cast<std::int64_t>(std::min(delay, static_cast<std::uint64_t>(room))));
}

}  // namespace duewheel
