// The names that are compared with an unknown one: there can be many, so only its neighbours in their order.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace duewheel
