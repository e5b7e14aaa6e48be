// The known name that was most likely meant: for the hint in an error about an unknown name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace duewheel {

// How many slips turn one into the other: insertions, deletions, replacements, and swaps of two neighbours, in bytes.
// O(product of the sizes): cut text from outside first.
std::size_t edit_distance(std::string_view left, std::string_view right);

// Whether the difference is a slip: at most a third of the longer name, or one of at least three letters begins the
// other. A weaker rule sends the reader astray: every name of one letter would be near every other.
bool is_near(std::string_view name, std::string_view known);

// The nearest of `known` that is near; of several the first. One that begins with `name` comes before any other: for
// `factor` it is `factor_thousandths`, although `first` takes fewer changes.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace duewheel
