// The byte format of the rows of the index. The file is long because all tables are encoded and decoded in one place
// with the same few functions, so that all keys sort the same way.
#include "store/key_layout.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "message/queue_settings.h"
#include "message/schedule_state.h"
#include "message/watchdog_state.h"
#include "store/history.h"

namespace duewheel {
namespace {

constexpr char kFire = 1;
constexpr char kExpire = 2;
constexpr char kWholeRow = 0;
constexpr char kOutcome = 1;
constexpr char kMetaOutcomes = 'e';
constexpr char kMetaHistory = 'h';
constexpr char kMetaNeeded = 'n';
constexpr char kMetaPosition = 'p';
constexpr char kMetaQueueCursor = 'q';
constexpr char kMetaQueueCounts = 'u';

template <class T>
void append_number(std::string& out, T value) {
    std::array<char, sizeof(T)> bytes;
    for (std::size_t index = sizeof(T); index-- > 0; value = static_cast<T>(value >> 8)) {
        bytes[index] = static_cast<char>(value & 0xff);
    }
    out.append(bytes.data(), bytes.size());
}

// With the sign bit flipped, the bytes sort like the numbers.
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
void append_instant(std::string& out, DueMs instant) {
    append_number(out, static_cast<std::uint64_t>(instant) ^ kSignBit);
}

void append_text(std::string& out, std::string_view text) {
    assert(text.size() <= 0xffff);
    append_number(out, static_cast<std::uint16_t>(text.size()));
    out.append(text);
}

std::string begin_key(IndexTable table, std::size_t size) {
    std::string key;
    key.reserve(size);
    key.push_back(static_cast<char>(table));
    return key;
}

std::string begin_meta_key(char what, std::size_t size) {
    std::string key = begin_key(IndexTable::meta, size);
    key.push_back(what);
    return key;
}

void append_position(std::string& out, DuePosition at) {
    append_instant(out, at.due_ms);
    append_number(out, at.id);
}

// Reads fields from the front of a key or value; after the first missing one all are 0 and whole() is false.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <class T>
    T number() {
        T value = 0;
        for (const char byte : take(sizeof(T))) {
            value = static_cast<T>(value << 8 | static_cast<unsigned char>(byte));
        }
        return value;
    }
    DueMs instant() {
        const auto flipped = number<std::uint64_t>();
        return torn_ ? 0 : static_cast<DueMs>(flipped ^ kSignBit);
    }
    std::string_view text() { return take(number<std::uint16_t>()); }
    bool is(char byte) { return take(1) == std::string_view(&byte, 1); }
    DuePosition position() {
        const DueMs due_ms = instant();
        return {due_ms, number<MessageId>()};
    }

    std::string_view rest() const { return rest_; }
    // Every requested field was present, and nothing is left.
    bool finished() const { return !torn_ && rest_.empty(); }
    bool whole() const { return !torn_; }

  private:
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) torn_ = true;
        if (torn_) return {};
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool torn_ = false;
};

Error damaged(std::string_view what) {
    return {"damaged_index", "a " + std::string(what) +
                                 " of the index cannot be read. No data is lost: remove the index, and the next "
                                 "start rebuilds it from the log"};
}

// Sums wrap around, so that no instant is lost at the limits of the range.
DueMs plus(DueMs left, DueMs right) {
    return static_cast<DueMs>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}
DueMs minus(DueMs left, DueMs right) {
    return static_cast<DueMs>(static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right));
}

void leave_out_due(MessageRow& row) {
    row.id = 0;
    row.state.nominal_due_ms = minus(row.state.nominal_due_ms, row.state.due_ms);
    row.state.due_ms = 0;
}
void fill_in_due(MessageRow& row, DuePosition at) {
    row.id = at.id;
    row.state.due_ms = at.due_ms;
    row.state.nominal_due_ms = plus(row.state.nominal_due_ms, at.due_ms);
}

bool is_outcome(State state) {
    return is_ended(state) && state != State::dead;
}

}  // namespace

std::string due_key(DuePosition at) {
    std::string key = due_bound(at);
    key.push_back(kFire);
    return key;
}

