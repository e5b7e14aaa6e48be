// Loaded time zones: thousands of schedules use the same few, and each is a file to read and a table to keep. Holds at
// most as many as the database has names. For one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include <duewheel/zone.h>

namespace duewheel {

class ZoneCache {
  public:
    // Like Zone::load(); UTC without reading a file.
    Result<Zone> find(std::string_view name);

  private:
    std::map<std::string, Zone, std::less<>> zones_;
};

}  // namespace duewheel
