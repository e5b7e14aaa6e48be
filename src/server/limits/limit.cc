#include "server/limits/limit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include "server/limits/limit_rows.h"

namespace duewheel {
namespace {

std::string bytes_in_words(std::int64_t bytes) {
    constexpr std::pair<std::int64_t, const char*> kUnits[] = {
        {limit_rows::kGiB, " GiB"}, {limit_rows::kMiB, " MiB"}, {limit_rows::kKiB, " KiB"}};
    for (const auto& [unit, name] : kUnits) {
        if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
    }
    return std::to_string(bytes) + " bytes";
}

// 1000000 as "1,000,000".
std::string count_in_words(std::int64_t count) {
    const std::string digits = std::to_string(count);
    std::string words;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) words += ',';
        words += digits[i];
    }
    return words;
}

std::string beyond_in_words(const Limit& limit) {
    std::string words;
    for (const ErrorCode code : limit.codes) {
        if (code != ErrorCode::none) words.append(words.empty() ? "`" : ", `").append(name_of(code)).append("`");
    }
    if (!limit.otherwise.empty()) words.append(words.empty() ? "" : "; ").append(limit.otherwise);
    return words;
}

}  // namespace

std::span<const Limit> limits() {
    static const std::vector<Limit> all = [] {
        std::vector<Limit> rows;
        for (const auto part : {limit_rows::of_connections(), limit_rows::of_messages(), limit_rows::of_calls(),
                                limit_rows::of_posts(), limit_rows::of_storage()}) {
            rows.insert(rows.end(), part.begin(), part.end());
        }
        return rows;
    }();
    return all;
}

const Limit* find_limit(std::string_view name) {
    const auto all = limits();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Limit& limit) { return limit.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string limit_in_words(const Limit& limit, std::int64_t value) {
    switch (limit.unit) {
        case LimitUnit::bytes:
            return bytes_in_words(value);
        case LimitUnit::milliseconds:
            return format_duration(value);
        case LimitUnit::count:
            break;
    }
    return count_in_words(value);
}

std::string limits_table() {
    const ServerOptions defaults;
    std::string page = "| limit | what | default | beyond it |\n|---|---|---|---|\n";
    for (const Limit& limit : limits()) {
        page.append("| `").append(limit.name).append("` | ").append(limit.sentence).append(" | ");
        page += limit_in_words(limit, limit.read(defaults));
        if (limit.is_fixed()) page += ", fixed";
        page += " | " + beyond_in_words(limit);
        if (limit.is_shared) page += "; [shared](#shares)";
        page += " |\n";
    }
    return page;
}

}  // namespace duewheel
