// A time zone of the IANA database: converts between instants and local times.
//
// Choose it over fixed offsets if people agree on local times: laws change offsets. Drawback: it needs the time zone
// data of the operating system.
//
// Example:
//     const Result<Zone> oslo = Zone::load("Europe/Oslo");
//     if (!oslo) return oslo.error();                   // bad_zone, with the nearest known name
//     assert(oslo->offset_at(sys_days{2026y / January / 1}) == 1h);
//     assert(oslo->offset_at(sys_days{2026y / July / 1}) == 2h);
//
// A local time is skipped when clocks go forward over it, and repeated when they go back. What that means for a rule is
// decided by the schedule (duewheel/cron_schedule.h).
//
// The data is that of the operating system, read once by load(); later updates of it are only seen by a later process.
// zone_data_version() returns its version. Refused are names whose meaning depends on the machine ("localtime",
// "posixrules") and the variants that count leap seconds ("right/...").
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <duewheel/instant.h>
#include <duewheel/status.h>

namespace duewheel {

struct ZoneRules;

// An immutable value. A copy is one pointer to shared tables (some 14 KB), so load a zone once and copy it; several
// threads may use copies at once.
class Zone {
  public:
    // The zone of this name, such as "Europe/Oslo" or "UTC". Code: bad_zone. Reads one file, in about a millisecond.
    static Result<Zone> load(std::string_view name);
    // Without any file.
    static Zone utc();

    const std::string& name() const;

    // How far local clocks are ahead of UTC, negative in the west. O(log of the zone's changes).
    std::chrono::seconds offset_at(Instant instant) const;

    // The local time of an instant.
    std::chrono::local_time<std::chrono::milliseconds> local(Instant instant) const;

    // The instant of a local time: the first one if it is repeated, the first instant after the gap if it is
    // skipped.
    Instant instant_of(std::chrono::local_time<std::chrono::milliseconds> local) const;

    // For the sources of the calendar.
    const ZoneRules& rules() const { return *rules_; }

  private:
    explicit Zone(std::shared_ptr<const ZoneRules> rules) : rules_(std::move(rules)) {}

    // Shared, because a schedule keeps its zone as long as it exists, and thousands of schedules use the same one.
    std::shared_ptr<const ZoneRules> rules_;
};

// The version of the zone data of this machine, such as "2026a"; "unknown" if the system does not say. Reads a file.
std::string zone_data_version();

}  // namespace duewheel