std::string expire_key(DuePosition at) {
    std::string key = due_bound(at);
    key.push_back(kExpire);
    return key;
}

bool is_expire_key(std::string_view key) {
    return key.back() == kExpire;
}

std::string due_bound(DuePosition at) {
    std::string key = begin_key(IndexTable::due, 18);
    append_position(key, at);
    return key;
}

std::string queue_key(std::string_view name_space, std::string_view queue, DuePosition at) {
    std::string key = begin_key(IndexTable::queue, 21 + name_space.size() + queue.size());
    append_text(key, name_space);
    append_text(key, queue);
    append_position(key, at);
    return key;
}

std::string dead_key(std::string_view name_space, std::string_view queue, DuePosition at) {
    std::string key = queue_key(name_space, queue, at);
    key.front() = static_cast<char>(IndexTable::dead);
    return key;
}

std::string id_key(MessageId id) {
    std::string key = begin_key(IndexTable::id, 9);
    append_number(key, id);
    return key;
}

std::string order_row_key(std::string_view name_space, std::string_view queue, std::string_view order_key,
                          DuePosition at) {
    std::string key = begin_key(IndexTable::order, 23 + name_space.size() + queue.size() + order_key.size());
    append_text(key, name_space);
    append_text(key, queue);
    append_text(key, order_key);
    append_position(key, at);
    return key;
}

std::string order_bound(std::string_view name_space, std::string_view queue, bool end) {
    std::string key = begin_key(IndexTable::order, 7 + name_space.size() + queue.size());
    append_text(key, name_space);
    append_text(key, queue);
    return end ? key += "\xff\xff" : key;  // an order key is not as long as that
}

std::string key_key(std::string_view name_space, std::string_view queue, std::string_view key_of_message) {
    std::string key = begin_key(IndexTable::key, 7 + name_space.size() + queue.size() + key_of_message.size());
    append_text(key, name_space);
    append_text(key, queue);
    append_text(key, key_of_message);
    return key;
}

std::string position_key() {
    return begin_meta_key(kMetaPosition, 2);
}

std::string needed_key(Sequence first_sequence) {
    std::string key = begin_meta_key(kMetaNeeded, 10);
    append_number(key, first_sequence);
    return key;
}

std::string queue_cursor_key(std::string_view name_space, std::string_view queue) {
    std::string key = begin_meta_key(kMetaQueueCursor, 6 + name_space.size() + queue.size());
    append_text(key, name_space);
    append_text(key, queue);
    return key;
}

std::string queue_counts_key(std::string_view name_space, std::string_view queue) {
    std::string key = begin_meta_key(kMetaQueueCounts, 6 + name_space.size() + queue.size());
    append_text(key, name_space);
    append_text(key, queue);
    return key;
}

std::string settings_key(std::uint32_t subject, std::string_view name_space, std::string_view name) {
    std::string key = begin_key(IndexTable::settings, 6 + name_space.size() + name.size());
    key.push_back(static_cast<char>(subject));
    append_text(key, name_space);
    append_text(key, name);
    return key;
}

std::string rule_key(std::uint32_t subject, std::string_view name_space, std::string_view name) {
    std::string key = begin_key(IndexTable::rule, 6 + name_space.size() + name.size());
    key.push_back(static_cast<char>(subject));
    append_text(key, name_space);
    append_text(key, name);
    return key;
}

std::string needed_bound(bool end) {
    return begin_meta_key(static_cast<char>(kMetaNeeded + (end ? 1 : 0)), 2);
}
std::string queue_cursor_bound(bool end) {
    return begin_meta_key(static_cast<char>(kMetaQueueCursor + (end ? 1 : 0)), 2);
}
std::string queue_counts_bound(bool end) {
    return begin_meta_key(static_cast<char>(kMetaQueueCounts + (end ? 1 : 0)), 2);
}
std::string settings_bound(bool end) {
    std::string key = begin_key(IndexTable::settings, 2);
    key.push_back(static_cast<char>(end ? kSubjectToken + 1 : kSubjectQueue));
    return key;
}

