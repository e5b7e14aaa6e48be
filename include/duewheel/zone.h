// A time zone of the IANA database: what a clock on the wall shows at an instant, and which instant a local time is.
//
// Choose it over fixed offsets wherever people agree on a time: laws change offsets. What it gives up: the tables of
// the operating system must be there.
//
// Example:
//     const Result<Zone> oslo = Zone::load("Europe/Oslo");
//     if (!oslo) return oslo.error();                   // bad_zone, with the nearest name there is
//     assert(oslo->offset_at(sys_days{2026y / January / 1}) == 1h);
//     assert(oslo->offset_at(sys_days{2026y / July / 1}) == 2h);
//
// A local time is skipped when clocks are put forward over it, and repeated when they are put back. What that means for
// a rule is not decided here, but where a schedule is made (duewheel/cron_schedule.h).
//
// The data is the operating system's, read once by load(); a later update of it is seen by zones that a later process
// loads. zone_data_version() says which one it is. Refused are names that mean another thing on another machine
// ("localtime", "posixrules") and the variants that count leap seconds ("right/...").
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <duewheel/instant.h>
#include <duewheel/status.h>

namespace duewheel {

struct ZoneRules;

// An immutable value. A copy is one pointer to shared tables (some 14 KB), so load a zone once and copy it; copies may
// be used from several threads at the same time.
class Zone {
  public:
    // The zone of this name, such as "Europe/Oslo" or "UTC". Code: bad_zone. Reads one file, in about a millisecond.
    static Result<Zone> load(std::string_view name);
    // Without any file.
    static Zone utc();

    const std::string& name() const;

    // How far local clocks are ahead of UTC, negative in the west. O(log of the zone's changes).
    std::chrono::seconds offset_at(Instant instant) const;

    // What local clocks show.
    std::chrono::local_time<std::chrono::milliseconds> local(Instant instant) const;

    // The instant of a local time: the first one where it is repeated, the first instant after the gap where it is
    // skipped.
    Instant instant_of(std::chrono::local_time<std::chrono::milliseconds> local) const;

    // For the calendar's own sources.
    const ZoneRules& rules() const { return *rules_; }

  private:
    explicit Zone(std::shared_ptr<const ZoneRules> rules) : rules_(std::move(rules)) {}

    // Shared, because a schedule keeps its zone as long as it lives, and thousands of schedules name the same one.
    std::shared_ptr<const ZoneRules> rules_;
};

// The version of the zone data on this machine, such as "2026a"; "unknown" where the system does not say. Reads a file.
std::string zone_data_version();

}  // namespace duewheel
