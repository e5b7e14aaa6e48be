// Suggests what was probably meant by a name that is not a time zone.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace duewheel {

// One or two sentences: the exact zone of a fixed offset ("GMT+8"), the zone of a well-known city or abbreviation that
// is not a name in the database ("Asia/Beijing"), or up to three near names of `known`, which are the names of the
// database. Only names in `known` are suggested. O(size of the name and of all names).
std::string zone_hint(std::string_view name, std::span<const std::string_view> known);

}  // namespace duewheel
