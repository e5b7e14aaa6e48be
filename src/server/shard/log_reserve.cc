#include "server/shard/log_reserve.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

// The last segments of the reserve: one for the record that allows the front of the log to be deleted, one whose space
// a table uses, and, if the reserve is large enough, one for records that are relocated from the front.
constexpr std::size_t kKeptForCleaning = 3;

}  // namespace

LogReserve::LogReserve(FileSystem& files, std::string directory, LocalJournal& journal, const SpaceLimits& limits)
    : files_(files),
      directory_(std::move(directory)),
      journal_(journal),
      limits_(limits),
      kept_for_cleaning_(std::min(kKeptForCleaning, std::max<std::size_t>(limits.reserve_segments, 1) - 1)),
      watch_(limits) {}

// `keep`: the number of spares that are left.
Status LogReserve::run(const Step& step, std::size_t keep) {
    Status done = step();
    if (done || done.error().code != "no_space"_code) return done;
    const Result<bool> given = journal_.give_up_spare(keep);
    if (!given) return given.error();
    return *given ? step() : done;
}

Status LogReserve::run_to_save_mark(const Step& step) {
    return run(step, std::max(spares_of_the_log(), kept_for_cleaning_));
}

// Without the last spare the log could not continue after the open segment is full. While that accepts records, a table
// may use the spare: it allows the front of the log to be deleted.
std::size_t LogReserve::spares_of_the_log() const {
    return journal_.room().closed ? 1 : 0;
}

Result<SpaceReading> LogReserve::see(bool spares_refused) const {
    const Result<std::uint64_t> free = files_.free_bytes(directory_);
    if (!free) return free.error();
    return SpaceReading{*free, journal_.ready_spares(), spares_refused};
}

Result<SpaceReading> LogReserve::maintain_spare_segments() {
    if (table_waits_) return see(true);
    Status filled = journal_.prepare_spares();
    if (!filled && filled.error().code != "no_space"_code) return std::move(filled).error();
    return see(!filled);
}

Result<SpaceReading> LogReserve::measure() const {
    Result<SpaceReading> seen = see(false);
    if (!seen) return seen;
    seen->ready_spares = journal_.spares_held();
    seen->spares_refused = seen->ready_spares < journal_.spares_wanted() && seen->free_bytes < limits_.segment_bytes;
    return seen;
}

LogSpace LogReserve::log_space() const {
    if (!watch_.is_full()) return LogSpace::enough;
    if (!watch_.has_only_reserve()) return LogSpace::scarce;
    const std::size_t held = journal_.spares_held();
    if (held == 0) return LogSpace::none;
    return held > kept_for_cleaning_ ? LogSpace::reserve : LogSpace::cleaning;
}

bool LogReserve::needs_measurement() const {
    const std::size_t ready = journal_.ready_spares();
    return ready <= limits_.reserve_segments && ready != watch_.seen().ready_spares;
}

}  // namespace duewheel
