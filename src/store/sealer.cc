#include "store/sealer.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/error_codes.h"
#include "message/records/outcome_rows.h"

namespace duewheel {
namespace {

Error not_of_this_log(std::string_view what) {
    return {"damaged_index"_code,
            "the index and the log do not match: " + std::string(what) +
                ". No data is lost: remove the index, and the next start rebuilds it from the log"};
}

// Cursors of the queues that the segment changes, read from the index if the segment does not set them.
class QueueCursors {
  public:
    QueueCursors(const SegmentEffect& effect, const Index& index) : effect_(effect), index_(index) {
        for (const QueueCursorRecord& record : effect.queue_cursors()) {
            cursors_[record.queue] = {record.removed ? std::nullopt : std::optional(record.at), true};
        }
    }

    // An unfinished message that no scan of `due` will find must not be below its queue's cursor.
    Status lower(QueueNumber queue, DuePosition at) {
        const auto [inserted, fresh] = cursors_.try_emplace(queue);
        Cursor& cursor = inserted->second;
        if (fresh) {
            const QueueName& name = effect_.queues().name(queue);
            Result<std::optional<DuePosition>> found = index_.queue_cursor(name.name_space, name.queue);
            if (!found) return std::move(found).error();
            cursor.at = *found;
        }
        if (cursor.at && *cursor.at <= at) return {};
        cursor = {at, true};
        return {};
    }

    std::map<QueueNumber, std::optional<DuePosition>> changed() const {
        std::map<QueueNumber, std::optional<DuePosition>> changed;
        for (const auto& [queue, cursor] : cursors_) {
            if (cursor.changed) changed.emplace(queue, cursor.at);
        }
        return changed;
    }

  private:
    struct Cursor {
        std::optional<DuePosition> at;
        bool changed = false;
    };

