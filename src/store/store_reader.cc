#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "base/overloaded.h"
#include "journal/segment_catalog.h"
#include "store/index.h"
#include "store/store.h"

namespace duewheel {
namespace {

RecordBytes bytes_of(OwnedRecord record) {
    return {record.sequence, std::move(record.body), static_cast<std::uint8_t>(record.kind)};
}

// Omits records whose segment was deleted since the request: each was relocated, and the caller finds its new position.
Result<std::vector<RecordBytes>> read_those_there(const SegmentCatalog& segments,
                                                  const std::vector<Sequence>& log_positions) {
    std::vector<RecordBytes> records;
    for (const Sequence log_position : log_positions) {
        Result<std::shared_ptr<const SegmentFile>> segment = segments.find(log_position);
        if (!segment && segment.error().code == "not_found"_code) continue;
        if (!segment) return std::move(segment).error();
        Result<OwnedRecord> record = (*segment)->read_record(log_position);
        if (!record) return std::move(record).error();
        records.push_back(bytes_of(*std::move(record)));
    }
    return records;
}

Result<std::vector<RecordBytes>> read_records(const SegmentCatalog& segments,
                                              const std::vector<Sequence>& log_positions) {
    Result<std::vector<OwnedRecord>> owned = segments.read_records(log_positions);
    if (!owned && owned.error().code == "not_found"_code) return read_those_there(segments, log_positions);
    if (!owned) return std::move(owned).error();
    std::vector<RecordBytes> records;
    records.reserve(owned->size());
    for (OwnedRecord& record : *owned) records.push_back(bytes_of(std::move(record)));
    return records;
}

Result<std::vector<std::optional<KeyFacts>>> find_keys(const Index& index, const FindKeys& wanted, DueMs now_ms) {
    std::vector<std::optional<KeyFacts>> all;
    all.reserve(wanted.keys.size());
    for (const FindKeys::Key& key : wanted.keys) {
        const Result<std::optional<KeyHolder>> holder = index.find_key(key.name_space, key.queue, key.key, now_ms);
        if (!holder) return holder.error();
        std::optional<KeyFacts>& facts = all.emplace_back();
        if (!*holder) continue;
        const Result<std::optional<MessageRow>> row = index.find((*holder)->id, now_ms);
        if (!row) return row.error();
        facts = KeyFacts{**holder, *row ? (*row)->state.state : State::done, *row && (*row)->state.is_recurring(), {}};
        if (*row && !is_ended((*row)->state.state)) facts->row.set(**row);
    }
    return all;
}

// Moves the value of a result into the answer, or returns its error.
template <class T>
Status keep(Answer& answer, Result<T> result) {
    if (!result) return std::move(result).error();
    answer.what = *std::move(result);
    return {};
}

}  // namespace

const RecordBytes* find_record(const std::vector<RecordBytes>& records, Sequence log_position) {
    const auto found =
        std::lower_bound(records.begin(), records.end(), log_position,
                         [](const RecordBytes& record, Sequence at) { return record.log_position < at; });
    return found == records.end() || found->log_position != log_position ? nullptr : &*found;
}

Result<Answer> StoreReader::answer(const Lookup& lookup) const {
    Answer answer;
    answer.ticket = lookup.ticket;
    answer.generation = generation_.load(std::memory_order_acquire);  // before any read
    const DueMs now_ms = index_.retention().now_ms();
    const Status answered = std::visit(
        Overloaded{
            [&](const FindMessage& find) { return keep(answer, index_.find(find.id, now_ms)); },
            [&](const FindKeys& find) { return keep(answer, find_keys(index_, find, now_ms)); },
            [&](const ScanDue& scan) { return keep(answer, index_.scan_due(scan.from, scan.until_ms, scan.limit)); },
            [&](const ScanQueue& scan) {
                return keep(answer,
                            index_.scan_queue(scan.name_space, scan.queue, scan.from, scan.until_ms, scan.limit));
            },
            [&](const ListQueue& list) { return keep(answer, index_.list_queue(list)); },
            [&](const ListHistory& list) { return keep(answer, index_.list_history(list, now_ms)); },
            [&](const ListDue& list) { return keep(answer, index_.list_due(list)); },
            [&](const CountDue& count) { return keep(answer, index_.count_due(count)); },
            [&](const ScanOrder& scan) {
                return keep(answer,
                            index_.scan_order(scan.name_space, scan.queue, scan.order_key, scan.from, scan.limit));
            },
            [&](const ScanGroup& scan) { return keep(answer, index_.scan_group(scan)); },
            [&](const ScanGroups& scan) { return keep(answer, index_.scan_groups(scan)); },
            [&](const ScanDead& scan) {
                return keep(answer,
                            index_.scan_dead(scan.name_space, scan.queue, scan.from, scan.until_ms, scan.limit));
            },
            [&](const ReadRecords& read) { return keep(answer, read_records(segments_, read.log_positions)); },
        },
        lookup.what);
    if (!answered) return answered.error();
    return answer;
}

}  // namespace duewheel
