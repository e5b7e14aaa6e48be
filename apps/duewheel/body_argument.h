// The BODY of a message as it is named on the command line: the text itself, "-" for standard input, "@file" for a
// file's content.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/status.h"

namespace duewheel {

// More than any server takes; a mistake such as "@/dev/zero" ends here.
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// Codes: unreadable_body, body_too_large.
Result<std::string> read_body_argument(const std::string& argument);

// Adds `body` where the bytes are text, `body_base64` where they are not.
void put_body_into(const std::string& body, boost::json::object& request);

}  // namespace duewheel