    const SegmentEffect& effect_;
    const Index& index_;
    std::unordered_map<QueueNumber, Cursor> cursors_;
};

// The rows of `due` that the new load cursor removes belong to queues whose cursors bound them, according to the
// records that set those cursors. If the front of the log was deleted before the index was started, such a record may
// be missing, so the rows themselves must be read.
Status bound_swept_rows(SegmentTable& table, const Index& index, QueueCursors& cursors) {
    constexpr std::uint32_t kRowsAtOnce = 4096;
    DuePosition from{table.load_cursor_before_ms, 0};
    for (bool complete = false; !complete;) {
        const Result<Stretch> stretch = index.scan_due(from, table.position.load_cursor_ms, kRowsAtOnce);
        if (!stretch) return stretch.error();
        for (const MessageRow& row : stretch->rows) {
            if (table.effect.touches(row.id)) continue;
            const QueueNumber queue = table.effect.queue_number(row.state.name_space, row.state.queue);
            if (Status lowered = cursors.lower(queue, {row.state.due_ms, row.id}); !lowered) return lowered;
        }
        complete = stretch->complete;
        from = stretch->next;
    }
    return {};
}

Status find_queue_cursors(SegmentTable& table, const Index& index) {
    QueueCursors cursors(table.effect, index);
    if (table.position.first_segment > 1) {
        if (Status bounded = bound_swept_rows(table, index, cursors); !bounded) return bounded;
    }
    const DueMs load_cursor_ms = table.position.load_cursor_ms;
    for (const MessageEffect& message : table.effect.messages()) {
        // A message that does not wait for its due time (held) is in no list that a cursor bounds.
        if (!is_timed(message.state) || has_due_row(message, load_cursor_ms)) continue;
        if (Status lowered = cursors.lower(message.queue, {message.due_ms, message.id}); !lowered) return lowered;
    }
    table.queue_cursors = cursors.changed();
    return {};
}

// The position of the message's whole record before this segment; 0: none that is needed.
Result<Sequence> position_before(const MessageEffect& message, const Index& index) {
    if (!message.before.position_unknown) return message.before.log_position;
    const Result<std::optional<MessageRow>> row = index.find(message.id, 0);
    if (!row) return row.error();
    return *row && needs_record((*row)->state.state) ? (*row)->log_position : Sequence{0};
}

Status count_needed(SegmentTable& table, const std::vector<Sequence>& first_sequences, const Index& index) {
    std::map<Sequence, std::int64_t> changes;
    auto count = [&](Sequence log_position, std::int64_t change) {
        const auto after = std::upper_bound(first_sequences.begin(), first_sequences.end(), log_position);
        // A position before the front of the log: its segment was deleted, and records that are still needed were
        // relocated.
        if (after != first_sequences.begin()) changes[*(after - 1)] += change;
    };
    for (const MessageEffect& message : table.effect.messages()) {
        const Result<Sequence> before = position_before(message, index);
        if (!before) return before.error();
        if (*before != 0) count(*before, -1);
        if (needs_record(message.state)) count(message.log_position, 1);
    }
    for (const auto* rules : {&table.effect.settings(), &table.effect.rules()}) {
        for (const auto& [key, rule] : *rules) {
            if (rule.position_before != 0) count(rule.position_before, -1);
            if (!rule.value.empty()) count(rule.log_position, 1);
        }
    }
    Result<std::map<Sequence, std::uint64_t>> counts = index.needed_counts();
    if (!counts) return std::move(counts).error();
    for (const auto& [first_sequence, change] : changes) {
        if (change == 0) continue;
        const auto held = static_cast<std::int64_t>((*counts)[first_sequence]);
        if (held + change < 0) return not_of_this_log("more records of a segment ended than it holds");
        table.needed[first_sequence] = static_cast<std::uint64_t>(held + change);
    }
    return {};
}

// How a message counts.
struct Counted {
    QueueNumber queue = 0;
    State state = State::scheduled;
    DueMs due_ms = 0;
};

// As the index has the message; nothing if it does not have it. If the front of the log is deleted, an index that was
// started there does not know messages of earlier records: the previous state is then read from the index, and not from
// the record.
Result<std::optional<Counted>> counted_before(SegmentTable& table, const MessageEffect& message, Sequence front,
                                              const Index& index) {
    const StoodBefore& before = message.before;
    if (before.queue == kNoQueue) return std::optional<Counted>();
    const bool may_be_unknown = before.position_unknown || before.log_position < front;
    if (!may_be_unknown) return std::optional(Counted{before.queue, before.state, before.due_ms});
    const Result<std::optional<MessageRow>> row = index.find(message.id, 0);
    if (!row) return row.error();
    if (!*row) return std::optional<Counted>();
    const MessageState& state = (*row)->state;
    return std::optional(Counted{table.effect.queue_number(state.name_space, state.queue), state.state, state.due_ms});
}

// Adds the counts that the index has to changes of minutes of one queue, which are in their order: with one scan,
// unless they are far apart.
Status add_due_counts(const std::span<std::pair<DueMinute, DueCounts>> changes, const QueueName& name,
                      const Index& index) {
    constexpr std::size_t kMinutesPerLookup = 16;
    const DueMinute first = changes.front().first;
    const DueMinute last = changes.back().first;
    if (last.number - first.number >= kMinutesPerLookup * changes.size()) {
        for (auto& [minute, counts] : changes) {
            const Result<DueCounts> found = index.due_counts(name.name_space, name.queue, minute.start_ms());
            if (!found) return found.error();
            counts.add(*found);
        }
        return {};
    }
    const std::uint32_t limit = last.number - first.number + 1;
    const Result<DueMinutes> found =
        index.count_due({name.name_space, name.queue, first.start_ms(), last.start_ms() + DueMinute::kMs, limit});
    if (!found) return found.error();
    auto change = changes.begin();
    for (const DueMinutes::Row& row : found->rows) {
        while (change->first.start_ms() < row.start_ms) ++change;
        if (change->first.start_ms() == row.start_ms) change->second.add(row.counts);
    }
    return {};
}

// What becomes due in each minute of each queue, and of its namespace.
Status count_due(SegmentTable& table, const DueChanges& changes, const Index& index) {
    std::vector<std::pair<DueMinute, DueCounts>>& rows = table.due_counts;
    rows.reserve(2 * changes.all().size());
    for (const auto& [minute, counts] : changes.all()) {
        const std::string name_space = table.effect.queues().name(minute.queue).name_space;
        rows.emplace_back(minute, counts);
        rows.emplace_back(DueMinute{table.effect.queue_number(name_space, {}), minute.number}, counts);
    }
    std::sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) { return left.first < right.first; });
    std::size_t kept = 0;
    for (std::size_t next = 0; next < rows.size(); ++next) {  // adds up those of several queues of a namespace
        if (kept != 0 && rows[kept - 1].first == rows[next].first) {
            rows[kept - 1].second.add(rows[next].second);
        } else {
            rows[kept++] = rows[next];
        }
    }
    rows.resize(kept);
    std::erase_if(rows, [](const auto& row) { return row.second == DueCounts(); });
    for (auto from = rows.begin(); from != rows.end();) {
        const QueueNumber queue = from->first.queue;
        const auto until = std::find_if(from, rows.end(), [&](const auto& row) { return row.first.queue != queue; });
        if (Status added = add_due_counts({from, until}, table.effect.queues().name(queue), index); !added) {
            return added;
        }
        from = until;
    }
    return {};
}

