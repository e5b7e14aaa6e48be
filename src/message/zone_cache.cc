#include "message/zone_cache.h"

namespace duewheel {

Result<Zone> ZoneCache::find(std::string_view name) {
    if (const auto known = zones_.find(name); known != zones_.end()) return known->second;
    Result<Zone> zone = name == "UTC" ? Zone::utc() : Zone::load(name);
    if (zone) zones_.emplace(name, *zone);
    return zone;
}

}  // namespace duewheel
