// The hint for a misspelt name. There can be many names, so only the neighbours in their order are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest_name.h"

namespace duewheel {

// For a map by namespace and name: the names near this one in its namespace for which `exists` is true.
template <class Map, class Exists>
std::vector<std::string_view> names_around(const Map& by_name, std::string_view name_space, std::string_view name,
                                           Exists exists) {
    constexpr std::size_t kEachSide = 32;
    std::vector<std::string_view> names;
    const auto middle = by_name.lower_bound(std::pair(name_space, name));
    const auto take = [&](const auto& at) {
        if (at->first.first != name_space) return false;
        if (exists(at->second)) names.push_back(at->first.second);
        return true;
    };
    auto at = middle;
    for (std::size_t left = kEachSide; left > 0 && at != by_name.end() && take(at); --left) ++at;
    at = middle;
    for (std::size_t left = kEachSide; left > 0 && at != by_name.begin() && take(--at);) --left;
    return names;
}

// "did you mean `backup`? If not, ", or empty if none of them is near.
inline std::string did_you_mean(std::string_view name, std::vector<std::string_view> names) {
    constexpr std::size_t kBytesCompared = 64;
    if (name.size() > kBytesCompared) return {};
    std::erase_if(names, [](std::string_view each) { return each.size() > kBytesCompared; });
    const std::optional<std::string_view> nearest = nearest_name(name, names);
    return nearest ? "did you mean `" + std::string(*nearest) + "`? If not, " : std::string();
}

}  // namespace duewheel
