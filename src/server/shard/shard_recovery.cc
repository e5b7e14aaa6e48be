#include "server/shard/shard_recovery.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "journal/segment_format.h"
#include "message/records/outcome_rows.h"
#include "server/shard/queue_replay.h"
#include "store/index_recovery.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/index_proof.h"
#include "store/maintenance/log_audit.h"
#include "store/sealer.h"

namespace duewheel {
namespace {

Error lost_records(const std::string& what) {
    return {"damaged_log"_code,
            "the messages do not match the log: " + what +
                ". Put missing segments back, or restore a backup; `duewheel check` reports details"};
}

}  // namespace

Result<RecoveredShard> ShardRecovery::run() {
    if (Status sealed = seal_long_backlog(); !sealed) return std::move(sealed).error();
    EngineStart& start = done_.start;
    start.totals = journal_.totals();
    start.unsealed = unsealed();
    const SegmentRoom room = journal_.room();
    start.segment = static_cast<SegmentNumber>(room.closed ? room.number + 1 : room.number);
    start.segment_fill = room.closed ? kSegmentHeaderBytes : room.used_bytes;
    start.segment_bytes = room.closed ? 0 : room.segment_bytes;
    start.block_bytes = journal_.block_bytes();
    std::memcpy(start.token_key.data(), journal_.identity().token_key.data(), start.token_key.size());
    if (Status read = take_restored_mark(start); !read) return std::move(read).error();
    if (Status replayed = replay(start); !replayed) return std::move(replayed).error();
    if (Status proven = prove(start.totals); !proven) return std::move(proven).error();
    if (Status loaded = load_leases(start.totals); !loaded) return std::move(loaded).error();
    if (Status repeated = repeat_drop(); !repeated) return std::move(repeated).error();
    log_.info("recovered", "Recovery is complete.",
              {{"records", done_.replayed_records},
               {"pending", start.totals.live_count},
               {"sequence", start.totals.sequence}});
    return std::move(done_);
}

std::vector<SegmentNumber> ShardRecovery::unsealed() const {
    std::vector<SegmentNumber> numbers;
    for (const SegmentSummary& segment : journal_.catalog().list()) {
        if (segment.closed && segment.number > index_.position().segment) {
            numbers.push_back(static_cast<SegmentNumber>(segment.number));
        }
    }
    return numbers;
}

// A few full segments are replayed and sealed in the background, as without a restart. With many, the index is rebuilt
// first, because the recent tier would not fit into memory. So is an index that was started inside a log whose front
// was deleted: it knows all messages only if it contains all relocated records.
Status ShardRecovery::seal_long_backlog() {
    const bool begins_inside = !index_.position().is_proven && journal_.first_sequence() > 1;
    if (!begins_inside && unsealed().size() <= options_.engine.unsealed_segments_max) return {};
    const Status sealed = reserve_.run_to_build_table([&] { return seal_missing(journal_.catalog(), index_); });
    // Acks that continued while the disk was full have left a few more than usual: they also fit into memory.
    const std::size_t few = options_.engine.unsealed_segments_max + journal_.spares_wanted() + 1;
    const bool may_wait =
        !sealed && sealed.error().code == "no_space"_code && !begins_inside && unsealed().size() <= few;
    return may_wait ? Status() : sealed;
}

// The marks of a restore apply to every later start too.
Status ShardRecovery::take_restored_mark(EngineStart& start) {
    const Result<std::optional<RestoredMark>> restored = read_restored_mark(files_, directory_);
    if (!restored) return restored.error();
    if (!*restored) return {};
    start.past_until_ms = (*restored)->past_until_ms;
    start.ids_from = (*restored)->ids_from;
    if (start.totals.sequence == (*restored)->sequence) {
        log_.warning("restored_from_backup",
                     "This is the first start from a restored backup, or from a log whose lost end was accepted. Later "
                     "changes are lost, and messages that were due before that are delivered with `maybe_delivered`.",
                     {{"backup_ms", start.totals.server_time_ms}, {"restored_ms", start.past_until_ms}});
    }
    start.key_before = {start.token_key, (*restored)->commit};
    for (std::size_t i = 0; i < (*restored)->salt.size(); ++i) {
        start.token_key[i] ^= std::to_integer<std::uint8_t>((*restored)->salt[i]);
        start.key_before.key[i] ^= std::to_integer<std::uint8_t>((*restored)->salt_before[i]);
    }
    return {};
}

// Replays the records that are not in the index, and verifies the totals of the log with its own sum.
Status ShardRecovery::replay(EngineStart& start) {
    const IndexPosition position = index_.position();
    // For an empty index: a log whose front was deleted starts with the totals of its first header.
    const Totals begin =
        position.segment == 0 ? journal_.catalog().snapshot().front()->header().before : position.totals;
    start.load_cursor_ms = position.load_cursor_ms;
    std::map<std::pair<std::string, std::string>, DuePosition> cursors;
    Result<std::vector<Index::QueueCursor>> sealed = index_.queue_cursors();
    if (!sealed) return std::move(sealed).error();
    for (const Index::QueueCursor& cursor : *sealed) {
        cursors[{cursor.queue.name_space, cursor.queue.queue}] = cursor.position;
    }
    QueueReplay queues;
    if (Status begun = queues.begin(index_); !begun) return begun;
    LogAudit audit(begin, position.relocated_up_to);
    done_.outcomes_relocated_up_to = position.outcomes_relocated_up_to;
    Status replayed = journal_.replay(begin.sequence + 1, [&](const CommitInLog& commit) -> Status {
        if (commit.totals.commit <= begin.commit) return {};
        for (const FramedRecord& frame : commit.records) {
            Result<Record> record = decode_record(frame.kind, frame.body);
            if (!record) return std::move(record).error();
            const auto bytes = static_cast<std::uint32_t>(frame.frame_bytes);
            if (Status added = audit.add(*record, frame.sequence, bytes); !added) return added;
            recent_.apply(*record, frame.sequence, static_cast<SegmentNumber>(commit.segment_number), bytes);
            done_.replayed_bytes += bytes;
            queues.apply(*record, frame.sequence, bytes);
            if (const auto* outcomes = std::get_if<OutcomesRecord>(&*record)) {
                const auto segment = static_cast<SegmentNumber>(commit.segment_number);
                if (Status done = replay_outcomes(*outcomes, frame, segment); !done) return done;
            }
            const auto* cursor = std::get_if<CursorRecord>(&*record);
            if (cursor == nullptr) continue;
            if (cursor->queue.empty()) {
                start.load_cursor_ms = std::max(start.load_cursor_ms, cursor->due_ms);
            } else if (cursor->removed) {
                cursors.erase({cursor->name_space, cursor->queue});
            } else {
                cursors[{cursor->name_space, cursor->queue}] = {cursor->due_ms, cursor->id};
            }
        }
        done_.replayed_records += commit.count;
        return audit.close(commit);
    });
    if (!replayed) return replayed;
    if (Status whole = audit.check_front(journal_.first_sequence()); !whole) return whole;
    relocated_up_to_ = audit.relocated_up_to();
    for (const auto& [name, at] : cursors) start.queue_cursors.push_back({{name.first, name.second}, at});
    settings_ = queues.settings();
    start.zone_data = options_.zone_data.empty() ? zone_data_version() : options_.zone_data;
    const FindZone find_zone =
        options_.find_zone ? options_.find_zone : [this](std::string_view name) { return zones_.find(name); };
    if (Status made = queues.finish(start.schedules, find_zone, log_); !made) return made;
    if (Status made = queues.finish(start.watchdogs); !made) return made;
    if (Status made = queues.finish(start.namespaces); !made) return made;
    if (Status made = queues.finish(start.groups); !made) return made;
    if (Status made = queues.finish(start.tokens); !made) return made;
    if (Status made = queues.finish(start.inputs); !made) return made;
    return queues.finish(start.queue_states, log_);
}

// Outcomes that were relocated before the index contained them are kept in memory until this segment is sealed.
Status ShardRecovery::replay_outcomes(const OutcomesRecord& outcomes, const FramedRecord& frame,
                                      SegmentNumber segment) {
    done_.outcomes_relocated_up_to = std::max(done_.outcomes_relocated_up_to, outcomes.up_to);
    const std::uint64_t first_segment = index_.position().segment != 0
                                            ? index_.position().first_segment
                                            : journal_.catalog().snapshot().front()->header().number;
    if (outcomes.segment >= first_segment) return {};
    return for_each_outcome(outcomes.rows, [&](const MessageRecord& outcome) {
        recent_.apply(outcome, frame.sequence, segment, 0);
        return Status();
    });
}

// No deleted segment may be needed. An index that was started since the last proof is compared with the log, row by
// row; a proven one is continued, because each table follows from the previous one and the log alone.
Status ShardRecovery::prove(const Totals& totals) {
    const Result<std::optional<std::string>> lost = find_lost_need(index_, journal_.first_sequence());
    if (!lost) return lost.error();
    if (*lost) return lost_records(**lost);
    if (index_.position().is_proven) return {};
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& segment : journal_.catalog().list()) first_sequences.push_back(segment.first_sequence);
    const Result<std::optional<std::string>> difference =
        find_difference(index_, recent_, settings_, totals, first_sequences);
    if (!difference) return difference.error();
    if (*difference) return lost_records(**difference);
    Status marked = index_.mark_proven();
    if (!marked && marked.error().code != "no_space"_code) return marked;
    if (!marked) {
        log_.warning(
            "index_check_not_saved",
            "The index was checked, but the disk is too full to save the result. The next start checks it again.",
            {{"error", marked.error().message}});
    }
    return {};
}

