// Makes an undamaged log from the whole records of a damaged one, for `duewheel export --skip-damaged`: everything that
// works on a log then works on what could be saved.
//
// A message is saved if a whole record of it (put, spawn or relocation) can be read. In the new log it is that record,
// and after it the newest change, if there is one. Settings, schedules and watchdogs are saved the same way; outcomes,
// access tokens and positions of inputs are not. What was in the damaged stretches is not known:
//
//     the put, or all whole records        the message is lost. A later change, if there is one, tells its id
//     the end (ack, cancel, expiry, ...)   the message is saved although it has ended, and comes again
//     a change (moved, attempt, ...)       the message is saved in the state before that
//
// So every message whose newest record is before a damaged stretch may be stale. An idempotency key tells one case: two
// messages of a queue have the same key only if the older one has ended, so it is not saved.
//
// Reads the log twice. Memory: about 50 bytes for each unfinished message, and 100 more for one with a key or a change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "journal/log_salvage.h"

namespace duewheel {

// A message that is pending or a dead letter, but whose content cannot be read.
struct LostMessage {
    MessageId id = 0;
    Sequence sequence = 0;  // of its whole record
};

struct SalvageReport {
    std::vector<Omitted> omitted;
    std::vector<LostMessage> lost;        // those whose ids are known, by sequence
    std::vector<std::string> lost_rules;  // schedules and watchdogs without a whole record: "schedule NAME"
    std::uint64_t saved = 0;              // pending messages and dead letters
    std::uint64_t maybe_stale = 0;        // of these, those whose newest record is before a stretch that was omitted
    std::uint64_t pending = 0;            // how many unfinished messages there were, as of the last whole commit
};

// `to` is a data directory that does not exist yet. The lock on `data` is taken, and nothing in it is changed.
// Codes: `in_use`, `not_found`, `damaged_log` (nothing can be read), `newer_format`, `no_space`, `io_error`.
Result<SalvageReport> salvage(FileSystem& files, const std::string& data, const std::string& to);

}  // namespace duewheel
