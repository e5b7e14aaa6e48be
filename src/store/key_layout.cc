// The keys of the index.
#include "store/key_layout.h"

#include "message/records/subject.h"
#include "message/schedule_state.h"
#include "message/watchdog_state.h"
#include "resource/queue_settings.h"
#include "store/index_bytes.h"

namespace duewheel {
namespace {

constexpr char kMetaOutcomes = 'e';
constexpr char kMetaHistory = 'h';
constexpr char kMetaNeeded = 'n';
constexpr char kMetaPosition = 'p';
constexpr char kMetaQueueCursor = 'q';
constexpr char kMetaQueueCounts = 'u';

// A table, a kind, and the smallest key of that kind or the end of all of them.
std::string kind_bound(IndexTable table, std::uint32_t kind, bool end) {
    return make_key(table, static_cast<char>(kind + (end ? 1 : 0)));
}

// Decodes a key that consists of a table, a kind, and the names of a queue.
Result<QueueOfKey> decode_names(std::string_view key, IndexTable table, char kind, std::string_view what) {
    char found = 0;
    QueueOfKey names;
    if (!read_key(key, table, found, names.name_space, names.queue) || found != kind) {
        return damaged_row("key of " + std::string(what));
    }
    return names;
}

}  // namespace

// ---- messages

std::string due_bound(DuePosition at) {
    return make_key(IndexTable::due, at);
}
std::string due_key(DuePosition at) {
    return make_key(IndexTable::due, at, kDueKeyFires);
}
std::string expire_key(DuePosition at) {
    return make_key(IndexTable::due, at, kDueKeyExpires);
}
bool is_expire_key(std::string_view key) {
    return key.back() == kDueKeyExpires;
}
std::string queue_key(std::string_view name_space, std::string_view queue, DuePosition at) {
    return make_key(IndexTable::queue, name_space, queue, at);
}
std::string dead_key(std::string_view name_space, std::string_view queue, DuePosition at) {
    return make_key(IndexTable::dead, name_space, queue, at);
}
std::string id_key(MessageId id) {
    return make_key(IndexTable::id, id);
}
std::string order_row_key(std::string_view name_space, std::string_view queue, std::string_view order_key,
                          DuePosition at) {
    return make_key(IndexTable::order, name_space, queue, order_key, at);
}
std::string group_row_key(std::string_view name_space, std::string_view queue, std::string_view group, DuePosition at) {
    return make_key(IndexTable::group, name_space, queue, group, at);
}
std::string group_end(std::string_view name_space, std::string_view queue, std::string_view group) {
    return make_key(IndexTable::group, name_space, queue, group).append(1 + sizeof(DueMs) + sizeof(MessageId), '\xff');
}
std::string group_bound(std::string_view name_space, std::string_view queue, bool end) {
    std::string key = make_key(IndexTable::group, name_space, queue);
    return end ? key += "\xff\xff" : key;  // a group's name is not as long as that
}
std::string order_bound(std::string_view name_space, std::string_view queue, bool end) {
    std::string key = make_key(IndexTable::order, name_space, queue);
    return end ? key += "\xff\xff" : key;  // an order key is not as long as that
}
std::string key_key(std::string_view name_space, std::string_view queue, std::string_view key) {
    return make_key(IndexTable::key, name_space, queue, key);
}

std::string due_counts_key(std::string_view name_space, std::string_view queue, DueMs minute_ms) {
    return make_key(IndexTable::forecast, name_space, queue, minute_ms);
}
Result<DueMs> decode_due_counts_key(std::string_view key) {
    std::string_view name_space, queue;
    DueMs minute_ms = 0;
    if (!read_key(key, IndexTable::forecast, name_space, queue, minute_ms)) {
        return damaged_row("key of what becomes due in a minute");
    }
    return minute_ms;
}

std::string lease_key(DuePosition at) {
    return make_key(IndexTable::lease, at);
}
std::string lease_bound(bool end) {
    return std::string(1, static_cast<char>(static_cast<char>(IndexTable::lease) + (end ? 1 : 0)));
}
Result<DuePosition> decode_lease_key(std::string_view key) {
    DuePosition at;
    if (!read_key(key, IndexTable::lease, at)) return damaged_row("key of the lease table");
    return at;
}

// ---- queues, settings and rules

std::string queue_cursor_key(std::string_view name_space, std::string_view queue) {
    return make_key(IndexTable::meta, kMetaQueueCursor, name_space, queue);
}
std::string queue_cursor_bound(bool end) {
    return kind_bound(IndexTable::meta, kMetaQueueCursor, end);
}
Result<QueueOfKey> decode_queue_cursor_key(std::string_view key) {
    return decode_names(key, IndexTable::meta, kMetaQueueCursor, "a cursor");
}

std::string queue_counts_key(std::string_view name_space, std::string_view queue) {
    return make_key(IndexTable::meta, kMetaQueueCounts, name_space, queue);
}
std::string queue_counts_bound(bool end) {
    return kind_bound(IndexTable::meta, kMetaQueueCounts, end);
}
Result<QueueOfKey> decode_queue_counts_key(std::string_view key) {
    return decode_names(key, IndexTable::meta, kMetaQueueCounts, "a queue's counts");
}

std::string settings_key(Subject subject, std::string_view name_space, std::string_view name) {
    return make_key(is_rule(subject) ? IndexTable::rule : IndexTable::settings, static_cast<char>(number_of(subject)),
                    name_space, name);
}
std::string conf_bound(bool end) {
    return kind_bound(IndexTable::settings, number_of(end ? kConfSubjects.back() : kConfSubjects.front()), end);
}
std::string rule_bound(bool end) {
    return kind_bound(IndexTable::rule, number_of(end ? kRuleSubjects.back() : kRuleSubjects.front()), end);
}
Result<SubjectOfKey> decode_settings_key(std::string_view key) {
    const bool of_rule = !key.empty() && key[0] == static_cast<char>(IndexTable::rule);
    const std::uint32_t number = key.size() > 1 ? static_cast<unsigned char>(key[1]) : 0;
    const Subject subject = subject_of(of_rule, number).value_or(of_rule ? Subject::schedule : Subject::queue);
    const Result<QueueOfKey> names = decode_names(key, of_rule ? IndexTable::rule : IndexTable::settings,
                                                  static_cast<char>(number_of(subject)), subject_name(subject));
    if (!names) return names.error();
    return SubjectOfKey{subject, names->name_space, names->queue};
}

// ---- the index itself

std::string position_key() {
    return make_key(IndexTable::meta, kMetaPosition);
}
std::string needed_key(Sequence first_sequence) {
    return make_key(IndexTable::meta, kMetaNeeded, first_sequence);
}
std::string needed_bound(bool end) {
    return kind_bound(IndexTable::meta, kMetaNeeded, end);
}
Result<Sequence> decode_needed_key(std::string_view key) {
    char kind = 0;
    Sequence sequence = 0;
    if (!read_key(key, IndexTable::meta, kind, sequence) || kind != kMetaNeeded) return damaged_row("key of a count");
    return sequence;
}
std::string history_ledger_key() {
    return make_key(IndexTable::meta, kMetaHistory);
}
std::string outcome_ledger_key() {
    return make_key(IndexTable::meta, kMetaOutcomes);
}

}  // namespace duewheel