// The engine leases what is in the recent tier as the run before did. So a message that only the index has is loaded if
// it has such a lease: otherwise the lease would count from when a command or a consumer needs the message, and a
// second restart within the grace of this one would end it. O(leases).
Status ShardRecovery::load_leases(const Totals& totals) {
    const Result<std::vector<DuePosition>> leases = index_.leases();
    if (!leases) return leases.error();
    for (const DuePosition& lease : *leases) {
        const bool is_over = lease.due_ms <= totals.server_time_ms;
        if (is_over || recent_.find(lease.id) != kNoEntry || recent_.outcome(lease.id) != nullptr) continue;
        const Result<std::optional<MessageRow>> row = index_.find(lease.id, 0);
        if (!row) return row.error();
        if (!*row || is_ended((*row)->state.state) || (*row)->state.work->lease.until_ms != lease.due_ms) continue;
        recent_.admit(**row);
        ++done_.loaded_leases;
    }
    return {};
}

// Deletes segments that a relocation-done record released and an earlier run did not unlink, if the index is complete
// enough to show that nothing in them is needed; otherwise compaction deletes them later.
Status ShardRecovery::repeat_drop() {
    const Sequence up_to = std::min(relocated_up_to_, index_.position().totals.sequence + 1);
    const Result<std::optional<std::string>> needed = find_lost_need(index_, up_to);
    if (!needed) return needed.error();
    if (*needed) return {};
    const Sequence front = journal_.first_sequence();
    if (Status dropped = journal_.drop_before(up_to); !dropped) return dropped;
    if (journal_.first_sequence() != front) {
        log_.info("old_segments_removed", "Segments that the last run no longer needed were removed.",
                  {{"first_sequence", journal_.first_sequence()}});
    }
    return {};
}

}  // namespace duewheel