std::string rule_bound(bool end) {
    std::string key = begin_key(IndexTable::rule, 2);
    key.push_back(static_cast<char>(end ? kSubjectWatchdog + 1 : kSubjectSchedule));
    return key;
}

void encode_due_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    leave_out_due(rest);
    out.clear();
    encode_row(out, rest);
}

void encode_expire_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    rest.id = 0;
    rest.state.expires_ms = 0;
    out.clear();
    encode_row(out, rest);
}

void encode_order_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    rest.id = 0;
    rest.state.due_ms = rest.state.nominal_due_ms = minus(row.state.due_ms, row.state.nominal_due_ms);
    rest.state.name_space = kDefaultNamespace;
    rest.state.queue.clear();
    rest.state.order_key.clear();
    out.clear();
    encode_row(out, rest);
}

void encode_queue_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    leave_out_due(rest);
    rest.state.name_space = kDefaultNamespace;
    rest.state.queue.clear();
    out.clear();
    encode_row(out, rest);
}

void encode_dead_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    rest.id = 0;
    rest.ended_ms = 0;
    rest.state.name_space = kDefaultNamespace;
    rest.state.queue.clear();
    out.clear();
    encode_row(out, rest);
}

void encode_id_value(std::string& out, const MessageRow& row) {
    MessageRow rest = row;
    rest.id = 0;
    out.clear();
    if (is_outcome(row.state.state)) {
        rest.ended_ms = 0;
        out.push_back(kOutcome);
        append_instant(out, row.ended_ms);
    } else {
        out.push_back(kWholeRow);
    }
    encode_row(out, rest);
}

void encode_key_value(std::string& out, const KeyHolder& holder) {
    out.clear();
    append_instant(out, holder.ended_ms);
    append_number(out, holder.id);
    append_number(out, holder.request_hash);
    append_instant(out, holder.due_ms);
}

void encode_position(std::string& out, const IndexPosition& position) {
    out.clear();
    append_number(out, kIndexFormatVersion);
    append_number(out, position.segment);
    append_number(out, position.first_segment);
    append_instant(out, position.load_cursor_ms);
    append_number(out, position.totals.commit);
    append_number(out, position.totals.sequence);
    append_number(out, position.totals.digest);
    append_number(out, position.totals.live_count);
    append_number(out, position.totals.needed_bytes);
    append_number(out, position.totals.id_counter);
    append_instant(out, position.totals.server_time_ms);
    append_number(out, position.relocated_up_to);
    append_number(out, position.outcomes_relocated_up_to);
    append_number(out, static_cast<std::uint8_t>(position.is_proven ? 1 : 0));
}

void encode_needed(std::string& out, std::uint64_t count) {
    out.clear();
    append_number(out, count);
}

void encode_queue_cursor(std::string& out, DuePosition at) {
    out.clear();
    append_position(out, at);
}

void encode_queue_counts(std::string& out, const QueueCounts& counts) {
    out.clear();
    append_number(out, counts.pending);
    append_number(out, counts.held);
    append_number(out, counts.dead);
    if (counts.prepared != 0) append_number(out, counts.prepared);
}

void encode_settings(std::string& out, const SettingsRow& row) {
    out.clear();
    append_number(out, row.log_position);
    append_number(out, row.record_bytes);
    out.append(row.value);
}

Result<PlacedRow> decode_due_row(std::string_view key, std::string_view value) {
    ByteReader reader(key);
    const bool is_due = reader.is(static_cast<char>(IndexTable::due));
    const DuePosition at = reader.position();
    const auto kind = static_cast<char>(reader.number<std::uint8_t>());
    if (!is_due || (kind != kFire && kind != kExpire) || !reader.finished()) return damaged("key of the due table");
    Result<MessageRow> row = decode_row(value);
    if (!row) return damaged("row of the due table");
    if (kind == kFire) {
        fill_in_due(*row, at);
    } else {
        row->id = at.id;
        row->state.expires_ms = at.due_ms;
    }
    return PlacedRow{at, *std::move(row)};
}

