// Many messages from a file: one JSON object a line, as the API's batch takes them.
#pragma once

#include <cstddef>
#include <string>

#include "session.h"

namespace duewheel {

// Puts the lines of `file` ("-": standard input), at most `batch` of them in a request and so in one sync of the disk,
// and prints a result for each line as soon as its request is answered. Refused when any line was; those before and
// behind it are put all the same. A request that is refused or not answered as a whole ends it, and standard error says
// from which line on.
int put_lines(Session& session, const std::string& queue, const std::string& file, std::size_t batch);

}  // namespace duewheel
