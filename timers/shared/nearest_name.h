// Finds the known name that was probably meant, for the hint in an error about an unknown name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace duewheel {

// The number of edits from one name to the other: insertions, deletions, replacements, and swaps of two neighbours, in
// bytes. O(product of the sizes): truncate text from clients first.
std::size_t edit_distance(std::string_view left, std::string_view right);

// Whether the difference is a typing error: at most a third of the longer name is edited, or one of at least three
// letters is a prefix of the other. With a weaker rule, each name of one letter would be near each other.
bool is_near(std::string_view name, std::string_view known);

// The nearest of `known` that is near; the first of several. A name that begins with `name` comes before any other: for
// `factor` it is `factor_thousandths`, although `first` takes fewer edits. Names of more than 64 bytes are near to
// none.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

// The hint itself, for every error about an unknown name: "did you mean `delay`?", then `note`, a sentence, if there is
// one. Empty if no name is meant.
std::string did_you_mean(std::optional<std::string_view> meant, std::string_view note = {});

}  // namespace duewheel