// The number of messages in each queue, and in each minute: the counts of the index with the changes of the segment.
Status count_queues(SegmentTable& table, Sequence front, const Index& index) {
    std::map<QueueNumber, QueueCounts> changes;
    DueChanges due;
    for (const MessageEffect& message : table.effect.messages()) {
        const auto found = counted_before(table, message, front, index);
        if (!found) return found.error();
        const bool is_recurring = table.effect.rare(message).is_recurring();  // for life
        if (const std::optional<Counted>& before = *found) {
            changes[before->queue].leave(before->state);
            due.leave(before->queue, before->due_ms, before->state, is_recurring);
        }
        changes[message.queue].enter(message.state);
        due.enter(message.queue, message.due_ms, message.state, is_recurring);
    }
    for (const auto& [queue, change] : changes) {
        if (change == QueueCounts{}) continue;
        const QueueName& name = table.effect.queues().name(queue);
        Result<QueueCounts> counts = index.queue_counts(name.name_space, name.queue);
        if (!counts) return std::move(counts).error();
        counts->add(change);
        if (static_cast<std::int64_t>(std::min({counts->pending, counts->held, counts->dead})) < 0) {
            return not_of_this_log("more messages of a queue ended than it holds");
        }
        table.queue_counts[queue] = *counts;
    }
    return count_due(table, due, index);
}

// The rows of keys. A key is stored with the queue of its message. If several messages had one key, because the older
// ones have ended, the one with the greatest id holds it.
class KeyRows {
  public:
    KeyRows(const SegmentEffect& effect, const Index& index) : effect_(effect), index_(index) {}

    Status add(const MessageEffect& message) {
        const RareFields& rare = effect_.rare(message);
        if (rare.key.empty()) return {};
        if (message.before.queue != kNoQueue && message.before.queue != message.queue) {
            if (Status left = leave(message.before.queue, rare.key, message.id); !left) return left;
        }
        const QueueName& name = effect_.queues().name(message.queue);
        // A message that was put in an earlier segment may have lost its key since: it was dead, the key expired and
        // was used again, and then it was redriven.
        if (message.before.queue != kNoQueue) {
            const auto holder = index_.find_key(name.name_space, name.queue, rare.key, 0);
            if (!holder) return holder.error();
            if (*holder && (*holder)->id > message.id) return {};
        }
        const DueMs due_ms = rare.first_due_ms != 0 ? rare.first_due_ms : message.nominal_due_ms;
        std::optional<KeyHolder> holder = KeyHolder{message.id, rare.request_hash, due_ms, message.ended_ms};
        rows_.push_back({key_key(name.name_space, name.queue, rare.key), holder});
        return {};
    }

