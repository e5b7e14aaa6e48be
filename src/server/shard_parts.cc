#include "server/shard_parts.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "journal/segment_format.h"
#include "message/outcome_rows.h"
#include "server/queue_replay.h"
#include "store/directory_marks.h"
#include "store/index_proof.h"
#include "store/index_recovery.h"
#include "store/log_audit.h"
#include "store/sealer.h"

namespace duewheel {
namespace {

// If there is an index without a log, the log was moved away: with a new log beside the index, the old one could never
// be restored.
Status refuse_index_without_log(FileSystem& files, const std::string& directory) {
    if (const auto segments = files.list(directory + "/journal"); segments) {
        for (const std::string& name : *segments) {
            if (sequence_of_segment_name(name) != 0) return {};
        }
    }
    const auto index = files.list(directory + "/index");
    if (!index || index->empty()) return {};
    return Error{"damaged_log", directory + " has an index, but its log is missing: " + directory +
                                    "/journal contains no segment. Nothing was changed. Put the files seg-* back or "
                                    "restore a backup. To start without data, choose an empty directory"};
}

Error lost_records(const std::string& what) {
    return {"damaged_log", "the messages do not match the log: " + what +
                               ". Put missing segments back, or restore a backup; `duewheel check` reports details"};
}

// Runs a step that needs space: on a full disk a spare segment is given up for it, down to `keep` of them, and the step
// is tried again.
template <class Step>
Status with_space_of_a_spare(LocalJournal& journal, std::size_t keep, Step step) {
    Status done = step();
    if (done || done.error().code != "no_space") return done;
    const Result<bool> given = journal.give_up_spare(keep);
    if (!given) return given.error();
    return *given ? step() : done;
}

// The last segments of the reserve: one for the record that allows the front of the log to be deleted, one whose space
// a table uses, and, if the reserve is large enough, one for records that are relocated from the front.
constexpr std::size_t kKeptForCleaning = 3;

// The message of the system says what happened, and not what to do.
Error unusable(const std::string& directory, Error error) {
    if (error.code != "in_use" && error.code != "no_space") {
        error.message +=
            ". The user of the server must be able to write to the data directory: choose another one with --data, "
            "or change the owner or the permissions of " +
            directory;
    }
    return error;
}

}  // namespace

ShardParts::ShardParts(FileSystem& files, std::string directory, const ShardOptions& options)
    : files_(files),
      directory_(std::move(directory)),
      reserve_segments_(options.reserve_segments),
      kept_for_cleaning_(std::min(kKeptForCleaning, std::max<std::size_t>(reserve_segments_, 1) - 1)),
      space_({options.free_floor_bytes, options.engine.segment_bytes, options.reserve_segments}) {}

// Damage to the index may be found only during replay. The index is then rebuilt, once: a second error has another
// cause.
Result<std::unique_ptr<ShardParts>> ShardParts::open(FileSystem& files, const std::string& directory, RowStorage& rows,
                                                     Retention& retention, const ShardOptions& options, LogSink& log) {
    Result<std::unique_ptr<ShardParts>> opened = try_to_open(files, directory, rows, retention, options, log);
    if (opened || opened.error().code != "damaged_index") return opened;
    log.warning("index_damaged", "The index is damaged. No data is lost: it is rebuilt from the log now.",
                {{"error", opened.error().message}});
    if (Status condemned = rows.condemn(); !condemned) return std::move(condemned).error();
    return try_to_open(files, directory, rows, retention, options, log);
}

Result<std::unique_ptr<ShardParts>> ShardParts::try_to_open(FileSystem& files, const std::string& directory,
                                                            RowStorage& rows, Retention& retention,
                                                            const ShardOptions& options, LogSink& log) {
    auto parts = std::unique_ptr<ShardParts>(new ShardParts(files, directory, options));
    if (Status made = files.make_directories(directory); !made) return unusable(directory, made.error());
    Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return unusable(directory, lock.error());
    parts->lock_ = *std::move(lock);
    if (Status usable = refuse_what_is_no_data_directory(files, directory); !usable) return std::move(usable).error();
    Result<std::optional<ClockMark>> mark = read_clock_mark(files, directory);
    if (!mark && mark.error().code == "damaged_mark") {
        // It contains nothing about messages. Without it the start trusts the wall clock less.
        log.warning("clock_state_damaged",
                    "The saved clock state is damaged. Until server time and the wall clock agree, the wall clock is "
                    "not trusted.",
                    {{"error", mark.error().message}});
        mark = std::optional(ClockMark{.doubted = true});
    }
    if (!mark) return unusable(directory, mark.error());
    parts->clock_mark_ = mark->value_or(ClockMark());
    // It may have to be written at any time, so an error is reported now.
    const Status writable = write_mark(files, directory, parts->clock_mark_);
    if (!writable && writable.error().code != "no_space") return unusable(directory, writable.error());
    parts->retention_ = &retention;
    Status done = parts->open_journal(options, log);
    if (done) done = parts->open_index_of_log(rows, log);
    if (done) done = parts->recover(options, log);
    if (!done) return std::move(done).error();
    // If the disk is already full, puts are refused from the start: before the existing spares are checked.
    Result<SpaceReading> seen = parts->see_space(false);
    if (!seen) return std::move(seen).error();
    const LocalJournal& journal = parts->journal();
    seen->ready_spares = journal.spares_held();
    seen->spares_refused =
        seen->ready_spares < journal.spares_wanted() && seen->free_bytes < options.engine.segment_bytes;
    parts->take_space(*seen);
    return parts;
}

Status ShardParts::open_journal(const ShardOptions& options, LogSink& log) {
    if (Status whole = refuse_index_without_log(files_, directory_); !whole) return whole;

    JournalOptions journal_options;
    journal_options.segment_bytes = options.engine.segment_bytes;
    journal_options.spare_count = options.spare_segments;
    journal_options.reserve_count = options.reserve_segments;
    journal_options.identity = options.identity;
    Result<std::unique_ptr<LocalJournal>> journal =
        LocalJournal::open(files_, directory_ + "/journal", journal_options);
    if (!journal) return std::move(journal).error();
    journal_ = *std::move(journal);
    if (Status same = check_shard(journal_->identity(), options.identity, directory_); !same) return same;
    if (options.replicate) replicated_ = options.replicate(*journal_);
    if (const std::optional<Cut>& cut = journal_->cut()) {
        log.warning("log_tail_truncated",
                    "The log ended with an incomplete write, which was removed. No acknowledged data is lost.",
                    {{"file", cut->path}, {"offset", cut->offset}, {"bytes", cut->bytes}, {"head", cut->head}});
    }
    return {};
}

// Even an index that is only read needs some space to open, so the last spare may be given up too: without the index
// the server cannot run.
Status ShardParts::open_index_of_log(RowStorage& rows, LogSink& log) {
    retention_->set_now(journal_->totals().server_time_ms);
    return with_space_of_a_spare(*journal_, 0, [&]() -> Status {
        Result<OpenedIndex> index = open_index(rows, *retention_, journal_->catalog());
        if (!index) return std::move(index).error();
        index_ = std::move(index->index);
        if (index->discarded) {
            recovery_.index_rebuilt = true;
            log.warning("index_rebuild",
                        "The index does not match the log or cannot be read. It is rebuilt from the log.",
                        {{"reason", *index->discarded}});
        }
        return {};
    });
}

Status ShardParts::recover(const ShardOptions& options, LogSink& log) {
    const auto unsealed = [this] {
        std::vector<SegmentNumber> numbers;
        for (const SegmentSummary& segment : journal_->catalog().list()) {
            if (segment.closed && segment.number > index_->position().segment) {
                numbers.push_back(static_cast<SegmentNumber>(segment.number));
            }
        }
        return numbers;
    };
    // A few full segments are replayed and sealed in the background, as without a restart. With many, the index is
    // rebuilt first, because the recent tier would not fit into memory. So is an index that was started inside a log
    // whose front was deleted: it knows all messages only if it contains all relocated records.
    const bool begins_inside = !index_->position().is_proven && journal_->first_sequence() > 1;
    if (begins_inside || unsealed().size() > options.engine.unsealed_segments_max) {
        const Status sealed = with_space_of_a_spare(*journal_, spares_of_the_log(),
                                                    [&] { return seal_missing(journal_->catalog(), *index_); });
        // Acks that continued while the disk was full have left a few more than usual: they also fit into memory.
        const std::size_t few = options.engine.unsealed_segments_max + journal_->spares_wanted() + 1;
        const bool may_wait =
            !sealed && sealed.error().code == "no_space" && !begins_inside && unsealed().size() <= few;
        if (!sealed && !may_wait) return sealed;
    }

    EngineStart start;
    start.totals = journal_->totals();
    start.unsealed = unsealed();
    const SegmentRoom room = journal_->room();
    verify_before_ = room.number;
    start.segment = static_cast<SegmentNumber>(room.closed ? room.number + 1 : room.number);
    start.segment_fill = room.closed ? kSegmentHeaderBytes : room.used_bytes;
    start.segment_bytes = room.closed ? 0 : room.segment_bytes;
    start.block_bytes = journal_->block_bytes();
    std::memcpy(start.token_key.data(), journal_->identity().token_key.data(), start.token_key.size());
    const Result<std::optional<RestoredMark>> restored = read_restored_mark(files_, directory_);
    if (!restored) return restored.error();
    if (*restored) {
        start.past_until_ms = (*restored)->past_until_ms;
        start.ids_from = (*restored)->ids_from;
        if (start.totals.sequence == (*restored)->sequence) {
            log.warning(
                "restored_from_backup",
                "This is the first start from a restored backup. Changes after the backup are lost, and messages "
                "that were due before the restore are delivered with `maybe_delivered`.",
                {{"backup_ms", start.totals.server_time_ms}, {"restored_ms", start.past_until_ms}});
        }
        for (std::size_t i = 0; i < (*restored)->salt.size(); ++i) {
            start.token_key[i] ^= std::to_integer<std::uint8_t>((*restored)->salt[i]);
        }
    }
    Sequence relocated_up_to = 0;
    std::vector<Index::Settings> settings;
    if (Status replayed = replay(options, start, settings, relocated_up_to, log); !replayed) return replayed;
    if (Status proven = prove(start.totals, settings, log); !proven) return proven;
    if (Status repeated = repeat_drop(relocated_up_to, log); !repeated) return repeated;
    log.info("recovered", "Recovery is complete.",
             {{"records", recovery_.replayed_records},
              {"pending", start.totals.live_count},
              {"sequence", start.totals.sequence}});
    engine_ = std::make_unique<Engine>(options.engine, start, recent_);
    reader_ = std::make_unique<StoreReader>(*index_, journal_->catalog(), engine_->generation());
    return {};
}

// Replays the records that are not in the index, and verifies the totals of the log with its own sum.
Status ShardParts::replay(const ShardOptions& options, EngineStart& start, std::vector<Index::Settings>& settings,
                          Sequence& relocated_up_to, LogSink& log) {
    const IndexPosition position = index_->position();
    // For an empty index: a log whose front was deleted starts with the totals of its first header.
    const Totals begin =
        position.segment == 0 ? journal_->catalog().snapshot().front()->header().before : position.totals;
    start.load_cursor_ms = position.load_cursor_ms;
    std::map<std::pair<std::string, std::string>, DuePosition> cursors;
    Result<std::vector<Index::QueueCursor>> sealed = index_->queue_cursors();
    if (!sealed) return std::move(sealed).error();
    for (const Index::QueueCursor& cursor : *sealed) {
        cursors[{cursor.queue.name_space, cursor.queue.queue}] = cursor.position;
    }
    QueueReplay queues;
    if (Status begun = queues.begin(*index_); !begun) return begun;
    if (Status done = queues.pass_settings(recent_); !done) return done;
    LogAudit audit(begin, position.relocated_up_to);
    outcomes_relocated_up_to_ = position.outcomes_relocated_up_to;
    Status replayed = journal_->replay(begin.sequence + 1, [&](const CommitInLog& commit) -> Status {
        if (commit.totals.commit <= begin.commit) return {};
        for (const FramedRecord& frame : commit.records) {
            Result<Record> record = decode_record(frame.kind, frame.body);
            if (!record) return std::move(record).error();
            const auto bytes = static_cast<std::uint32_t>(frame.frame_bytes);
            if (Status added = audit.add(*record, frame.sequence, bytes); !added) return added;
            recent_.apply(*record, frame.sequence, static_cast<SegmentNumber>(commit.segment_number), bytes);
            recovery_.replayed_bytes += bytes;
            queues.apply(*record, frame.sequence, bytes);
            if (record->kind == RecordKind::outcomes) {
                const auto segment = static_cast<SegmentNumber>(commit.segment_number);
                if (Status done = replay_outcomes(*record, frame, segment); !done) return done;
            }
            if (record->kind != RecordKind::cursor) continue;
            if (record->state.queue.empty()) {
                start.load_cursor_ms = std::max(start.load_cursor_ms, record->state.due_ms);
            } else if (record->removed) {
                cursors.erase({record->state.name_space, record->state.queue});
            } else {
                cursors[{record->state.name_space, record->state.queue}] = {record->state.due_ms, record->id};
            }
        }
        recovery_.replayed_records += commit.count;
        return audit.close(commit);
    });
    if (!replayed) return replayed;
    if (Status whole = audit.check_front(journal_->first_sequence()); !whole) return whole;
    relocated_up_to = audit.relocated_up_to();
    for (const auto& [name, at] : cursors) start.queue_cursors.push_back({{name.first, name.second}, at});
    settings = queues.settings();
    start.zone_data = options.zone_data.empty() ? zone_data_version() : options.zone_data;
    const FindZone find_zone =
        options.find_zone ? options.find_zone : [this](std::string_view name) { return zones_.find(name); };
    if (Status made = queues.finish(start.schedules, find_zone, log); !made) return made;
    if (Status made = queues.finish(start.watchdogs); !made) return made;
    if (Status made = queues.finish(start.namespaces); !made) return made;
    if (Status made = queues.finish(start.tokens); !made) return made;
    if (Status made = queues.finish(start.inputs); !made) return made;
    return queues.finish(start.queue_states);
}

// Outcomes that were relocated before the index contained them are kept in memory until this segment is sealed.
Status ShardParts::replay_outcomes(const Record& outcomes, const FramedRecord& frame, SegmentNumber segment) {
    outcomes_relocated_up_to_ = std::max(outcomes_relocated_up_to_, outcomes.up_to);
    const std::uint64_t first_segment = index_->position().segment != 0
                                            ? index_->position().first_segment
                                            : journal_->catalog().snapshot().front()->header().number;
    if (outcomes.segment >= first_segment) return {};
    return for_each_outcome(outcomes.value, [&](const Record& outcome) {
        recent_.apply(outcome, frame.sequence, segment, 0);
        return Status();
    });
}

// No deleted segment may be needed. An index that was started since the last proof is compared with the log, row by
// row; a proven one is continued, because each table follows from the previous one and the log alone.
Status ShardParts::prove(const Totals& totals, const std::vector<Index::Settings>& settings, LogSink& log) {
    const Result<std::optional<std::string>> lost = find_lost_need(*index_, journal_->first_sequence());
    if (!lost) return lost.error();
    if (*lost) return lost_records(**lost);
    if (index_->position().is_proven) return {};
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& segment : journal_->catalog().list()) first_sequences.push_back(segment.first_sequence);
    const Result<std::optional<std::string>> difference =
        find_difference(*index_, recent_, settings, totals, first_sequences);
    if (!difference) return difference.error();
    if (*difference) return lost_records(**difference);
    Status marked = index_->mark_proven();
    if (!marked && marked.error().code != "no_space") return marked;
    if (!marked) {
        log.warning(
            "index_check_not_saved",
            "The index was checked, but the disk is too full to save the result. The next start checks it again.",
            {{"error", marked.error().message}});
    }
    return {};
}

