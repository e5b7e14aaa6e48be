// How large a file system is.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace duewheel {

// In bytes, of the file system that holds this directory, or would hold it if it were made. Code `io_error` where the
// operating system does not say. Asks the file system, and may wait for it.
Result<std::uint64_t> volume_bytes(const std::string& directory);

}  // namespace duewheel
