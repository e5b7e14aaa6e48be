// Names of the values of an enumeration, whose values follow one another, from a list in their order:
//
//     return enum_name<Misfire::skip>(misfire, {"once", "all", "skip"});
//
// A list that does not end with the last value does not compile.
#pragma once

#include <cstddef>
#include <string_view>

namespace duewheel {

// The name of `value`, which is in [kFirst, kLast].
template <auto kLast, auto kFirst = decltype(kLast){}, std::size_t kCount>
constexpr std::string_view enum_name(decltype(kLast) value, const std::string_view (&names)[kCount]) {
    static_assert(kCount == static_cast<std::size_t>(kLast) - static_cast<std::size_t>(kFirst) + 1);
    return names[static_cast<std::size_t>(value) - static_cast<std::size_t>(kFirst)];
}

}  // namespace duewheel
