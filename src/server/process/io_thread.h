// The threads that serve connections (io.threads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"

namespace duewheel {

// The value of the setting io.threads that applies. `configured`: nothing means auto.
std::size_t io_thread_count(std::optional<std::uint64_t> configured);

// Starts a thread with this name, of up to 15 characters, which calls `run`. The destruction of what it returns waits
// for the end of `run`. Codes: io_error.
Result<std::shared_ptr<void>> start_io_thread(const std::string& name, std::function<void()> run);

}  // namespace duewheel
