#include "base/nearest_name.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace duewheel {

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t k = 0; k < right.size(); ++k) {
            const std::size_t replaced = diagonal + (left[i] == right[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({replaced, row[k] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
    assert(!known.empty());
    return *std::min_element(known.begin(), known.end(), [&](std::string_view left, std::string_view right) {
        return edit_distance(left, name) < edit_distance(right, name);
    });
}

}  // namespace duewheel
