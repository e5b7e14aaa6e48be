// Random bytes that nobody can guess: tokens, ids that must not be predictable, seeds of the daemon. They come from the
// kernel and cannot be repeated; what must be repeatable uses base/random.h.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace duewheel {

// Fills `into`. May wait once, early after the machine's start, until the kernel has gathered enough. Fails (io_error)
// only where the system call is forbidden; then nothing in `into` may be used. Any thread.
Status secure_random_bytes(std::span<std::byte> into);

}  // namespace duewheel
