#include "access/token_activity.h"

#include <algorithm>

namespace duewheel {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// When the bucket is full again after `amount` is taken at `now_ns`; `wait_ns`: how long the request has to wait, 0:
// not at all.
std::int64_t full_after(std::int64_t full_ns, std::uint64_t rate, std::uint64_t amount, std::int64_t now_ns,
                        std::int64_t& wait_ns) {
    if (rate == 0) return 0;
    const std::int64_t from = std::max(full_ns, now_ns);
    const auto takes = static_cast<std::int64_t>(static_cast<double>(amount) * kSecondNs / static_cast<double>(rate));
    // A request larger than the bucket waits until the bucket is full.
    const std::int64_t room = std::max<std::int64_t>(kSecondNs - takes, 0);
    wait_ns = std::max(wait_ns, from - now_ns - room);
    return from + takes;
}

}  // namespace

std::int64_t TokenActivity::admit(const AccessToken& token, std::size_t bytes, std::int64_t now_ns) {
    if (token.requests_per_second == 0 && token.bytes_per_second == 0) return 0;
    Use& use = use_of(token.id);
    std::int64_t wait_ns = 0;
    const std::int64_t requests = full_after(use.requests_full_ns, token.requests_per_second, 1, now_ns, wait_ns);
    const std::int64_t of_bytes = full_after(use.bytes_full_ns, token.bytes_per_second, bytes, now_ns, wait_ns);
    if (wait_ns > 0) return std::max<std::int64_t>((wait_ns + 999'999) / 1'000'000, 1);
    use.requests_full_ns = requests;
    use.bytes_full_ns = of_bytes;
    return 0;
}

void TokenActivity::note_use(std::string_view id, std::int64_t server_ms) {
    use_of(id).last_used_ms = server_ms;
}

std::int64_t TokenActivity::last_used_ms(std::string_view id) const {
    const auto found = uses_.find(id);
    return found == uses_.end() ? 0 : found->second.last_used_ms;
}

void TokenActivity::forget(std::string_view id) {
    if (const auto found = uses_.find(id); found != uses_.end()) uses_.erase(found);
}

TokenActivity::Use& TokenActivity::use_of(std::string_view id) {
    const auto found = uses_.find(id);
    return found != uses_.end() ? found->second : uses_.try_emplace(std::string(id)).first->second;
}

}  // namespace duewheel