// Deletes segments that a relocation-done record released and an earlier run did not unlink, if the index is complete
// enough to show that nothing in them is needed; otherwise compaction deletes them later.
Status ShardParts::repeat_drop(Sequence relocated_up_to, LogSink& log) {
    const Sequence up_to = std::min(relocated_up_to, index_->position().totals.sequence + 1);
    const Result<std::optional<std::string>> needed = find_lost_need(*index_, up_to);
    if (!needed) return needed.error();
    if (*needed) return {};
    const Sequence front = journal_->first_sequence();
    if (Status dropped = journal_->drop_before(up_to); !dropped) return dropped;
    if (journal_->first_sequence() != front) {
        log.info("old_segments_removed", "Segments that the last run no longer needed were removed.",
                 {{"first_sequence", journal_->first_sequence()}});
    }
    return {};
}

Result<bool> ShardParts::verify_next_segment() {
    for (const std::shared_ptr<const SegmentFile>& segment : journal_->catalog().snapshot()) {
        const std::uint64_t number = segment->header().number;
        if (number <= verified_segment_) continue;
        if (number >= verify_before_) break;
        if (Status read = segment->scan([](const CommitInLog&) { return Status(); }); !read) {
            return std::move(read).error();
        }
        verified_segment_ = number;
        return true;
    }
    return false;
}

