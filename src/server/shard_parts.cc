#include "server/shard_parts.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "server/queue_replay.h"
#include "store/index_recovery.h"
#include "store/sealer.h"

namespace duewheel {

// Damage to the index may be met only while what it lacks is worked out. It is built anew then, once: what is met a
// second time has another reason.
Result<std::unique_ptr<ShardParts>> ShardParts::open(FileSystem& files, const std::string& directory, RowStorage& rows,
                                                     Retention& retention, const ShardOptions& options, LogSink& log) {
    Result<std::unique_ptr<ShardParts>> opened = try_to_open(files, directory, rows, retention, options, log);
    if (opened || opened.error().code != "damaged_index") return opened;
    log.warning("index_condemned", "The index turned out to be damaged.", {{"error", opened.error().message}});
    if (Status condemned = rows.condemn(); !condemned) return std::move(condemned).error();
    return try_to_open(files, directory, rows, retention, options, log);
}

Result<std::unique_ptr<ShardParts>> ShardParts::try_to_open(FileSystem& files, const std::string& directory,
                                                            RowStorage& rows, Retention& retention,
                                                            const ShardOptions& options, LogSink& log) {
    auto parts = std::unique_ptr<ShardParts>(new ShardParts);
    if (Status made = files.make_directories(directory); !made) return std::move(made).error();
    Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return std::move(lock).error();
    parts->lock_ = *std::move(lock);

    JournalOptions journal_options;
    journal_options.segment_bytes = options.engine.segment_bytes;
    journal_options.spare_count = options.spare_segments;
    journal_options.reserve_count = options.reserve_segments;
    journal_options.identity = options.identity;
    Result<std::unique_ptr<LocalJournal>> journal = LocalJournal::open(files, directory + "/journal", journal_options);
    if (!journal) return std::move(journal).error();
    parts->journal_ = *std::move(journal);
    if (const std::optional<Cut>& cut = parts->journal_->cut()) {
        log.warning("log_cut", "The end of the log was never acknowledged and was cut off.",
                    {{"file", cut->path}, {"offset", cut->offset}, {"bytes", cut->bytes}, {"head", cut->head}});
    }

    parts->retention_ = &retention;
    retention.set_now(parts->journal_->totals().server_time_ms);
    Result<OpenedIndex> index = open_index(rows, retention, parts->journal_->catalog());
    if (!index) return std::move(index).error();
    parts->index_ = std::move(index->index);
    if (index->discarded) {
        parts->recovery_.index_rebuilt = true;
        log.warning("index_discarded", "The index is of no use and is built anew from the log.",
                    {{"why", *index->discarded}});
    }
    if (Status recovered = parts->recover(options, log); !recovered) return std::move(recovered).error();
    return parts;
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
    // A few full segments are replayed and sealed in the background, as they would have been; many are an index that
    // has to be rebuilt first, because the recent tier would not fit into memory. So has one that knows nothing of a
    // log whose front is gone: only sealing can begin inside.
    const bool knows_nothing = index_->position().segment == 0 && journal_->first_sequence() > 1;
    if (knows_nothing || unsealed().size() > options.engine.unsealed_segments_max) {
        if (Status sealed = seal_missing(journal_->catalog(), *index_); !sealed) return sealed;
    }

    EngineStart start;
    start.totals = journal_->totals();
    start.unsealed = unsealed();
    const SegmentRoom room = journal_->room();
    start.segment = static_cast<SegmentNumber>(room.closed ? room.number + 1 : room.number);
    start.segment_fill = room.closed ? kSegmentHeaderBytes : room.used_bytes;
    start.segment_bytes = room.closed ? 0 : room.segment_bytes;
    std::memcpy(start.token_key.data(), journal_->identity().token_key.data(), start.token_key.size());
    if (Status replayed = replay(start); !replayed) return replayed;
    log.info("recovered", "The log was replayed.",
             {{"records", recovery_.replayed_records},
              {"pending", start.totals.live_count},
              {"sequence", start.totals.sequence}});
    engine_ = std::make_unique<Engine>(options.engine, start, recent_);
    reader_ = std::make_unique<StoreReader>(*index_, journal_->catalog(), engine_->generation());
    return {};
}

// Reads what the index does not hold, and adds it up beside: what every footer says must be what its records add up to.
Status ShardParts::replay(EngineStart& start) {
    const IndexPosition position = index_->position();
    start.load_cursor_ms = position.load_cursor_ms;
    std::map<std::pair<std::string, std::string>, DuePosition> cursors;
    Result<std::vector<Index::QueueCursor>> sealed = index_->queue_cursors();
    if (!sealed) return std::move(sealed).error();
    for (const Index::QueueCursor& cursor : *sealed) {
        cursors[{cursor.queue.name_space, cursor.queue.queue}] = cursor.position;
    }
    QueueReplay queues;
    if (Status begun = queues.begin(*index_); !begun) return begun;
    Totals totals = position.totals;
    Status replayed = journal_->replay(position.totals.sequence + 1, [&](const CommitInLog& commit) -> Status {
        if (commit.totals.commit <= position.totals.commit) return {};
        for (const FramedRecord& frame : commit.records) {
            Result<Record> record = decode_record(frame.kind, frame.body);
            if (!record) return std::move(record).error();
            const auto bytes = static_cast<std::uint32_t>(frame.frame_bytes);
            add_to_totals(totals, *record, bytes);
            recent_.apply(*record, frame.sequence, static_cast<SegmentNumber>(commit.segment_number), bytes);
            recovery_.replayed_bytes += bytes;
            queues.apply(*record, frame.sequence, bytes);
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
        const bool agree = totals.digest == commit.totals.digest && totals.live_count == commit.totals.live_count &&
                           totals.needed_bytes == commit.totals.needed_bytes;
        if (!agree) {
            return Error{"damaged_log", "commit " + std::to_string(commit.totals.commit) + " of segment " +
                                            std::to_string(commit.segment_number) + " at offset " +
                                            std::to_string(commit.offset) +
                                            " does not add up to what its footer says: run `duewheel check`"};
        }
        return {};
    });
    if (!replayed) return replayed;
    for (const auto& [name, at] : cursors) start.queue_cursors.push_back({{name.first, name.second}, at});
    return queues.finish(start.queue_states);
}

Result<SegmentNumber> ShardParts::seal_next() {
    const std::uint64_t next = index_->position().segment + 1;
    for (const std::shared_ptr<const SegmentFile>& segment : journal_->catalog().snapshot()) {
        if (segment->header().number != next) continue;
        const SegmentEnd end = segment->end();
        if (!end.closed) break;
        retention_->set_now(end.totals.server_time_ms);
        if (Status sealed = seal_segment(*segment, journal_->catalog(), *index_); !sealed) {
            return std::move(sealed).error();
        }
        return static_cast<SegmentNumber>(next);
    }
    return SegmentNumber{0};
}

}  // namespace duewheel
