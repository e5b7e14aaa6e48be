// Settings of the listener of the beanstalkd protocol.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace duewheel {

struct BeanstalkSettings {
    std::string listen;        // empty: none; an address, or unix:PATH
    std::string socket_group;  // whose members may connect to the Unix socket; empty: only the user of the server
    std::size_t job_bytes_max = 65'535;
};

// Refuses an address that other machines can reach, because the protocol has no authentication, unless `unsafe`; and a
// group that does not exist or has no socket.
Status check_beanstalk_settings(const BeanstalkSettings& settings, bool unsafe);

}  // namespace duewheel
