// JSON as people and programs expect it: Boost.JSON writes 0.2 as 2E-1.
#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace duewheel {

// Without spaces; numbers with a fraction in decimals, and no exponents. Keeps the order of members.
std::string plain_json(const boost::json::value& value);

}  // namespace duewheel
