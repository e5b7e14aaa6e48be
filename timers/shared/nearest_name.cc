#include "shared/nearest_name.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace duewheel {
namespace {

constexpr std::size_t kBeginningMin = 3;
constexpr std::size_t kBytesCompared = 64;

bool begins_with_it(std::string_view whole, std::string_view beginning) {
    return beginning.size() >= kBeginningMin && whole.starts_with(beginning);
}

}  // namespace

// The distance of optimal string alignment, with the last three rows of its table.
std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> two_before;
    std::vector<std::size_t> before;
    std::vector<std::size_t> row(right.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (std::size_t i = 0; i < left.size(); ++i) {
        two_before = std::exchange(before, row);
        row[0] = i + 1;
        for (std::size_t k = 0; k < right.size(); ++k) {
            const std::size_t replaced = before[k] + (left[i] == right[k] ? 0 : 1);
            row[k + 1] = std::min({replaced, row[k] + 1, before[k + 1] + 1});
            const bool swapped = i > 0 && k > 0 && left[i] == right[k - 1] && left[i - 1] == right[k];
            if (swapped) row[k + 1] = std::min(row[k + 1], two_before[k - 1] + 1);
        }
    }
    return row.back();
}

bool is_near(std::string_view name, std::string_view known) {
    return begins_with_it(known, name) || begins_with_it(name, known) ||
           3 * edit_distance(name, known) <= std::max(name.size(), known.size());
}

std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known) {
    std::optional<std::string_view> nearest;
    std::pair<bool, std::size_t> least;
    for (const std::string_view each : known) {
        if (name.size() > kBytesCompared || each.size() > kBytesCompared || !is_near(name, each)) continue;
        const std::pair apart(!begins_with_it(each, name), edit_distance(each, name));
        if (nearest && apart >= least) continue;
        nearest = each;
        least = apart;
    }
    return nearest;
}

std::string did_you_mean(std::optional<std::string_view> meant, std::string_view note) {
    if (!meant) return {};
    std::string hint = "did you mean `" + std::string(*meant) + "`?";
    if (!note.empty()) hint.append(" ").append(note);
    return hint;
}

}  // namespace duewheel