// It frees no space, so it may not use the segments that are kept for compaction.
Status ShardParts::save_clock_mark(const ClockMark& mark) {
    const std::size_t kept = std::max(spares_of_the_log(), kept_for_cleaning_);
    return with_space_of_a_spare(*journal_, kept, [&] { return write_mark(files_, directory_, mark); });
}

// Without the last spare the log could not continue after the open segment is full. While that accepts records, a table
// may use the spare: it allows the front of the log to be deleted.
std::size_t ShardParts::spares_of_the_log() const {
    return journal_->room().closed ? 1 : 0;
}

Result<SegmentNumber> ShardParts::seal_next() {
    const auto segments = journal_->catalog().snapshot();
    // An empty index starts where the log does.
    const std::uint64_t position = index_->position().segment;
    const std::uint64_t next = position == 0 ? segments.front()->header().number : position + 1;
    for (const std::shared_ptr<const SegmentFile>& segment : segments) {
        if (segment->header().number != next) continue;
        const SegmentEnd end = segment->end();
        if (!end.closed) break;
        retention_->set_now(end.totals.server_time_ms);
        Status sealed = with_space_of_a_spare(*journal_, spares_of_the_log(), [&] {
            const Status built = seal_segment(*segment, journal_->catalog(), *index_);
            table_waits_ = !built;
            return built;
        });
        if (!sealed) return std::move(sealed).error();
        return static_cast<SegmentNumber>(next);
    }
    return SegmentNumber{0};
}