Result<PlacedRow> decode_queue_row(std::string_view key, std::string_view value) {
    ByteReader reader(key);
    const bool is_queue = reader.is(static_cast<char>(IndexTable::queue));
    const std::string_view name_space = reader.text();
    const std::string_view queue = reader.text();
    const DuePosition at = reader.position();
    if (!is_queue || !reader.finished()) return damaged("key of the queue table");
    Result<MessageRow> row = decode_row(value);
    if (!row) return damaged("row of the queue table");
    fill_in_due(*row, at);
    row->state.name_space = name_space;
    row->state.queue = queue;
    return PlacedRow{at, *std::move(row)};
}

Result<PlacedRow> decode_order_row(std::string_view key, std::string_view value) {
    ByteReader reader(key);
    const bool is_order = reader.is(static_cast<char>(IndexTable::order));
    const std::string_view name_space = reader.text();
    const std::string_view queue = reader.text();
    const std::string_view order_key = reader.text();
    const DuePosition at = reader.position();
    if (!is_order || !reader.finished()) return damaged("key of the order table");
    Result<MessageRow> row = decode_row(value);
    if (!row) return damaged("row of the order table");
    row->id = at.id;
    row->state.due_ms = plus(row->state.due_ms, at.due_ms);
    row->state.nominal_due_ms = at.due_ms;
    row->state.name_space = name_space;
    row->state.queue = queue;
    row->state.order_key = order_key;
    return PlacedRow{at, *std::move(row)};
}

Result<PlacedRow> decode_dead_row(std::string_view key, std::string_view value) {
    ByteReader reader(key);
    const bool is_dead = reader.is(static_cast<char>(IndexTable::dead));
    const std::string_view name_space = reader.text();
    const std::string_view queue = reader.text();
    const DuePosition at = reader.position();
    if (!is_dead || !reader.finished()) return damaged("key of the dead letter table");
    Result<MessageRow> row = decode_row(value);
    if (!row || row->state.state != State::dead) return damaged("row of the dead letter table");
    row->id = at.id;
    row->ended_ms = at.due_ms;
    row->state.name_space = name_space;
    row->state.queue = queue;
    return PlacedRow{at, *std::move(row)};
}

Result<MessageRow> decode_id_row(std::string_view key, std::string_view value) {
    ByteReader of_key(key);
    const bool is_id = of_key.is(static_cast<char>(IndexTable::id));
    const auto id = of_key.number<MessageId>();
    if (!is_id || !of_key.finished()) return damaged("key of the id table");
    ByteReader of_value(value);
    const auto form = of_value.number<std::uint8_t>();
    const DueMs ended_ms = form == kOutcome ? of_value.instant() : 0;
    if (!of_value.whole() || form > kOutcome) return damaged("row of the id table");
    Result<MessageRow> row = decode_row(of_value.rest());
    if (!row || (form == kOutcome) != is_outcome(row->state.state)) return damaged("row of the id table");
    row->id = id;
    if (form == kOutcome) row->ended_ms = ended_ms;
    return row;
}

Result<KeyHolder> decode_key_value(std::string_view value) {
    ByteReader reader(value);
    KeyHolder holder;
    holder.ended_ms = reader.instant();
    holder.id = reader.number<MessageId>();
    holder.request_hash = reader.number<std::uint64_t>();
    holder.due_ms = reader.instant();
    if (!reader.finished()) return damaged("row of the key table");
    return holder;
}

Result<IndexPosition> decode_position(std::string_view value) {
    ByteReader reader(value);
    const auto version = reader.number<std::uint32_t>();
    if (reader.whole() && version > kIndexFormatVersion) {
        return Error{"newer_format", "the index has format " + std::to_string(version) +
                                         ", and this version supports up to " + std::to_string(kIndexFormatVersion) +
                                         ". Start the version that wrote it"};
    }
    if (reader.whole() && version < kIndexFormatVersion) {
        return Error{"damaged_index",
                     "the index has the older format " + std::to_string(version) +
                         ". No data is lost: remove the index, and the next start rebuilds it from the log"};
    }
    IndexPosition position;
    position.segment = reader.number<std::uint64_t>();
    position.first_segment = reader.number<std::uint64_t>();
    position.load_cursor_ms = reader.instant();
    position.totals.commit = reader.number<std::uint64_t>();
    position.totals.sequence = reader.number<Sequence>();
    position.totals.digest = reader.number<std::uint64_t>();
    position.totals.live_count = reader.number<std::uint64_t>();
    position.totals.needed_bytes = reader.number<std::uint64_t>();
    position.totals.id_counter = reader.number<std::uint64_t>();
    position.totals.server_time_ms = reader.instant();
    position.relocated_up_to = reader.number<Sequence>();
    position.outcomes_relocated_up_to = reader.number<Sequence>();
    const auto proven = reader.number<std::uint8_t>();
    if (!reader.finished() || proven > 1) return damaged("position");
    position.is_proven = proven == 1;
    return position;
}