    std::vector<SegmentTable::KeyRow> sorted() && {
        const auto holder = [](const SegmentTable::KeyRow& row) { return row.holder ? row.holder->id : 0; };
        std::sort(rows_.begin(), rows_.end(), [&](const SegmentTable::KeyRow& left, const SegmentTable::KeyRow& right) {
            const int order = left.row_key.compare(right.row_key);
            return order != 0 ? order < 0 : holder(left) > holder(right);
        });
        const auto last = std::unique(rows_.begin(), rows_.end(),
                                      [](const SegmentTable::KeyRow& left, const SegmentTable::KeyRow& right) {
                                          return left.row_key == right.row_key;
                                      });
        rows_.erase(last, rows_.end());
        return std::move(rows_);
    }

  private:
    // The message has moved to another queue with its key.
    Status leave(QueueNumber queue, const std::string& key, MessageId id) {
        const QueueName& name = effect_.queues().name(queue);
        const auto holder = index_.find_key(name.name_space, name.queue, key, 0);
        if (!holder) return holder.error();
        if (*holder && (*holder)->id == id) {
            rows_.push_back({key_key(name.name_space, name.queue, key), std::nullopt});
        }
        return {};
    }

    const SegmentEffect& effect_;
    const Index& index_;
    std::vector<SegmentTable::KeyRow> rows_;
};

Status find_keys(SegmentTable& table, const Index& index) {
    KeyRows rows(table.effect, index);
    for (const MessageEffect& message : table.effect.messages()) {
        if (Status added = rows.add(message); !added) return added;
    }
    table.keys = std::move(rows).sorted();
    return {};
}

// Reads all rows of leases: those that are over need no row, and those of the segment's messages have new ones.
Status find_ended_leases(SegmentTable& table, const Index& index) {
    const Result<std::vector<DuePosition>> leases = index.leases();
    if (!leases) return leases.error();
    for (const DuePosition& at : *leases) {
        const bool is_over = at.due_ms <= table.position.totals.server_time_ms;
        if (is_over || table.effect.touches(at.id)) table.ended_leases.push_back(at);
    }
    return {};
}

Status add_outcomes(SegmentTable& table, const Index& index) {
    Result<EraLedger> ledger = index.outcome_ledger();
    if (!ledger) return std::move(ledger).error();
    table.outcomes = *std::move(ledger);
    const HistoryBounds kept = index.retention().outcomes();
    const std::vector<EndInQueue>& ends = table.effect.ends();
    if (!ends.empty()) {
        table.outcomes.add(table.effect.outcome_bytes(), ends.front().row.ended_ms, ends.back().row.ended_ms, kept);
    }
    table.outcomes.shrink(table.position.totals.server_time_ms, kept);
    return {};
}

Status add_history(SegmentTable& table, const Index& index) {
    Result<EraLedger> ledger = index.history_ledger();
    if (!ledger) return std::move(ledger).error();
    table.history = *std::move(ledger);
    table.history_begins_before = table.history.first_era();
    const HistoryBounds& bounds = index.retention().history();
    const std::vector<EndInQueue>& ends = table.effect.ends();
    if (!ends.empty()) {
        std::uint64_t bytes = 0;
        for (const EndInQueue& end : ends) {
            const QueueName& name = table.effect.queues().name(end.queue);
            bytes += history_row_bytes(name.name_space, name.queue);
        }
        table.history_era = table.history.add(bytes, ends.front().row.ended_ms, ends.back().row.ended_ms, bounds);
    }
    table.history.shrink(table.position.totals.server_time_ms, bounds);
    if (table.history_era < table.history.first_era()) table.history_era = 0;
    return {};
}

enum class Fill { full, open };

