// The owner of a data directory. A command that root runs on one may not leave files that the server's user cannot
// open.
#pragma once

#include <string>

#include "base/status.h"

namespace duewheel {

// Gives the files of root in the directory to the directory's owner. Does nothing for other users, and if the directory
// is root's own. Code: `not_owner`.
Status give_to_owner(const std::string& directory);

}  // namespace duewheel
