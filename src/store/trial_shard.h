// For the tests of this folder: writes a log as an engine would, record by record, with what stood before and where,
// and keeps in plain maps what it adds up to. The segments are files in memory that never fail.
//
// It is the obvious model: each message one row, changed in place. Nothing of it is shared with what is tested but the
// records' own types.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "journal/segment.h"
#include "journal/segment_catalog.h"
#include "message/totals.h"
#include "store/maintenance/cleaner.h"
#include "store/recent_tier.h"
#include "store/sorted_rows.h"
#include "store/store.h"

namespace duewheel {

class TrialFile final : public File {
  public:
    explicit TrialFile(std::string bytes) : bytes_(std::move(bytes)) {}

    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes into) const override {
        const std::string_view rest = std::string_view(bytes_).substr(std::min<std::size_t>(offset, bytes_.size()));
        const std::size_t count = std::min(into.size(), rest.size());
        std::memcpy(into.data(), rest.data(), count);
        return count;
    }
    Status write_at(std::uint64_t offset, ConstBytes bytes) override {
        EXPECT_LE(offset + bytes.size(), bytes_.size()) << "the segment is too small for the test";
        bytes_.resize(std::max<std::size_t>(bytes_.size(), offset + bytes.size()));
        std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
        return {};
    }
    Status sync_data() override { return {}; }
    Result<std::uint64_t> size() const override { return std::uint64_t{bytes_.size()}; }
    Status truncate(std::uint64_t size) override {
        bytes_.resize(size);
        return {};
    }

  private:
    std::string bytes_;
};

// A commit's records again, for a recent tier.
struct TrialRecord {
    Record record;  // its content is empty
    Sequence sequence = 0;
    std::uint32_t frame_bytes = 0;
    SegmentNumber segment = 0;
};

class TrialShard {
  public:
    using KeyName = std::tuple<std::string, std::string, std::string>;
    static constexpr DueMs kStart = 1'700'000'000'000;

    explicit TrialShard(std::uint64_t segment_bytes = 64 << 10) : segment_bytes_(segment_bytes) {
        totals_.server_time_ms = kStart;
        begin_segment(0);
    }

    // A new message. `state` needs a queue and a due; everything else has its default.
    MessageId put(MessageState state, std::string_view body = "body") {
        MessageRow row;
        row.id = (totals_.id_counter + 1) * kShardsMax;
        row.state = std::move(state);
        row.state.version = 1;
        if (row.state.nominal_due_ms == 0) row.state.nominal_due_ms = row.state.due_ms;
        MessageRecord record = record_of(RecordKind::put, row);
        record.content.body = body;
        row.record_bytes = append(record);
        row.log_position = totals_.sequence;
        hold_key(row);
        rows[row.id] = row;
        return row.id;
    }
    MessageId put(std::string queue, DueMs due_ms) { return put(state_of(std::move(queue), due_ms)); }