// The effect of all records, in one pass over the file. Leaves `end` at the last footer. Outcomes that were relocated
// out of a segment before `first_segment`, the first of the index, are new to the index; it already contains the ends
// of all others.
Result<SegmentEffect> read_effect(const SegmentFile& segment, std::uint64_t first_segment, Fill fill, Totals& end) {
    SegmentEffect effect(segment.end().totals.sequence - segment.header().before.sequence);
    bool closed = false;
    const Status scanned = segment.scan([&](const CommitInLog& commit) -> Status {
        for (const FramedRecord& framed : commit.records) {
            const Result<Record> record = decode_record(framed.kind, framed.body);
            if (!record) return record.error();
            effect.add(*record, framed.sequence, framed.frame_bytes, commit.totals.server_time_ms);
            const auto* outcomes = std::get_if<OutcomesRecord>(&*record);
            if (outcomes == nullptr || outcomes->segment >= first_segment) continue;
            const Status added = for_each_outcome(outcomes->rows, [&](const MessageRecord& outcome) {
                effect.add(outcome, framed.sequence, 0, commit.totals.server_time_ms);
                return Status();
            });
            if (!added) return added;
        }
        end = commit.totals;
        closed = commit.closes_segment;
        return {};
    });
    if (!scanned) return scanned.error();
    if (!closed && fill == Fill::full)
        return not_of_this_log("segment " + segment.path() + " was to be sealed before it was full");
    return effect;
}

}  // namespace

Result<SegmentTable> make_segment_table(SegmentEffect effect, const IndexPosition& end,
                                        const std::vector<Sequence>& first_sequences, const Index& index) {
    const IndexPosition before = index.position();
    const DueMs load_cursor_before_ms = before.load_cursor_ms;
    SegmentTable table{std::move(effect), end, load_cursor_before_ms, {}, {}, {}, {}, {}, {}, 0, 0, {}, {}};
    table.position.is_proven = before.is_proven;
    table.position.relocated_up_to = std::max(before.relocated_up_to, table.effect.relocated_up_to());
    table.position.outcomes_relocated_up_to =
        std::max(before.outcomes_relocated_up_to, table.effect.outcomes_relocated_up_to());
    table.position.load_cursor_ms = std::max(load_cursor_before_ms, table.effect.load_cursor_ms());
    if (Status found = find_queue_cursors(table, index); !found) return std::move(found).error();
    if (Status counted = count_needed(table, first_sequences, index); !counted) return std::move(counted).error();
    const Sequence front = first_sequences.empty() ? 1 : first_sequences.front();
    if (Status counted = count_queues(table, front, index); !counted) return std::move(counted).error();
    if (Status found = find_keys(table, index); !found) return std::move(found).error();
    if (Status found = find_ended_leases(table, index); !found) return std::move(found).error();
    if (Status added = add_history(table, index); !added) return std::move(added).error();
    if (Status added = add_outcomes(table, index); !added) return std::move(added).error();
    return table;
}

namespace {

Status seal(const SegmentFile& segment, const SegmentCatalog& catalog, Fill fill, Index& index) {
    const IndexPosition before = index.position();
    if (before.segment != 0 && before.totals != segment.header().before) {
        return not_of_this_log("segment " + segment.path() + " does not follow what the index holds");
    }
    const std::vector<SegmentSummary> segments = catalog.list();
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& summary : segments) {
        if (summary.first_sequence <= segment.first_sequence()) first_sequences.push_back(summary.first_sequence);
    }
    IndexPosition end;
    end.segment = segment.header().number;
    end.first_segment = before.segment == 0 ? end.segment : before.first_segment;
    Result<SegmentEffect> effect = read_effect(segment, end.first_segment, fill, end.totals);
    if (!effect) return std::move(effect).error();
    Result<SegmentTable> table = make_segment_table(*std::move(effect), end, first_sequences, index);
    if (!table) return std::move(table).error();
    return index.take_in(*table);
}

}  // namespace

Status seal_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index) {
    return seal(segment, catalog, Fill::full, index);
}

Status seal_open_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index) {
    return seal(segment, catalog, Fill::open, index);
}

}  // namespace duewheel
