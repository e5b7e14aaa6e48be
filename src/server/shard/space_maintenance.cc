#include "server/shard/space_maintenance.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::int64_t kCheckNs = 10'000'000'000;
constexpr std::int64_t kCheckScarceNs = 1'000'000'000;

}  // namespace

SpaceMaintenance::SpaceMaintenance(const ShardContext& context, std::function<void()> then)
    : context_(context), then_(std::move(then)), facts_(context.parts.directory_facts()) {}

void SpaceMaintenance::begin() {
    next_ns_ = monotonic_now_ns() + (context_.parts.space().is_close() ? kCheckScarceNs : kCheckNs);
    if (queued_.exchange(true)) return;
    worker_.run([this] {
        queued_ = false;
        const Result<SpaceReading> seen = context_.parts.maintain_spare_segments();
        if (!seen) context_.on_fatal_error(seen.error());
        context_.loop.post([this, seen = *seen, facts = context_.parts.directory_facts()] {
            facts_ = facts;
            observe(seen);
        });
    });
}

void SpaceMaintenance::begin_if_due() {
    if (monotonic_now_ns() >= next_ns_) begin();
}

void SpaceMaintenance::report() {
    if (context_.parts.report_free_space()) begin();
    log_state();
}

void SpaceMaintenance::observe(const SpaceReading& seen) {
    context_.parts.take_space(seen);
    if (context_.parts.space().is_close()) next_ns_ = std::min(next_ns_, monotonic_now_ns() + kCheckScarceNs);
    then_();
}

void SpaceMaintenance::save_end(std::function<void()> then) {
    worker_.run([this, then = std::move(then)]() mutable {
        const Status saved = context_.parts.save_end(true);
        if (!saved && saved.error().code != "no_space"_code) context_.on_fatal_error(saved.error());
        context_.loop.post(std::move(then));
    });
}

void SpaceMaintenance::log_state() {
    struct Step {
        LogLevel level;
        const char* event;
        const char* sentence;
    };
    static constexpr Step kSteps[] = {
        {LogLevel::warning, "disk_space_low", "The disk is nearly full: puts are refused until there is space."},
        {LogLevel::warning, "disk_reserve_in_use",
         "The disk is full except for the log's reserve: moves, changes of settings and all other writes that end no "
         "message are refused too."},
        {LogLevel::warning, "disk_reserve_used_up",
         "What remains of the log's reserve is kept for cleaning: once the open segment is full, acks and cancels are "
         "refused too until cleaning has freed space."},
        {LogLevel::warning, "disk_full",
         "The disk is full and the log's reserve is used up: once the open segment is full, all writes wait until "
         "there is space."},
    };
    const LogSpace now = context_.parts.log_space();
    const SpaceWatch& space = context_.parts.space();
    const SpaceReading& seen = space.seen();
    if (now == LogSpace::enough && logged_ != now) {
        logged_ = now;
        context_.log.info("disk_space_ok", "The disk has enough space again. Puts are accepted.",
                          {{"free_bytes", seen.free_bytes}});
    }
    for (; logged_ < now; logged_ = static_cast<LogSpace>(static_cast<int>(logged_) + 1)) {
        const Step& step = kSteps[static_cast<int>(logged_)];
        const LogField fields[] = {{"free_bytes", seen.free_bytes},
                                   {"resume_bytes", space.resume_bytes()},
                                   {"spare_segments", seen.ready_spares}};
        context_.log.write(step.level, step.event, step.sentence, fields);
    }
}

}  // namespace duewheel
