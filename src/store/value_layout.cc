// The values of the index, and the rows of messages, which are a key and a value together.
#include <tuple>
#include <utility>

#include "base/error_codes.h"
#include "store/index_bytes.h"
#include "store/key_layout.h"

namespace duewheel {
namespace {

constexpr std::uint8_t kWholeRow = 0;
constexpr std::uint8_t kOutcome = 1;

// Sums wrap around, so that no instant is lost at the limits of the range.
DueMs plus(DueMs left, DueMs right) {
    return static_cast<DueMs>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}
DueMs minus(DueMs left, DueMs right) {
    return static_cast<DueMs>(static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right));
}

void exclude_due(MessageRow& row) {
    row.state.nominal_due_ms = minus(row.state.nominal_due_ms, row.state.due_ms);
    row.state.due_ms = 0;
}
void fill_in_due(MessageRow& row, DueMs due_ms) {
    row.state.due_ms = due_ms;
    row.state.nominal_due_ms = plus(row.state.nominal_due_ms, due_ms);
}
void exclude_queue(MessageRow& row) {
    row.state.name_space = kDefaultNamespace;
    row.state.queue.clear();
}
void fill_in_queue(MessageRow& row, std::string_view name_space, std::string_view queue) {
    row.state.name_space = name_space;
    row.state.queue = queue;
}

// Replaces `out` by the row, without what `exclude` removes.
template <class Exclude>
void encode_rest(std::string& out, const MessageRow& row, Exclude&& exclude) {
    MessageRow rest = row;
    rest.id = 0;
    exclude(rest);
    out.clear();
    encode_row(out, rest);
}

// A row of a table whose keys consist of these names and a position.
template <class... Names>
Result<PlacedRow> read_row(IndexTable table, std::string_view name, std::string_view key, std::string_view value,
                           Names&... names) {
    PlacedRow placed;
    const std::string of_table = " of the " + std::string(name) + " table";
    if (!read_key(key, table, names..., placed.at)) return damaged_row("key" + of_table);
    Result<MessageRow> row = decode_row(value);
    if (!row) return damaged_row("row" + of_table);
    placed.row = *std::move(row);
    placed.row.id = placed.at.id;
    return placed;
}

bool is_outcome(State state) {
    return is_ended(state) && state != State::dead;
}

template <class Holder>  // may be const
auto fields_of_holder(Holder& holder) {
    return std::tie(holder.ended_ms, holder.id, holder.request_hash, holder.due_ms);
}

// After the version of the format.
template <class Position>
auto fields_of_position(Position& position) {
    auto& totals = position.totals;
    return std::tie(position.segment, position.first_segment, position.load_cursor_ms, totals.commit, totals.sequence,
                    totals.digest, totals.live_count, totals.needed_bytes, totals.id_counter, totals.server_time_ms,
                    position.relocated_up_to, position.outcomes_relocated_up_to, position.is_proven);
}

}  // namespace

// ---- messages

void encode_due_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, exclude_due);
}
void encode_expire_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, [](MessageRow& rest) { rest.state.expires_ms = 0; });
}
Result<PlacedRow> decode_due_row(std::string_view key, std::string_view value) {
    PlacedRow placed;
    char kind = 0;
    const bool is_due = read_key(key, IndexTable::due, placed.at, kind);
    if (!is_due || (kind != kDueKeyFires && kind != kDueKeyExpires)) return damaged_row("key of the due table");
    Result<MessageRow> row = decode_row(value);
    if (!row) return damaged_row("row of the due table");
    placed.row = *std::move(row);
    placed.row.id = placed.at.id;
    if (kind == kDueKeyFires) {
        fill_in_due(placed.row, placed.at.due_ms);
    } else {
        placed.row.state.expires_ms = placed.at.due_ms;
    }
    return placed;
}

void encode_queue_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, [](MessageRow& rest) {
        exclude_due(rest);
        exclude_queue(rest);
    });
}
Result<PlacedRow> decode_queue_row(std::string_view key, std::string_view value) {
    std::string_view name_space, queue;
    Result<PlacedRow> placed = read_row(IndexTable::queue, "queue", key, value, name_space, queue);
    if (!placed) return placed;
    fill_in_due(placed->row, placed->at.due_ms);
    fill_in_queue(placed->row, name_space, queue);
    return placed;
}

void encode_group_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, [](MessageRow& rest) {
        exclude_due(rest);
        exclude_queue(rest);
        rest.state.group.clear();
    });
}
Result<PlacedRow> decode_group_row(std::string_view key, std::string_view value) {
    std::string_view name_space, queue, group;
    Result<PlacedRow> placed = read_row(IndexTable::group, "group", key, value, name_space, queue, group);
    if (!placed) return placed;
    fill_in_due(placed->row, placed->at.due_ms);
    fill_in_queue(placed->row, name_space, queue);
    placed->row.state.group = group;
    return placed;
}

void encode_order_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, [](MessageRow& rest) {
        rest.state.due_ms = minus(rest.state.due_ms, rest.state.nominal_due_ms);
        rest.state.nominal_due_ms = rest.state.due_ms;
        exclude_queue(rest);
        rest.state.order_key.clear();
    });
}
Result<PlacedRow> decode_order_row(std::string_view key, std::string_view value) {
    std::string_view name_space, queue, order_key;
    Result<PlacedRow> placed = read_row(IndexTable::order, "order", key, value, name_space, queue, order_key);
    if (!placed) return placed;
    MessageState& state = placed->row.state;
    state.due_ms = plus(state.due_ms, placed->at.due_ms);
    state.nominal_due_ms = placed->at.due_ms;
    fill_in_queue(placed->row, name_space, queue);
    state.order_key = order_key;
    return placed;
}

