// --header NAME=VALUE, which may be repeated.
#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "base/status.h"

namespace duewheel {

// Adds the member `headers` if there are any. Codes: bad_header, duplicate_member.
Status put_headers_into(const std::vector<std::string>& headers, boost::json::object& request);

}  // namespace duewheel
