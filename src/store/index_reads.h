// Reads rows of the index and decodes them. A row that cannot be decoded ends the read with its error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "store/sorted_rows.h"

namespace duewheel {

// The decoded value of a key; nothing if there is no such row.
template <class Decode, class Value = std::decay_t<decltype(*std::declval<Decode&>()(std::string_view()))>>
Result<std::optional<Value>> find_row(const SortedRows& rows, const std::string& key, Decode&& decode) {
    const Result<std::optional<std::string>> found = rows.get(key);
    if (!found) return found.error();
    if (!*found) return std::optional<Value>();
    Result<Value> value = decode(std::string_view(**found));
    if (!value) return std::move(value).error();
    return std::optional<Value>(*std::move(value));
}

inline constexpr std::size_t kAllRows = ~std::size_t{0};

// Calls `take(key, value)` with the rows between two keys, up to `limit` of them. It returns whether it takes more, or
// an error.
template <class Take>
Status walk_rows(const SortedRows& rows, const std::string& lower, const std::string& upper, std::size_t limit,
                 Take&& take) {
    if (lower >= upper) return {};
    Result<bool> more = true;
    const Status walked = rows.scan(lower, upper, limit, [&](std::string_view key, std::string_view value) {
        more = take(key, value);
        return more && *more;
    });
    if (!walked) return walked;
    return more ? Status() : Status(std::move(more).error());
}

// What `read(key, value)` returns for each row between two keys.
template <class Read,
          class Row = std::decay_t<decltype(*std::declval<Read&>()(std::string_view(), std::string_view()))>>
Result<std::vector<Row>> read_rows(const SortedRows& rows, const std::string& lower, const std::string& upper,
                                   Read&& read) {
    std::vector<Row> all;
    const Status walked =
        walk_rows(rows, lower, upper, kAllRows, [&](std::string_view key, std::string_view value) -> Result<bool> {
            Result<Row> row = read(key, value);
            if (!row) return std::move(row).error();
            all.push_back(*std::move(row));
            return true;
        });
    if (!walked) return walked.error();
    return all;
}

}  // namespace duewheel
