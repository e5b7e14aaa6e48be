// What was most likely meant by a name that is no time zone.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace duewheel {

// One or two sentences: the exact zone of a fixed offset ("GMT+8"), the zone of a well-known city or abbreviation that
// the database does not have as a name ("Asia/Beijing"), or up to three near names of `known`, which are the names of
// the database. Nothing is suggested that is not in `known`. O(size of the name and of all names).
std::string zone_hint(std::string_view name, std::span<const std::string_view> known);

}  // namespace duewheel
