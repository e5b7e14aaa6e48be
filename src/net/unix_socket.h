// The users that may connect to a Unix socket, and the user at the other end of one. Private to the servers of this
// module.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/status.h"

namespace duewheel {

// Call it between the creation of a listening socket and its bind(): the file that this creates then has the mode 0600.
// Returns whether it succeeded.
bool close_to_others(int socket);

// Lets the members of the group connect to the socket of this file. Call it before listen(): until then no client can
// connect, whatever the mode. Codes: forbidden_group, io_error.
Status open_to_group(const std::string& path, gid_t group);

// The client of a connected socket: its address without the port, or the user of a Unix socket as the kernel knows it,
// such as "uid:1000". "unknown" if the connection has already failed.
std::string peer_of(int socket);

}  // namespace duewheel
