#include "store/history.h"

#include <algorithm>
#include <cassert>

#include "store/index_bytes.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kErasAtBound = 64;

}  // namespace

EndedRow ended_row(const MessageRecord& end) {
    assert(end.kind == RecordKind::end);
    EndedRow row;
    row.id = end.id;
    row.outcome = end.state.state;
    row.cause = end.cause;
    row.maybe_delivered = end.state.maybe_delivered;
    row.attempts = end.state.attempts;
    row.ended_ms = end.time_ms;
    row.lateness_ms = end.lateness_ms;
    row.wait_ms = end.wait_ms;
    return row;
}

Era EraLedger::add(std::uint64_t bytes, DueMs first_ms, DueMs last_ms, const HistoryBounds& bounds) {
    const bool is_full = entries_.empty() || entries_.back().bytes >= bounds.bytes_max / kErasAtBound ||
                         first_ms - entries_.back().from_ms >= bounds.keep_ms / static_cast<DueMs>(kErasAtBound);
    const bool may_begin = entries_.empty() || first_ms > entries_.back().until_ms;
    if (is_full && may_begin) entries_.push_back({next_++, 0, first_ms, last_ms});
    Entry& newest = entries_.back();
    newest.bytes += bytes;
    newest.from_ms = std::min(newest.from_ms, first_ms);
    newest.until_ms = std::max(newest.until_ms, last_ms);
    return newest.era;
}

void EraLedger::shrink(DueMs now_ms, const HistoryBounds& bounds) {
    std::uint64_t left = bytes();
    while (!entries_.empty()) {
        const Entry& oldest = entries_.front();
        const bool too_much = left > bounds.bytes_max && entries_.size() > 1;
        const bool too_old = oldest.until_ms < now_ms - bounds.keep_ms;
        if (!too_much && !too_old) return;
        left -= oldest.bytes;
        entries_.erase(entries_.begin());
    }
}

std::uint64_t EraLedger::bytes() const {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) sum += entry.bytes;
    return sum;
}

// ---- keys and values

std::string history_bound(Era era) {
    return make_key(IndexTable::history, era);
}

std::string history_key(Era era, std::string_view name_space, std::string_view queue, DueMs ended_ms, MessageId id) {
    return make_key(IndexTable::history, era, name_space, queue, DuePosition{ended_ms, id});
}

std::uint64_t history_row_bytes(std::string_view name_space, std::string_view queue) {
    constexpr std::uint64_t kValueBytes = 23;
    return 25 + name_space.size() + queue.size() + kValueBytes;
}

void encode_history_value(std::string& out, const EndedRow& row) {
    out.clear();
    append_fields(out, static_cast<std::uint8_t>(row.outcome), static_cast<std::uint8_t>(row.cause),
                  row.maybe_delivered, row.attempts, row.lateness_ms, row.wait_ms);
}

Result<EndedRow> decode_history_row(std::string_view key, std::string_view value) {
    Era era = 0;
    std::string_view name_space, queue;
    DuePosition at;
    std::uint8_t outcome = 0, cause = 0;
    EndedRow row;
    FieldsOfBytes from(value);
    from.read(outcome);
    from.read(cause);
    from.read(row.maybe_delivered);
    from.read(row.attempts);
    from.read(row.lateness_ms);
    if (!from.rest().empty()) from.read(row.wait_ms);  // rows of earlier versions have none
    const bool is_legal = read_key(key, IndexTable::history, era, name_space, queue, at) && from.is_finished() &&
                          outcome >= 1 && outcome <= kStateCount && is_ended(static_cast<State>(outcome));
    if (!is_legal) return damaged_row("row of the history");
    row.id = at.id;
    row.ended_ms = at.due_ms;
    row.outcome = static_cast<State>(outcome);
    row.cause = static_cast<Cause>(cause);
    return row;
}

void EraLedger::encode(std::string& out) const {
    out.clear();
    append_fields(out, next_);
    for (const Entry& entry : entries_) append_fields(out, entry.era, entry.bytes, entry.from_ms, entry.until_ms);
}

Result<EraLedger> EraLedger::decode(std::string_view value) {
    FieldsOfBytes from(value);
    EraLedger ledger;
    from.read(ledger.next_);
    while (from.is_whole() && !from.rest().empty()) {
        Entry& entry = ledger.entries_.emplace_back();
        from.read(entry.era);
        from.read(entry.bytes);
        from.read(entry.from_ms);
        from.read(entry.until_ms);
    }
    const bool in_order = std::is_sorted(ledger.entries_.begin(), ledger.entries_.end(),
                                         [](const Entry& left, const Entry& right) { return left.era < right.era; });
    if (!from.is_finished() || !in_order) return damaged_row("ledger");
    return ledger;
}

}  // namespace duewheel
