// The known name that somebody most likely meant: for the hint in an error about a name that is not known.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace duewheel {

// Insertions, deletions and replacements that turn one into the other, in bytes. O(product of the sizes): cut what
// comes from outside first.
std::size_t edit_distance(std::string_view left, std::string_view right);

// The nearest of `known`, which must not be empty; of several the first. One that begins with what was written, three
// letters of it at least, is nearer than any other: who wrote `factor` meant `factor_thousandths`, though `first` takes
// fewer changes.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

// Whether so many changes are a slip: at most half of the letters, or one name begins with the other. Else a hint
// would send whoever reads it astray.
bool is_near(std::string_view name, std::string_view known);

}  // namespace duewheel
