// Damage to the log that was found once is remembered in the mark DIR/damage, with segment and offset. A start reads
// only the newest segment before it serves requests; with such a mark it reads the whole log first, and refuses before
// it has acknowledged anything. So a server with a damaged old segment does not start, acknowledge for a second and
// stop, again and again.
//
// The mark only says that the log must be read: if all of it is whole again, because a copy of the file was put back,
// the mark is removed.
#pragma once

#include <string>

#include "base/file.h"
#include "base/status.h"

namespace duewheel {

// Durable on return. Does nothing if the error is not `damaged_log` or names no place. Codes: `no_space`, `io_error`.
Status remember_damage(FileSystem& files, const std::string& directory, const Error& error);

// The caller holds the lock on the directory. True: there was a mark, the whole log was read and is undamaged, and the
// mark was removed. Codes: `damaged_log` (with what is damaged now, which is remembered), `newer_format`, `io_error`.
Result<bool> refuse_known_damage(FileSystem& files, const std::string& directory);

}  // namespace duewheel
