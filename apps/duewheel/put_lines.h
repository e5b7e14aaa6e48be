// Puts many messages from a file: one JSON object a line, as in a batch put.
#pragma once

#include <cstddef>
#include <string>

#include "session.h"

namespace duewheel {

// Puts the lines of `file` ("-": standard input), up to `batch` of them in a request and therefore in one sync of the
// disk, and prints a result for each line when its request is answered. The result is a refusal if any line was
// refused; the other lines are put. A request that is refused or not answered as a whole ends it, and standard error
// names the first line of that request.
int put_lines(Session& session, const std::string& queue, const std::string& file, std::size_t batch);

}  // namespace duewheel