    // Any move that is not an end: the state that stands then.
    void change(MessageId id, MessageState state, RecordKind kind = RecordKind::change) {
        MessageRow& row = rows.at(id);
        MessageRecord record = change_of(kind, row, std::move(state));
        const std::string reason = "failure of " + std::to_string(id);
        if (kind == RecordKind::change && record.state.state == State::retrying) record.reason = reason;
        append(record);
        row.state = record.state;
        row.ended_ms = 0;
        row.lease_attempt = 0;
        row.lease_incarnation = 0;
        row.reason = record.reason;
        hold_key(row);
    }
    void reschedule(MessageId id, DueMs due_ms) {
        MessageState state = rows.at(id).state;
        if (state.state == State::dead) state.expires_ms = 0;  // back from the dead letters
        if (!state.key.empty() && state.first_due_ms == 0) state.first_due_ms = state.nominal_due_ms;
        state.state = State::scheduled;
        state.due_ms = state.nominal_due_ms = due_ms;
        change(id, std::move(state));
    }
    void set_state(MessageId id, State to) {
        MessageState state = rows.at(id).state;
        state.state = to;
        change(id, std::move(state));
    }
    // `until_ms`: of a lease that outlives the process; 0: there is none.
    void attempt(MessageId id, DueMs until_ms = 0) {
        MessageState state = rows.at(id).state;
        ++state.attempts;
        if (until_ms != 0) {
            state.work.edit([&](WorkState& work) { work.lease = {until_ms, totals_.server_time_ms, 3, "worker"}; });
        }
        change(id, std::move(state), RecordKind::attempt);
    }
    void end(MessageId id, State ended = State::done) {
        MessageRow& row = rows.at(id);
        MessageState state = row.state;
        state.state = ended;
        MessageRecord record = change_of(RecordKind::end, row, std::move(state));
        record.time_ms = totals_.server_time_ms;
        record.lease_attempt = row.state.attempts;
        record.lease_incarnation = 3;
        const std::string reason = "reason " + std::to_string(id);
        if (ended == State::dead) record.reason = reason;
        append(record);
        row.state = record.state;
        row.ended_ms = record.time_ms;
        row.lease_attempt = record.lease_attempt;
        row.lease_incarnation = record.lease_incarnation;
        row.reason = record.reason;
        if (ended != State::dead) become_outcome(row);
        hold_key(row);
    }
    void relocate(MessageId id, std::string_view body = "body") {
        MessageRow& row = rows.at(id);
        MessageRecord record = record_of(RecordKind::relocate, row);
        copy_end(row, record);
        record.reason = row.reason;
        const bool whole = !is_ended(row.state.state) || row.state.state == State::dead;
        if (whole) record.content.body = body;
        record.record_bytes = row.record_bytes;
        const std::uint32_t bytes = append(record);
        row.log_position = whole ? totals_.sequence : 0;
        row.record_bytes = whole ? bytes : 0;
    }
    void relocate_outcomes(const OutcomesToRelocate& outcomes) {
        OutcomesRecord record;
        record.rows = texts_.emplace_back(outcomes.rows);
        record.count = outcomes.count;
        record.segment = outcomes.segment;
        record.up_to = outcomes.up_to;
        append(record);
    }
    void set_load_cursor(DueMs due_ms) { append(CursorRecord{.due_ms = due_ms}); }
    void set_queue_cursor(const std::string& queue, DuePosition at, bool removed = false) {
        append(CursorRecord{.queue = queue, .due_ms = at.due_ms, .id = at.id, .removed = removed});
    }

    // Makes what was written since the last commit durable, at this server time.
    void commit(DueMs server_time_ms, bool closes_segment = false) {
        if (newest_->end().closed) begin_segment(newest_->end().link);
        totals_.commit += 1;
        totals_.server_time_ms = server_time_ms;
        pending_.first_sequence = totals_.sequence + 1 - pending_.count;
        pending_.totals = totals_;
        pending_.closes_segment = closes_segment;
        const Status done = newest_->append(pending_);
        ASSERT_TRUE(done.ok()) << done.error().message;
        committed_totals_ = totals_;
        pending_ = {};
        for (TrialRecord& record : written_) {
            record.segment = static_cast<SegmentNumber>(newest_->header().number);
            committed.push_back(std::move(record));
        }
        written_.clear();
    }
    void close_segment() { commit(totals_.server_time_ms, true); }
    bool should_close() const { return newest_->end().offset > segment_bytes_ / 2; }
    // Takes away the segments that lie wholly below `sequence`.
    void drop_before(Sequence sequence) {
        while (catalog_.list().front().last_sequence < sequence) catalog_.remove_first();
    }

    static MessageState state_of(std::string queue, DueMs due_ms, std::string key = {}) {
        MessageState state;
        state.queue = std::move(queue);
        state.due_ms = state.nominal_due_ms = due_ms;
        state.key = std::move(key);
        if (!state.key.empty()) state.request_hash = 77;
        return state;
    }