void encode_dead_value(std::string& out, const MessageRow& row) {
    encode_rest(out, row, [](MessageRow& rest) {
        rest.ended_ms = 0;
        exclude_queue(rest);
    });
}
Result<PlacedRow> decode_dead_row(std::string_view key, std::string_view value) {
    std::string_view name_space, queue;
    Result<PlacedRow> placed = read_row(IndexTable::dead, "dead letter", key, value, name_space, queue);
    if (!placed) return placed;
    if (placed->row.state.state != State::dead) return damaged_row("row of the dead letter table");
    placed->row.ended_ms = placed->at.due_ms;
    fill_in_queue(placed->row, name_space, queue);
    return placed;
}

void encode_id_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    rest.id = 0;
    out.clear();
    if (is_outcome(row.state.state)) {
        rest.ended_ms = 0;
        append_fields(out, kOutcome, row.ended_ms);
    } else {
        append_fields(out, kWholeRow);
    }
    encode_row(out, rest);
}
Result<MessageRow> decode_id_row(std::string_view key, std::string_view value) {
    MessageId id = 0;
    if (!read_key(key, IndexTable::id, id)) return damaged_row("key of the id table");
    FieldsOfBytes from(value);
    std::uint8_t form = 0;
    DueMs ended_ms = 0;
    from.read(form);
    if (form == kOutcome) from.read(ended_ms);
    if (!from.is_whole() || form > kOutcome) return damaged_row("row of the id table");
    Result<MessageRow> row = decode_row(from.rest());
    if (!row || (form == kOutcome) != is_outcome(row->state.state)) return damaged_row("row of the id table");
    row->id = id;
    if (form == kOutcome) row->ended_ms = ended_ms;
    return row;
}

void encode_key_value(std::string& out, const KeyHolder& holder) {
    out.clear();
    append_fields(out, fields_of_holder(holder));
}
Result<KeyHolder> decode_key_value(std::string_view value) {
    KeyHolder holder;
    if (!read_fields(value, fields_of_holder(holder))) return damaged_row("row of the key table");
    return holder;
}

DueMs ended_ms_of_row(std::string_view key, std::string_view value) {
    if (key.empty()) return 0;
    DueMs ended_ms = 0;
    FieldsOfBytes from(value);
    if (key.front() == static_cast<char>(IndexTable::id)) {
        std::uint8_t form = 0;
        from.read(form);
        if (form == kOutcome) from.read(ended_ms);
    } else if (key.front() == static_cast<char>(IndexTable::key)) {
        from.read(ended_ms);
    }
    return ended_ms;
}

// ---- queues, settings and rules

void encode_queue_cursor(std::string& out, DuePosition at) {
    out.clear();
    append_fields(out, at);
}
Result<DuePosition> decode_queue_cursor(std::string_view value) {
    DuePosition at;
    if (!read_fields(value, at)) return damaged_row("cursor of a queue");
    return at;
}

void encode_due_counts(std::string& out, const DueCounts& counts) {
    const auto& [scheduled, retrying, recurring] = counts.by_kind;
    out.clear();
    append_fields(out, scheduled, retrying, recurring);
}
Result<DueCounts> decode_due_counts(std::string_view value) {
    DueCounts counts;
    auto& [scheduled, retrying, recurring] = counts.by_kind;
    if (!read_fields(value, scheduled, retrying, recurring))
        return damaged_row("count of what becomes due in a minute");
    return counts;
}

void encode_queue_counts(std::string& out, const QueueCounts& counts) {
    out.clear();
    append_fields(out, counts.pending, counts.held, counts.dead);
    if (counts.prepared != 0) append_fields(out, counts.prepared);
}
Result<QueueCounts> decode_queue_counts(std::string_view value) {
    QueueCounts counts;
    const bool is_short = read_fields(value, counts.pending, counts.held, counts.dead);
    if (!is_short && !read_fields(value, counts.pending, counts.held, counts.dead, counts.prepared)) {
        return damaged_row("count of a queue's messages");
    }
    return counts;
}

void encode_settings(std::string& out, const SettingsRow& row) {
    out.clear();
    append_fields(out, row.log_position, row.record_bytes);
    out.append(row.value);
}
Result<SettingsRow> decode_settings(std::string_view value) {
    SettingsRow row;
    FieldsOfBytes from(value);
    from.read(row.log_position);
    from.read(row.record_bytes);
    row.value = from.rest();
    if (!from.is_whole() || row.value.empty()) return damaged_row("settings");
    return row;
}

// ---- the index itself

void encode_position(std::string& out, const IndexPosition& position) {
    out.clear();
    append_fields(out, kIndexFormatVersion);
    append_fields(out, fields_of_position(position));
}
Result<IndexPosition> decode_position(std::string_view value) {
    FieldsOfBytes from(value);
    std::uint32_t version = 0;
    from.read(version);
    if (from.is_whole() && version > kIndexFormatVersion) {
        return Error{"newer_format"_code,
                     "the index has format " + std::to_string(version) + ", and this version supports up to " +
                         std::to_string(kIndexFormatVersion) + ". Start the version that wrote it"};
    }
    if (from.is_whole() && version < kIndexFormatVersion) {
        return Error{"damaged_index"_code,
                     "the index has the older format " + std::to_string(version) +
                         ". No data is lost: remove the index, and the next start rebuilds it from the log"};
    }
    IndexPosition position;
    if (!from.is_whole() || !read_fields(from.rest(), fields_of_position(position))) return damaged_row("position");
    return position;
}

void encode_needed(std::string& out, std::uint64_t count) {
    out.clear();
    append_fields(out, count);
}
Result<std::uint64_t> decode_needed(std::string_view value) {
    std::uint64_t count = 0;
    if (!read_fields(value, count)) return damaged_row("count of needed records");
    return count;
}

}  // namespace duewheel