Result<std::uint64_t> decode_needed(std::string_view value) {
    ByteReader reader(value);
    const auto count = reader.number<std::uint64_t>();
    if (!reader.finished()) return damaged("count of needed records");
    return count;
}

Result<Sequence> decode_needed_key(std::string_view key) {
    ByteReader reader(key);
    const bool is_meta = reader.is(static_cast<char>(IndexTable::meta));
    const bool is_needed = reader.is(kMetaNeeded);
    const auto sequence = reader.number<Sequence>();
    if (!is_meta || !is_needed || !reader.finished()) return damaged("key of a count");
    return sequence;
}

Result<DuePosition> decode_queue_cursor(std::string_view value) {
    ByteReader reader(value);
    const DuePosition at = reader.position();
    if (!reader.finished()) return damaged("cursor of a queue");
    return at;
}

Result<QueueCounts> decode_queue_counts(std::string_view value) {
    ByteReader reader(value);
    QueueCounts counts;
    counts.pending = reader.number<std::uint64_t>();
    counts.held = reader.number<std::uint64_t>();
    counts.dead = reader.number<std::uint64_t>();
    if (reader.whole() && !reader.rest().empty()) counts.prepared = reader.number<std::uint64_t>();
    if (!reader.finished()) return damaged("count of a queue's messages");
    return counts;
}

Result<SettingsRow> decode_settings(std::string_view value) {
    ByteReader reader(value);
    SettingsRow row;
    row.log_position = reader.number<Sequence>();
    row.record_bytes = reader.number<std::uint32_t>();
    row.value = reader.rest();
    if (!reader.whole() || row.value.empty()) return damaged("settings");
    return row;
}

namespace {

// Of a key that consists of a table, a kind, and the names of a queue.
Result<QueueOfKey> decode_names(std::string_view key, IndexTable table, char kind, std::string_view what) {
    ByteReader reader(key);
    const bool is_table = reader.is(static_cast<char>(table));
    const bool is_kind = reader.is(kind);
    QueueOfKey names;
    names.name_space = reader.text();
    names.queue = reader.text();
    if (!is_table || !is_kind || !reader.finished()) return damaged("key of " + std::string(what));
    return names;
}

}  // namespace

Result<QueueOfKey> decode_queue_cursor_key(std::string_view key) {
    return decode_names(key, IndexTable::meta, kMetaQueueCursor, "a cursor");
}

Result<QueueOfKey> decode_queue_counts_key(std::string_view key) {
    return decode_names(key, IndexTable::meta, kMetaQueueCounts, "a queue's counts");
}

Result<RuleOfKey> decode_settings_key(std::string_view key) {
    const std::uint32_t found = key.size() > 1 ? static_cast<unsigned char>(key[1]) : 0;
    const std::uint32_t subject = is_subject_of_conf(found) ? found : kSubjectQueue;
    const Result<QueueOfKey> names = decode_names(key, IndexTable::settings, static_cast<char>(subject), "settings");
    if (!names) return names.error();
    return RuleOfKey{subject, names->name_space, names->queue};
}

Result<RuleOfKey> decode_rule_key(std::string_view key) {
    const bool of_watchdog = key.size() > 1 && key[1] == static_cast<char>(kSubjectWatchdog);
    const std::uint32_t subject = of_watchdog ? kSubjectWatchdog : kSubjectSchedule;
    const Result<QueueOfKey> names =
        decode_names(key, IndexTable::rule, static_cast<char>(subject), of_watchdog ? "a watchdog" : "a schedule");
    if (!names) return names.error();
    return RuleOfKey{subject, names->name_space, names->queue};
}