Result<SpaceReading> ShardParts::see_space(bool spares_refused) const {
    const Result<std::uint64_t> free = files_.free_bytes(directory_);
    if (!free) return free.error();
    return SpaceReading{*free, journal_->ready_spares(), spares_refused};
}

Result<SpaceReading> ShardParts::maintain_spare_segments() {
    if (table_waits_) return see_space(true);
    Status filled = journal_->prepare_spares();
    if (!filled && filled.error().code != "no_space") return std::move(filled).error();
    return see_space(!filled);
}

void ShardParts::take_space(const SpaceReading& seen) {
    space_.see(seen);
    engine_->set_log_space(log_space());
}

LogSpace ShardParts::log_space() const {
    if (!space_.is_full()) return LogSpace::enough;
    if (!space_.has_only_reserve()) return LogSpace::scarce;
    const std::size_t held = journal_->spares_held();
    if (held == 0) return LogSpace::none;
    return held > kept_for_cleaning_ ? LogSpace::reserve : LogSpace::cleaning;
}

bool ShardParts::report_free_space() {
    const std::size_t ready = journal_->ready_spares();
    const bool at_stake = ready <= reserve_segments_ && ready != space_.seen().ready_spares;
    engine_->set_reserve_at_stake(at_stake);
    engine_->set_log_space(log_space());
    return at_stake;
}

}  // namespace duewheel
