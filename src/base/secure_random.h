// Unpredictable random bytes for tokens, ids and seeds of the daemon. They come from the kernel and cannot be repeated;
// for repeatable numbers use shared/random.h.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace duewheel {

// Fills `into`. Can wait once, soon after the machine's start, until the kernel has enough entropy. Fails (io_error)
// only if the system call is forbidden; then `into` must not be used. Any thread.
Status secure_random_bytes(std::span<std::byte> into);

}  // namespace duewheel
