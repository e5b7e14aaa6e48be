#include "server/shard/shard_parts.h"

#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/volume_size.h"
#include "journal/segment_format.h"
#include "server/shard/disk_advice.h"
#include "server/shard/shard_recovery.h"
#include "store/index_recovery.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/known_damage.h"
#include "store/sealer.h"

namespace duewheel {
namespace {

// If there is an index or a known end without a log, the log was moved away: with a new log beside them, the old one
// could never be restored.
Status refuse_without_log(FileSystem& files, const std::string& directory, const std::optional<EndMark>& end) {
    if (const auto segments = files.list(directory + "/journal"); segments) {
        for (const std::string& name : *segments) {
            if (sequence_of_segment_name(name) != 0) return {};
        }
    }
    if (end) {
        if (Status reached = check_known_end(directory + "/journal", end->end, {}, {}); !reached) return reached;
    }
    const auto index = files.list(directory + "/index");
    if (!index || index->empty()) return {};
    return Error{"damaged_log"_code,
                 directory + " has an index, but its log is missing: " + directory +
                     "/journal contains no segment. Nothing was changed. Put the files seg-* back or "
                     "restore a backup. To start without data, choose an empty directory"};
}

// The message of the system says what happened, and not what to do.
Error unusable(const std::string& directory, Error error) {
    if (error.code != "in_use"_code && error.code != "no_space"_code) {
        error.message +=
            ". The user of the server must be able to write to the data directory: choose another one with --data, "
            "or change the owner or the permissions of " +
            directory;
    }
    return error;
}

}  // namespace

ShardParts::ShardParts(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

// Damage to the index may be found only during replay. The index is then rebuilt, once: a second error has another
// cause.
Result<std::unique_ptr<ShardParts>> ShardParts::open(FileSystem& files, const std::string& directory, RowStorage& rows,
                                                     Retention& retention, const ShardOptions& options, LogSink& log) {
    Result<std::unique_ptr<ShardParts>> opened = try_to_open(files, directory, rows, retention, options, log);
    if (opened || opened.error().code != "damaged_index"_code) return opened;
    log.warning("index_damaged", "The index is damaged. No data is lost: it is rebuilt from the log now.",
                {{"error", opened.error().message}});
    if (Status condemned = rows.condemn(); !condemned) return std::move(condemned).error();
    return try_to_open(files, directory, rows, retention, options, log);
}

Result<std::unique_ptr<ShardParts>> ShardParts::try_to_open(FileSystem& files, const std::string& directory,
                                                            RowStorage& rows, Retention& retention,
                                                            const ShardOptions& options, LogSink& log) {
    auto parts = std::unique_ptr<ShardParts>(new ShardParts(files, directory));
    if (Status made = files.make_directories(directory); !made) return unusable(directory, made.error());
    Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return unusable(directory, lock.error());
    parts->lock_ = *std::move(lock);
    if (Status usable = refuse_what_is_no_data_directory(files, directory); !usable) return std::move(usable).error();
    Result<std::optional<ClockMark>> mark = read_clock_mark(files, directory);
    if (!mark && mark.error().code == "damaged_mark"_code) {
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
    if (!writable && writable.error().code != "no_space"_code) return unusable(directory, writable.error());
    parts->retention_ = &retention;
    Status done = parts->open_journal(options, log);
    if (done) done = parts->open_index_of_log(rows, log);
    if (done) done = parts->recover(options, log);
    if (!done) return with_disk_advice(std::move(done).error());
    // If the disk is already full, puts are refused from the start: before the existing spares are checked.
    const Result<SpaceReading> seen = parts->reserve_->measure();
    if (!seen) return seen.error();
    parts->take_space(*seen);
    return parts;
}

Status ShardParts::open_journal(const ShardOptions& options, LogSink& log) {
    Result<std::optional<EndMark>> end = read_end_mark(files_, directory_);
    if (!end && end.error().code == "damaged_mark"_code) {
        log.warning(
            "log_end_unknown",
            "The record of how far the log reaches is damaged, so this start cannot tell whether the end of the "
            "log is missing.",
            {{"error", end.error().message}});
        end = std::optional<EndMark>();
    }
    if (!end) return end.error();
    end_mark_ = *end;
    if (Status there = refuse_without_log(files_, directory_, end_mark_); !there) return there;
    const Result<bool> healed = refuse_known_damage(files_, directory_);
    if (!healed) return healed.error();
    if (*healed) {
        log.info("log_whole_again",
                 "The log was found to be damaged before. Every byte of it was read now, and it is undamaged.");
    }
    JournalOptions journal_options;
    if (end_mark_) journal_options.known_end = end_mark_->end;
    journal_options.segment_bytes = options.engine.segment_bytes;
    journal_options.spare_count = options.spare_segments;
    journal_options.reserve_count = options.reserve_segments;
    journal_options.identity = options.identity;
    Result<std::unique_ptr<LocalJournal>> journal =
        LocalJournal::open(files_, directory_ + "/journal", journal_options);
    if (!journal) return std::move(journal).error();
    journal_ = *std::move(journal);
    if (Status same = check_shard(journal_->identity(), options.identity, directory_); !same) return same;
    reserve_.emplace(files_, directory_, *journal_,
                     SpaceLimits{.floor_bytes = options.free_floor_bytes,
                                 .segment_bytes = options.engine.segment_bytes,
                                 .reserve_segments = options.reserve_segments});
    if (options.replicate) replicated_ = options.replicate(*journal_);
    if (const std::optional<Cut>& cut = journal_->cut()) {
        log.warning("log_tail_truncated",
                    "The log ended with an incomplete write, which was removed. After a crash or a power failure this "
                    "is normal: a write is acknowledged only when it is complete.",
                    {{"file", cut->path},
                     {"offset", cut->offset},
                     {"bytes", cut->bytes},
                     {"sequence", journal_->totals().sequence},
                     {"known_sequence", end_mark_ ? end_mark_->end.sequence : 0}});
    }
    return {};
}

Status ShardParts::open_index_of_log(RowStorage& rows, LogSink& log) {
    retention_->set_now(journal_->totals().server_time_ms);
    return reserve_->run_to_open_index([&]() -> Status {
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
    verify_before_ = journal_->room().number;
    ShardRecovery recovery({.files = files_,
                            .directory = directory_,
                            .journal = *journal_,
                            .reserve = *reserve_,
                            .index = *index_,
                            .recent = recent_,
                            .zones = zones_},
                           options, log);
    Result<RecoveredShard> recovered = recovery.run();
    if (!recovered) return std::move(recovered).error();
    recovery_.replayed_records = recovered->replayed_records;
    recovery_.replayed_bytes = recovered->replayed_bytes;
    recovery_.loaded_leases = recovered->loaded_leases;
    outcomes_relocated_up_to_ = recovered->outcomes_relocated_up_to;
    engine_ = std::make_unique<Engine>(options.engine, recovered->start, recent_);
    reader_ = std::make_unique<StoreReader>(*index_, journal_->catalog(), engine_->generation());
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

DirectoryFacts ShardParts::directory_facts() const {
    DirectoryFacts facts;
    if (const Result<std::uint64_t> bytes = volume_bytes(directory_)) facts.volume_bytes = *bytes;
    if (const auto mark = read_backed_up_mark(files_, directory_)) facts.backed_up = *mark;
    return facts;
}

Status ShardParts::save_clock_mark(const ClockMark& mark) {
    return reserve_->run_to_save_mark([&] { return write_mark(files_, directory_, mark); });
}

// The end is saved when that costs nothing: for a new segment, and when nothing was written since the last call.
Result<SpaceReading> ShardParts::maintain_spare_segments() {
    Result<SpaceReading> seen = reserve_->maintain_spare_segments();
    if (!seen) return seen;
    const std::uint64_t commit = journal_->totals().commit;
    const bool is_idle = std::exchange(commit_at_check_, commit) == commit;
    const bool is_new = !end_mark_ || end_mark_->end.segment != journal_->room().number;
    if (!is_idle && !is_new) return seen;
    Status saved = save_end(false);
    if (!saved && saved.error().code != "no_space"_code) return std::move(saved).error();
    return seen;
}

Status ShardParts::save_end(bool stopped) {
    const SegmentRoom room = journal_->room();
    const Totals totals = journal_->totals();
    const EndMark mark{{journal_->identity().instance, room.number, totals.sequence, totals.commit}, stopped};
    if (end_mark_ == mark) return {};
    Status saved = write_mark(files_, directory_, mark);  // not worth a spare segment
    if (saved) end_mark_ = mark;
    return saved;
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
        Status sealed = reserve_->run_to_build_table([&] {
            const Status built = seal_segment(*segment, journal_->catalog(), *index_);
            reserve_->set_table_waits(!built);
            return built;
        });
        if (!sealed) return std::move(sealed).error();
        return static_cast<SegmentNumber>(next);
    }
    return SegmentNumber{0};
}

void ShardParts::take_space(const SpaceReading& seen) {
    reserve_->observe(seen);
    engine_->set_log_space(log_space());
    engine_->set_free_bytes(reserve_->watch().free_for_puts());
}

bool ShardParts::report_free_space() {
    const bool at_stake = reserve_->needs_measurement();
    engine_->set_reserve_at_stake(at_stake);
    engine_->set_log_space(log_space());
    return at_stake;
}

}  // namespace duewheel