DueMs ended_ms_of_row(std::string_view key, std::string_view value) {
    if (key.empty()) return 0;
    ByteReader reader(value);
    if (key.front() == static_cast<char>(IndexTable::key)) return reader.instant();
    if (key.front() == static_cast<char>(IndexTable::id) && reader.is(kOutcome)) return reader.instant();
    return 0;
}

// ---- history

std::string history_bound(Era era) {
    std::string key = begin_key(IndexTable::history, 5);
    append_number(key, era);
    return key;
}

std::string history_key(Era era, std::string_view name_space, std::string_view queue, DueMs ended_ms, MessageId id) {
    std::string key = begin_key(IndexTable::history, 25 + name_space.size() + queue.size());
    append_number(key, era);
    append_text(key, name_space);
    append_text(key, queue);
    append_position(key, {ended_ms, id});
    return key;
}

std::string history_ledger_key() {
    return begin_meta_key(kMetaHistory, 2);
}

std::string outcome_ledger_key() {
    return begin_meta_key(kMetaOutcomes, 2);
}

std::uint64_t history_row_bytes(std::string_view name_space, std::string_view queue) {
    constexpr std::uint64_t kValueBytes = 15;
    return 25 + name_space.size() + queue.size() + kValueBytes;
}

void encode_history_value(std::string& out, const EndedRow& row) {
    out.clear();
    append_number(out, static_cast<std::uint8_t>(row.outcome));
    append_number(out, static_cast<std::uint8_t>(row.cause));
    append_number(out, static_cast<std::uint8_t>(row.maybe_delivered ? 1 : 0));
    append_number(out, row.attempts);
    append_instant(out, row.lateness_ms);
}

Result<EndedRow> decode_history_row(std::string_view key, std::string_view value) {
    ByteReader of_key(key);
    const bool is_history = of_key.is(static_cast<char>(IndexTable::history));
    of_key.number<Era>();
    of_key.text();
    of_key.text();
    const DuePosition at = of_key.position();
    ByteReader of_value(value);
    EndedRow row;
    row.id = at.id;
    row.ended_ms = at.due_ms;
    const auto outcome = of_value.number<std::uint8_t>();
    row.outcome = static_cast<State>(outcome);
    row.cause = static_cast<Cause>(of_value.number<std::uint8_t>());
    const auto flags = of_value.number<std::uint8_t>();
    row.maybe_delivered = flags == 1;
    row.attempts = of_value.number<std::uint32_t>();
    row.lateness_ms = of_value.instant();
    const bool legal = outcome >= 1 && outcome <= kStateCount && is_ended(row.outcome) && flags <= 1;
    if (!is_history || !of_key.finished() || !of_value.finished() || !legal) return damaged("row of the history");
    return row;
}

void EraLedger::encode(std::string& out) const {
    out.clear();
    append_number(out, next_);
    for (const Entry& entry : entries_) {
        append_number(out, entry.era);
        append_number(out, entry.bytes);
        append_instant(out, entry.from_ms);
        append_instant(out, entry.until_ms);
    }
}

Result<EraLedger> EraLedger::decode(std::string_view value) {
    ByteReader reader(value);
    EraLedger ledger;
    ledger.next_ = reader.number<Era>();
    while (reader.whole() && !reader.rest().empty()) {
        Entry entry;
        entry.era = reader.number<Era>();
        entry.bytes = reader.number<std::uint64_t>();
        entry.from_ms = reader.instant();
        entry.until_ms = reader.instant();
        ledger.entries_.push_back(entry);
    }
    const bool in_order = std::is_sorted(ledger.entries_.begin(), ledger.entries_.end(),
                                         [](const Entry& left, const Entry& right) { return left.era < right.era; });
    if (!reader.finished() || !in_order) return damaged("ledger");
    return ledger;
}

}  // namespace duewheel
