// Names of ASCII letters, digits and . _ - alone, such as those of Kafka topics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace duewheel {

// Whether it is such a name, of up to `bytes_max` bytes and at least one.
constexpr bool is_ascii_name(std::string_view name, std::size_t bytes_max) {
    return !name.empty() && name.size() <= bytes_max && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    });
}

}  // namespace duewheel
