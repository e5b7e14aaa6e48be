#include "store/maintenance/cleaner.h"

#include <cassert>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "message/records/outcome_rows.h"

namespace duewheel {
namespace {

// The size that counts for a small record of unknown size.
constexpr std::size_t kSmallBytes = 128;

}  // namespace

Result<Cleanings> Cleaner::next(std::size_t most_bytes) {
    if (!read_) {
        if (Status read_all = read(); !read_all) return std::move(read_all).error();
    }
    Cleanings found;
    std::vector<Sequence> outcomes;
    std::size_t bytes = 0;
    const auto is_too_much = [&](std::size_t size) { return bytes > 0 && bytes + size > most_bytes; };
    for (std::size_t lookups = 0; next_record_ < records_.size() && lookups < kLookupsPerCall; ++next_record_) {
        const Seen& record = records_[next_record_];
        if (record.is_outcome) {
            if (is_too_much(record.body_bytes)) break;
            bytes += record.body_bytes;
            outcomes.push_back(record.log_position);
            continue;
        }
        if (needed_left_ == 0) continue;
        ++lookups;
        RelocationCandidate candidate;
        candidate.kind = record.kind;
        const Result<bool> needed = is_needed(record, candidate);
        if (!needed) return needed.error();
        if (!*needed) continue;
        const std::size_t size = candidate.is_settings() ? kSmallBytes : record.body_bytes;
        if (is_too_much(size)) break;
        bytes += size;
        --needed_left_;
        found.candidates.push_back(std::move(candidate));
    }
    if (Status filled = read_bodies(found.candidates); !filled) return std::move(filled).error();
    if (Status filled = read_outcomes(outcomes, found.outcomes); !filled) return std::move(filled).error();
    return found;
}

Status Cleaner::read() {
    const Result<std::map<Sequence, std::uint64_t>> counts = index_.needed_counts();
    if (!counts) return counts.error();
    const auto count = counts->find(segment_->first_sequence());
    needed_left_ = count == counts->end() ? 0 : count->second;
    const Status scanned = segment_->scan([this](const CommitInLog& commit) -> Status {
        for (const FramedRecord& framed : commit.records) {
            if (framed.kind == RecordKind::change || framed.kind == RecordKind::attempt) continue;
            const Result<Record> record = decode_record(framed.kind, framed.body);
            if (!record) return record.error();
            see(framed, *record);
        }
        return {};
    });
    read_ = scanned.ok();
    return scanned;
}

void Cleaner::see(const FramedRecord& framed, const Record& record) {
    Seen seen{framed.sequence, 0, static_cast<std::uint32_t>(framed.body.size()), framed.kind};
    std::visit(Overloaded{[&](const MessageRecord& of) { see(seen, of); }, [&](const ConfRecord& of) { see(seen, of); },
                          [&](const RuleRecord& of) {
                              if (of.is_whole()) see(seen, of);
                          },
                          [&](const OutcomesRecord&) {
                              seen.is_outcome = true;
                              if (seen.log_position >= outcomes_from_) records_.push_back(seen);
                          },
                          [](const auto&) {}},
               record);
}

void Cleaner::see(Seen seen, const MessageRecord& record) {
    seen.id = record.id;
    seen.is_outcome = is_ended(record.state.state) && record.state.state != State::dead;
    if (seen.is_outcome ? seen.log_position >= outcomes_from_ : seen.kind != RecordKind::end) records_.push_back(seen);
}

void Cleaner::see(Seen seen, const SubjectRecord& record) {
    settings_.emplace(seen.log_position, Owner{{record.name_space, std::string(record.name)}, record.subject});
    records_.push_back(seen);
}

// Expired outcomes are omitted.
Status Cleaner::read_outcomes(const std::vector<Sequence>& log_positions, OutcomesToRelocate& outcomes) const {
    if (log_positions.empty()) return {};
    std::vector<OwnedRecord> records;
    if (Status read_all = segment_->read_records(log_positions, records); !read_all) return read_all;
    const Retention& retention = index_.retention();
    const DueMs now_ms = retention.now_ms();
    const auto take = [&](const MessageRecord& ended) {
        if (retention.has_expired(ended_at(ended), now_ms)) return Status();
        append_outcome(outcomes.rows, ended);
        ++outcomes.count;
        return Status();
    };
    for (const OwnedRecord& owned : records) {
        const Result<Record> record = decode_record(owned.kind, owned.body);
        if (!record) return record.error();
        const auto* several = std::get_if<OutcomesRecord>(&*record);
        const Status taken =
            several != nullptr ? for_each_outcome(several->rows, take) : take(std::get<MessageRecord>(*record));
        if (!taken) return taken;
    }
    outcomes.segment = segment_->header().number;
    outcomes.up_to = finished() ? segment_->end().totals.sequence + 1 : records_[next_record_].log_position;
    return {};
}

Result<bool> Cleaner::are_newest_settings(const Seen& record, RelocationCandidate& candidate) const {
    const auto& [name, subject] = settings_.at(record.log_position);
    const Result<std::optional<SettingsRow>> found = index_.settings(subject, name.name_space, name.queue);
    if (!found) return found.error();
    if (!*found || (*found)->log_position != record.log_position) return false;
    candidate.subject = subject;
    candidate.row.log_position = record.log_position;
    candidate.row.state.name_space = name.name_space;
    candidate.row.state.queue = name.queue;
    return true;
}

Result<bool> Cleaner::is_needed(const Seen& record, RelocationCandidate& candidate) const {
    if (record.kind == RecordKind::conf || record.kind == RecordKind::rule) {
        return are_newest_settings(record, candidate);
    }
    Result<std::optional<MessageRow>> found = index_.find(record.id, index_.retention().now_ms());
    if (!found) return std::move(found).error();
    if (!*found || (*found)->log_position != record.log_position) return false;
    candidate.row = **std::move(found);
    return true;
}

Status Cleaner::read_bodies(std::vector<RelocationCandidate>& candidates) const {
    std::vector<Sequence> log_positions;
    for (const RelocationCandidate& candidate : candidates) {
        if (!candidate.is_settings()) log_positions.push_back(candidate.row.log_position);
    }
    std::vector<OwnedRecord> records;
    if (Status read_all = segment_->read_records(log_positions, records); !read_all) return read_all;
    assert(records.size() == log_positions.size());
    std::size_t next = 0;
    for (RelocationCandidate& candidate : candidates) {
        if (!candidate.is_settings()) candidate.body = std::move(records[next++].body);
    }
    return {};
}

}  // namespace duewheel
