// A log whose end is gone: what says that it is gone (EndMark in directory_marks.h), and how to go on without it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "base/file.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {

// The end that the log of the directory is known to have had. Nothing: no mark, or a damaged one, which knows nothing.
Result<std::optional<KnownEnd>> known_end(FileSystem& files, const std::string& directory);

// Makes the log of the directory usable without the end that is missing: `duewheel check --accept-lost-end`. All of the
// log that is there must be undamaged. Because the lost part may have assigned ids and delivered messages, the
// directory continues like a restored backup: lost leases are void, ids start far above, and messages that were due
// before now are delivered as `maybe_delivered`. If no segment is left, the next start begins a new log. The index is
// removed, and the next start builds it. `now_ms`: the wall clock; `salt`: random, and secret. False: nothing is
// missing, and nothing was changed. Codes: `in_use`, `not_found`, `not_a_data_directory`, `log_is_replicated`,
// `damaged_log`, `no_space`, `io_error`.
Result<bool> accept_lost_end(FileSystem& files, const std::string& directory, DueMs now_ms,
                             const std::array<std::byte, 16>& salt);

}  // namespace duewheel
