#include "store/cleaner.h"

#include <cassert>
#include <optional>
#include <utility>

#include "base/planted_bugs.h"

namespace duewheel {
namespace {

// What an outcome weighs in a chunk: about the size of its carry record.
constexpr std::size_t kOutcomeBytes = 128;

}  // namespace

Result<std::vector<CarryCandidate>> Cleaner::next() {
    if (!read_) {
        if (Status read_all = read(); !read_all) return std::move(read_all).error();
    }
    std::vector<CarryCandidate> chunk;
    std::size_t bytes = 0;
    for (std::size_t looks = 0; looked_at_ < records_.size() && looks < kLookUpsPerCall; ++looks) {
        const Seen& record = records_[looked_at_];
        CarryCandidate candidate;
        candidate.kind = record.kind;
        const Result<bool> needed = is_needed(record, candidate.row);
        if (!needed) return needed.error();
        if (*needed) {
            const bool is_small = candidate.is_outcome() || candidate.is_settings();
            const std::size_t size = is_small ? kOutcomeBytes : record.body_bytes;
            if (!chunk.empty() && bytes + size > kChunkBytes) break;
            bytes += size;
            chunk.push_back(std::move(candidate));
        }
        ++looked_at_;
    }
    if (planted(PlantedBug::segment_dropped_too_soon) && !chunk.empty()) chunk.pop_back();
    if (Status filled = read_bodies(chunk); !filled) return std::move(filled).error();
    return chunk;
}

Status Cleaner::read() {
    const Status scanned = segment_->scan([this](const CommitInLog& commit) -> Status {
        for (const FramedRecord& framed : commit.records) {
            const bool may_be_needed = framed.kind == RecordKind::put || framed.kind == RecordKind::spawn ||
                                       framed.kind == RecordKind::carry || framed.kind == RecordKind::end ||
                                       framed.kind == RecordKind::conf || framed.kind == RecordKind::rule;
            if (!may_be_needed) continue;
            const Result<Record> record = decode_record(framed.kind, framed.body);
            if (!record) return record.error();
            if (framed.kind == RecordKind::rule && !is_whole_rule(*record)) continue;
            if (framed.kind == RecordKind::conf || framed.kind == RecordKind::rule) {
                settings_.emplace(framed.sequence, QueueName{record->state.name_space, std::string(record->name)});
            }
            records_.push_back(
                {framed.sequence, record->id, static_cast<std::uint32_t>(framed.body.size()), framed.kind});
        }
        return {};
    });
    read_ = scanned.ok();
    return scanned;
}

Result<bool> Cleaner::are_newest_settings(const Seen& record, MessageRow& row) const {
    const QueueName& name = settings_.at(record.place);
    const Result<std::optional<SettingsRow>> found = record.kind == RecordKind::rule
                                                         ? index_.schedule(name.name_space, name.queue)
                                                         : index_.settings(name.name_space, name.queue);
    if (!found) return found.error();
    if (!*found || (*found)->place != record.place) return false;
    row.place = record.place;
    row.state.name_space = name.name_space;
    row.state.queue = name.queue;
    return true;
}

Result<bool> Cleaner::is_needed(const Seen& record, MessageRow& row) const {
    if (record.kind == RecordKind::conf || record.kind == RecordKind::rule) return are_newest_settings(record, row);
    Result<std::optional<MessageRow>> found = index_.find(record.id, index_.retention().now_ms());
    if (!found) return std::move(found).error();
    if (!*found || (*found)->place != record.place) return false;
    row = **std::move(found);
    return true;
}

Status Cleaner::read_bodies(std::vector<CarryCandidate>& candidates) const {
    std::vector<Sequence> places;
    for (const CarryCandidate& candidate : candidates) {
        if (!candidate.is_outcome() && !candidate.is_settings()) places.push_back(candidate.row.place);
    }
    std::vector<OwnedRecord> records;
    if (Status read_all = segment_->read_records(places, records); !read_all) return read_all;
    assert(records.size() == places.size());
    std::size_t next = 0;
    for (CarryCandidate& candidate : candidates) {
        if (!candidate.is_outcome() && !candidate.is_settings()) candidate.body = std::move(records[next++].body);
    }
    return {};
}

}  // namespace duewheel