    const SegmentCatalog& catalog() const { return catalog_; }
    DueMs server_time_ms() const { return totals_.server_time_ms; }
    const Totals& totals() const { return totals_; }

    std::map<MessageId, MessageRow> rows;
    std::map<KeyName, KeyHolder> keys;
    std::vector<TrialRecord> committed;

  private:
    void begin_segment(std::uint64_t link) {
        SegmentHeader header;
        header.number = newest_ ? newest_->header().number + 1 : 1;
        header.before = committed_totals_;
        header.link = link;
        header.identity.instance.fill(std::byte{1});
        header.segment_bytes = segment_bytes_;
        std::string bytes = encode_segment_header(header);
        bytes.resize(segment_bytes_);
        newest_ = std::make_shared<SegmentFile>(
            "segment " + std::to_string(header.number), std::make_unique<TrialFile>(std::move(bytes)), header,
            SegmentEnd{header.before, link, kSegmentHeaderBytes, false}, OffsetList(header.first_sequence()));
        catalog_.add(newest_);
    }
    static MessageRecord record_of(RecordKind kind, const MessageRow& row) {
        MessageRecord record;
        record.kind = kind;
        record.id = row.id;
        record.state = row.state;
        return record;
    }
    static MessageRecord change_of(RecordKind kind, const MessageRow& row, MessageState state) {
        MessageRecord record = record_of(kind, row);
        record.log_position = row.log_position;
        record.record_bytes = row.record_bytes;
        record.previous = {row.state.state,
                           row.state.version,
                           row.state.due_ms,
                           row.state.queue,
                           row.state.state == State::dead ? 0 : digest_term(row.id, row.state),
                           0,
                           row.ended_ms};
        const bool is_ordered_retry = !row.state.order_key.empty() && row.state.nominal_due_ms != row.state.due_ms;
        if (is_ordered_retry) record.previous.nominal_due_ms = row.state.nominal_due_ms;
        record.state = std::move(state);
        record.state.version = row.state.version + 1;
        return record;
    }
    static void become_outcome(MessageRow& row) {
        row.record_bytes = 0;
        row.log_position = 0;
    }
    void hold_key(const MessageRow& row) {
        if (row.state.key.empty()) return;
        KeyHolder& holder = keys[{row.state.name_space, row.state.queue, row.state.key}];
        const DueMs due_ms = row.state.first_due_ms != 0 ? row.state.first_due_ms : row.state.nominal_due_ms;
        if (holder.id <= row.id) holder = {row.id, row.state.request_hash, due_ms, row.ended_ms};
    }
    std::uint32_t append(MessageRecord& record) {
        if (!record.reason.empty()) record.reason = texts_.emplace_back(record.reason);
        const std::uint32_t bytes = append(Record(record));
        std::get<MessageRecord>(written_.back().record).content = {};
        return bytes;
    }
    std::uint32_t append(const Record& record) {
        ++totals_.sequence;
        const auto bytes = static_cast<std::uint32_t>(append_record(pending_.records, totals_.sequence, record));
        ++pending_.count;
        add_to_totals(totals_, record, bytes);
        written_.push_back({record, totals_.sequence, bytes, 0});
        return bytes;
    }

    const std::uint64_t segment_bytes_;
    SegmentCatalog catalog_;
    std::shared_ptr<SegmentFile> newest_;  // the catalog has it too, for reading
    Totals totals_;                        // of what is written
    Totals committed_totals_;
    Commit pending_;
    std::vector<TrialRecord> written_;
    std::deque<std::string> texts_;  // what the records point to
};

// All rows of a table, as they stand.
inline std::map<std::string, std::string> all_rows(const SortedRows& rows) {
    std::map<std::string, std::string> all;
    const Status walked = rows.scan("", "\xff", ~std::size_t{0}, [&](std::string_view key, std::string_view value) {
        all.emplace(key, value);
        return true;
    });
    EXPECT_TRUE(walked.ok());
    return all;
}

}  // namespace duewheel
