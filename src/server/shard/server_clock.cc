#include "server/shard/server_clock.h"

#include <algorithm>

namespace duewheel {
namespace {

__extension__ typedef __int128 Wide;  // nanoseconds times millionths exceed 64 bits

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kHourNs = 3600 * kSecondNs;

constexpr std::int64_t kFineNs = 50'000'000;
constexpr std::int64_t kFinePpm = 500;
constexpr std::int64_t kCoarseNs = ServerClock::kFarMs * 1'000'000;
constexpr std::int64_t kCoarsePpm = 100'000;
constexpr std::int64_t kQuarantineNs = 60 * kSecondNs;
constexpr std::int64_t kBelievedNs = 24 * kHourNs;
constexpr std::int64_t kBelievedAtStartNs = 400 * 24 * kHourNs;
// A wall clock that is watched may be slewed meanwhile, but not set.
constexpr std::int64_t kStableNs = kSecondNs;

constexpr std::int64_t share(std::int64_t ns, std::int64_t ppm) {
    return static_cast<std::int64_t>(Wide{ns} * ppm / kMillion);
}

constexpr Wide share_up(std::int64_t ns, std::int64_t part, std::int64_t of) {
    return (Wide{ns} * part + of - 1) / of;
}

}  // namespace

ClockStart clock_start(DueMs floor_ms, const ClockMark& mark, const std::string& machine_run, std::int64_t boot_ns) {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    ClockStart start;
    start.floor_ms = floor_ms;
    const DueMs at_ms = boot_ns / kNsPerMs + mark.ahead_of_boot_ms;
    const bool is_same_run = !machine_run.empty() && mark.machine_run == machine_run;
    if (is_same_run && floor_ms <= at_ms + ServerClock::kFarMs) {
        start.continues_at_ms = std::max(at_ms, floor_ms);
        start.by_boot_clock = true;
    } else if (mark.doubted && floor_ms > 0) {
        start.continues_at_ms = floor_ms;
    }
    return start;
}

ServerClock::ServerClock(ClockRules rules, ClockReading now, ClockStart start) : rules_(rules), boot_ns_(now.boot_ns) {
    const std::int64_t latest_ns = kServerTimeMaxMs * kMs;
    const std::int64_t wall_ns = std::clamp<std::int64_t>(now.wall_ns, 0, latest_ns);
    const std::int64_t floor_ns = std::clamp<DueMs>(start.floor_ms, 0, kServerTimeMaxMs) * kMs;
    server_ns_ = std::max(wall_ns, floor_ns);
    if (rules_.test) {
        state_ = ClockState::test;
        return;
    }
    const bool holds = rules_.on_jump == ClockJump::hold;
    if (start.continues_at_ms) {
        const std::int64_t known_ns = std::clamp<DueMs>(*start.continues_at_ms, floor_ns / kMs, kServerTimeMaxMs) * kMs;
        const std::int64_t ahead_ns = wall_ns - known_ns;
        if (ahead_ns > kCoarseNs) server_ns_ = known_ns;
        if (ahead_ns > kBelievedNs && holds) state_ = ClockState::held;
    } else if (floor_ns > 0 && wall_ns - floor_ns > kBelievedAtStartNs && holds) {
        server_ns_ = floor_ns;
        state_ = ClockState::held;
    }
    observe(now);
}

std::int64_t ServerClock::now_ns(std::int64_t boot_ns) const {
    const std::int64_t passed = std::max<std::int64_t>(0, boot_ns - boot_ns_);
    const std::int64_t corrected = share(passed, ppm_);
    const std::int64_t correction =
        correction_ns_ < 0 ? -std::min(corrected, -correction_ns_) : std::min(corrected, correction_ns_);
    return server_ns_ + passed + correction;
}

// Two parts: during the correction, and after it.
std::int64_t ServerClock::ns_until(DueMs at_ms, std::int64_t boot_ns) const {
    const std::int64_t at_ns = std::min(at_ms, kServerTimeMaxMs) * kMs;
    if (now_ns(boot_ns) >= at_ns) return 0;
    const std::int64_t wanted = at_ns - server_ns_;  // of server time since boot_ns_
    const std::int64_t way = correction_ns_ < 0 ? -ppm_ : ppm_;
    const Wide corrected_for = share_up(std::abs(correction_ns_), kMillion, ppm_);  // of decades, centuries
    const Wide passed = wanted <= corrected_for + correction_ns_ ? share_up(wanted, kMillion, kMillion + way)
                                                                 : Wide{wanted} - correction_ns_;
    std::int64_t until = boot_ns_ + static_cast<std::int64_t>(passed) - 2;
    while (now_ns(until) < at_ns) ++until;  // fractions of a nanosecond were rounded
    return std::max<std::int64_t>(0, until - boot_ns);
}

bool ServerClock::observe(ClockReading now) {
    const ClockState before = state_;
    const std::uint64_t jumps_before = jumps_;
    server_ns_ = now_ns(now.boot_ns);
    boot_ns_ = std::max(boot_ns_, now.boot_ns);
    correction_ns_ = 0;
    if (state_ == ClockState::test) return false;
    now.wall_ns = std::clamp<std::int64_t>(now.wall_ns, 0, kServerTimeMaxMs * kMs);
    const std::int64_t ahead_ns = now.wall_ns - server_ns_;
    if (ahead_ns > kCoarseNs) {
        state_ = watch(now, ahead_ns);
    } else {
        const bool was_slow = state_ == ClockState::slow && ahead_ns < -kFineNs;
        state_ = was_slow || ahead_ns < -kCoarseNs ? ClockState::slow : ClockState::steady;
        steer(ahead_ns);
    }
    return state_ != before || jumps_ != jumps_before;
}

void ServerClock::steer(std::int64_t ahead_ns) {
    correction_ns_ = ahead_ns;
    ppm_ = std::abs(ahead_ns) <= kFineNs ? kFinePpm : kCoarsePpm;
}

// The state for a wall clock that is set ahead. A held one may stay so for days: it is watched again only after it has
// returned to a credible time.
ClockState ServerClock::watch(ClockReading now, std::int64_t ahead_ns) {
    if (state_ == ClockState::held && ahead_ns > kBelievedNs) return ClockState::held;
    const std::int64_t offset_ns = now.wall_ns - now.boot_ns;
    const bool is_watched = state_ == ClockState::quarantine && std::abs(offset_ns - watched_offset_ns_) <= kStableNs;
    if (!is_watched) {
        watched_since_ns_ = now.boot_ns;
        watched_offset_ns_ = offset_ns;
        return ClockState::quarantine;
    }
    if (now.boot_ns - watched_since_ns_ < kQuarantineNs) return ClockState::quarantine;
    if (ahead_ns > kBelievedNs && rules_.on_jump == ClockJump::hold) return ClockState::held;
    jump_to(now.wall_ns);
    return ClockState::steady;
}

void ServerClock::jump_to(std::int64_t at_ns) {
    server_ns_ = std::max(server_ns_, at_ns);
    correction_ns_ = 0;
    ++jumps_;
}

ClockMark ServerClock::mark(const std::string& machine_run) const {
    return {machine_run, (server_ns_ - boot_ns_) / kMs, is_doubtful()};
}

// With a mark that is behind, the next start would distrust a time that this run trusts; with one that is ahead, it
// would trust as much more.
bool ServerClock::is_saved_in(const ClockMark& mark, const std::string& machine_run) const {
    constexpr std::int64_t kOffMs = 1'000;
    if (state_ == ClockState::test) return true;
    if (mark.doubted != is_doubtful() || mark.machine_run != machine_run) return false;
    return std::abs((server_ns_ - boot_ns_) / kMs - mark.ahead_of_boot_ms) <= kOffMs;
}

bool ServerClock::accept(ClockReading now) {
    observe(now);
    if (!is_doubtful()) return false;
    jump_to(std::clamp<std::int64_t>(now.wall_ns, 0, kServerTimeMaxMs * kMs));
    state_ = ClockState::steady;
    return true;
}

void ServerClock::advance(std::int64_t by_ms, ClockReading now) {
    observe(now);
    jump_to(std::min(server_ns_ / kMs + by_ms, kServerTimeMaxMs) * kMs + server_ns_ % kMs);
}

ClockStatus ServerClock::status(ClockReading now) const {
    ClockStatus status;
    status.server_ms = now_ms(now.boot_ns);
    status.wall_ms = now.wall_ns / kMs;
    status.state = state_;
    status.on_jump = rules_.on_jump;
    status.jumps = jumps_;
    return status;
}

}  // namespace duewheel
