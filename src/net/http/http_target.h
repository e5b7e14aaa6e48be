// Splits a request target: "/v1/queues/a%2Fb/messages?limit=10" into segments and parameters.
//
// Splitting always comes before decoding: "%2F" is part of a name, "/" is not. An escape that is not two hexadecimal
// digits is refused instead of passed through, so that a name has the same meaning here and in a proxy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace duewheel {

// The parts between the slashes of `path`, which starts with one; `into` is overwritten. "/a//b/" gives "a", "", "b",
// "".
void split_path(std::string_view path, std::vector<std::string_view>& into);

// "a%2Fb" -> "a/b". Error `bad_request` for an escape that is cut short or not hexadecimal.
Result<std::string> percent_decode(std::string_view text);

// Everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

struct QueryParameter {
    std::string name;
    std::string value;
};

// "state=ready&due_after=1+h" -> {"state","ready"}, {"due_after","1 h"}: decoded like HTML forms, so a plus is a
// space. A parameter without '=' has an empty value. Errors as percent_decode, with the parameter's name as field.
Result<std::vector<QueryParameter>> parse_query(std::string_view query);

}  // namespace duewheel
