#include "base/nearest_name.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace duewheel {
namespace {

constexpr std::size_t kBeginningLeast = 3;

bool begins_with_it(std::string_view whole, std::string_view beginning) {
    return beginning.size() >= kBeginningLeast && whole.starts_with(beginning);
}

}  // namespace

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
    const auto apart = [&](std::string_view one) {
        return std::pair(!begins_with_it(one, name), edit_distance(one, name));
    };
    return *std::min_element(known.begin(), known.end(),
                             [&](std::string_view left, std::string_view right) { return apart(left) < apart(right); });
}

bool is_near(std::string_view name, std::string_view known) {
    return begins_with_it(known, name) || begins_with_it(name, known) ||
           edit_distance(name, known) <= std::max<std::size_t>(1, std::max(name.size(), known.size()) / 2);
}

}  // namespace duewheel
