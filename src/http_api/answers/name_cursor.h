// The cursor of a list sorted by name: the last name of the page, and a check of the list, so that a cursor of another
// list or namespace is refused (list_request.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "http_api/requests/list_request.h"

namespace duewheel {

// Bits that no set of states has.
enum class NameList : std::uint64_t {
    tokens = std::uint64_t{1} << 59,
    namespaces = std::uint64_t{1} << 60,
    watchdogs = std::uint64_t{1} << 61,
    schedules = std::uint64_t{1} << 62,
};

inline std::string name_cursor_check(NameList list, std::string_view name_space, std::string_view name) {
    const std::uint64_t check = list_query(name_space, name, static_cast<std::uint64_t>(list), 0, 0);
    std::string bytes(sizeof check, '\0');
    std::memcpy(bytes.data(), &check, sizeof check);
    return bytes;
}

inline std::string name_cursor(NameList list, std::string_view name_space, std::string_view name) {
    return base64url(name_cursor_check(list, name_space, name).append(name));
}

inline std::optional<std::string> parse_name_cursor(NameList list, std::string_view text, std::string_view name_space) {
    const std::optional<std::string> bytes = parse_base64url(text);
    if (!bytes || bytes->size() <= sizeof(std::uint64_t)) return std::nullopt;
    std::string name = bytes->substr(sizeof(std::uint64_t));
    if (bytes->substr(0, sizeof(std::uint64_t)) != name_cursor_check(list, name_space, name)) return std::nullopt;
    return name;
}

}  // namespace duewheel
