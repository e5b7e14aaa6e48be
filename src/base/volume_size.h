// The size of a file system.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace duewheel {

// In bytes, of the file system that contains this directory, or would contain it. Code `io_error` if the operating
// system does not say. Asks the file system, and can wait for it.
Result<std::uint64_t> volume_bytes(const std::string& directory);

}  // namespace duewheel
