#include "plain_json.h"

#include <array>
#include <charconv>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace duewheel {
namespace {

// The shortest decimals that are the number; up to 309 digits before the point, and 767 behind it.
std::string plain_number(double number) {
    std::array<char, 1100> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    return error == std::errc() ? std::string(text.data(), end) : "null";
}

}  // namespace

std::string plain_json(const boost::json::value& value) {
    if (value.is_double()) return plain_number(value.get_double());
    std::string text;
    if (value.is_array()) {
        for (const boost::json::value& each : value.get_array()) {
            text.append(text.empty() ? "" : ",").append(plain_json(each));
        }
        return "[" + text + "]";
    }
    if (value.is_object()) {
        for (const auto& [name, member] : value.get_object()) {
            text.append(text.empty() ? "" : ",").append(boost::json::serialize(name));
            text.append(":").append(plain_json(member));
        }
        return "{" + text + "}";
    }
    return boost::json::serialize(value);
}

}  // namespace duewheel
