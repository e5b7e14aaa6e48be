// Names that other products have for members of our requests and options of our command line, for the hint in an error
// about an unknown name: `countdown` is what users of Celery write for `delay`.
//
// Names are compared without regard to case, hyphens and underscores: `maxRetries` is `max_retries`. It translates
// names only. Values keep their form, which the error about the value then explains.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace duewheel {

// The first of our names for `foreign` that is among `known`. O(number of names).
std::optional<std::string_view> name_meant_by(std::string_view foreign, std::span<const std::string_view> known);

}  // namespace duewheel
