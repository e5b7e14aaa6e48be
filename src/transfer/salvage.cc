#include "transfer/salvage.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/overloaded.h"
#include "journal/local_journal.h"
#include "message/totals.h"
#include "message/watchdog_state.h"
#include "store/log_end.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {
namespace {

// Each commit of the new log has a segment of its own, so this is about the size of a segment.
constexpr std::uint64_t kCommitBytes = 16 << 20;
constexpr std::uint64_t kSmallestSegmentBytes = 8 << 10;

// The newest records of a message that has not ended.
struct Newest {
    Sequence whole = 0;  // that can be read; 0: none
    Sequence last = 0;
    Sequence wanted = 0;  // without a whole one: where it was
    bool is_dead = false;
};

// The newest records of settings, a schedule or a watchdog, with their bodies.
struct NewestRule {
    RecordKind kind = RecordKind::conf;
    std::string whole;
    std::string last;  // empty: the whole one is the newest
};
using RuleName = std::tuple<Subject, std::string, std::string>;

// Null for a record of another kind.
SubjectRecord* subject_record(Record& record) {
    if (auto* conf = std::get_if<ConfRecord>(&record)) return conf;
    return std::get_if<RuleRecord>(&record);
}

// The first pass: what there is.
class Inventory {
  public:
    Status add(const FramedRecord& frame) {
        Result<Record> record = decode_record(frame.kind, frame.body);
        if (!record) return std::move(record).error();
        std::visit(
            Overloaded{[&](const MessageRecord& of) { add_message(of, frame.sequence); },
                       [&](const ConfRecord& of) { add_rule(of, frame.body); },
                       [&](const RuleRecord& of) { add_rule(of, frame.body); },
                       [&](const RelocationDoneRecord& of) { relocated_up_to_ = std::max(relocated_up_to_, of.up_to); },
                       [](const auto&) {}},
            *record);
        return {};
    }

    const Newest* find(MessageId id) const {
        const auto found = messages_.find(id);
        return found == messages_.end() ? nullptr : &found->second;
    }
    const boost::unordered_flat_map<MessageId, Newest>& messages() const { return messages_; }
    const std::map<RuleName, NewestRule>& rules() const { return rules_; }
    Sequence relocated_up_to() const { return relocated_up_to_; }

  private:
    void add_message(const MessageRecord& record, Sequence sequence) {
        const State state = record.state.state;
        if (is_ended(state) && state != State::dead) {
            forget(record.id);
            return;
        }
        Newest& newest = messages_[record.id];
        newest.last = sequence;
        newest.is_dead = state == State::dead;
        if (is_whole(record.kind)) newest.whole = sequence;
        if (newest.whole == 0) newest.wanted = record.log_position;
        if (!record.state.key.empty()) hold_key(record);
    }

    void forget(MessageId id) {
        messages_.erase(id);
        const auto held = keys_.find(id);
        if (held == keys_.end()) return;
        if (const auto holder = holders_.find(held->second); holder != holders_.end() && holder->second == id) {
            holders_.erase(holder);
        }
        keys_.erase(held);
    }

    // The older of two messages with one key has ended, or is a dead letter, which keeps its key for a time only.
    void hold_key(const MessageRecord& record) {
        const MessageState& state = record.state;
        const std::uint64_t key = area_hash(state.name_space + '\0' + state.queue + '\0' + std::string(state.key));
        if (const auto held = keys_.find(record.id); held != keys_.end() && held->second != key) {
            if (const auto old = holders_.find(held->second); old != holders_.end() && old->second == record.id) {
                holders_.erase(old);
            }
        }
        keys_[record.id] = key;
        const auto [holder, fresh] = holders_.try_emplace(key, record.id);
        if (fresh || holder->second >= record.id) return;
        const MessageId older = std::exchange(holder->second, record.id);
        const auto found = messages_.find(older);
        if (found == messages_.end() || found->second.is_dead) return;
        messages_.erase(found);
        keys_.erase(older);
    }

    template <class Of>
    void add_rule(const Of& record, std::string_view body) {
        RuleName name{record.subject, record.name_space, std::string(record.name)};
        if (record.value.empty()) {
            rules_.erase(name);
            return;
        }
        NewestRule& newest = rules_[std::move(name)];
        newest.kind = Of::kKind;
        (record.is_whole() ? newest.whole : newest.last) = body;
        if (record.is_whole()) newest.last.clear();
    }

    boost::unordered_flat_map<MessageId, Newest> messages_;
    boost::unordered_flat_map<MessageId, std::uint64_t> keys_;     // hash of namespace, queue and key
    boost::unordered_flat_map<std::uint64_t, MessageId> holders_;  // of each key
    std::map<RuleName, NewestRule> rules_;
    Sequence relocated_up_to_ = 0;
};

// Appends records to the new log, with their totals.
class Writer {
  public:
    Writer(LocalJournal& journal, DueMs server_time_ms) : journal_(journal) { totals_.server_time_ms = server_time_ms; }

    struct Place {
        Sequence sequence = 0;
        std::uint32_t bytes = 0;
    };
    Result<Place> add(const Record& record) {
        const Sequence sequence = totals_.sequence + 1;
        const std::size_t before = commit_.records.size();
        const std::size_t bytes = append_record(commit_.records, sequence, record);
        if (before != 0 && before + bytes > kCommitBytes) {
            const std::string newest = commit_.records.substr(before);
            commit_.records.resize(before);
            if (Status sent = send(); !sent) return std::move(sent).error();
            commit_.records = newest;
        }
        ++commit_.count;
        totals_.sequence = sequence;
        add_to_totals(totals_, record, bytes);
        return Place{sequence, static_cast<std::uint32_t>(bytes)};
    }

    Status send() {
        if (commit_.count == 0) return {};
        commit_.first_sequence = journal_.totals().sequence + 1;
        ++totals_.commit;
        commit_.totals = totals_;
        commit_.totals.sequence = commit_.first_sequence + commit_.count - 1;
        commit_.closes_segment = true;
        Status written = journal_.commit(commit_);
        commit_ = {};
        return written;
    }

  private:
    LocalJournal& journal_;
    Totals totals_;
    Commit commit_;
};

// The second pass: copies what the first one has found.
class Copier {
  public:
    Copier(const Inventory& inventory, Writer& writer) : inventory_(inventory), writer_(writer) {}

    Status copy_rules() {
        for (const auto& [name, newest] : inventory_.rules()) {
            if (newest.whole.empty()) continue;
            if (Status copied = copy_rule(newest); !copied) return copied;
        }
        return {};
    }

    Status add(const FramedRecord& frame) {
        if (!is_of_message(frame.kind)) return {};
        Result<MessageRecord> record = decode_message(frame.kind, frame.body);
        if (!record) return std::move(record).error();
        const Newest* newest = inventory_.find(record->id);
        if (newest == nullptr) return {};
        if (newest->whole == frame.sequence) return copy_whole(*record, newest->last == frame.sequence);
        return newest->last == frame.sequence && newest->whole != 0 ? copy_last(*record) : Status();
    }

  private:
    struct Copied {
        Previous previous;
        Writer::Place place;
    };

    // A dead letter is put as an unfinished message that then ends: only that way it counts right.
    Status copy_whole(MessageRecord record, bool is_newest) {
        const MessageRecord original = record;
        const bool is_dead = record.state.state == State::dead;
        if (!is_new(record.kind)) record.kind = RecordKind::put;
        record.log_position = 0;
        record.record_bytes = 0;
        record.previous = {};
        record.ended_ms = 0;
        if (is_dead) {
            record.state.state = State::scheduled;
            record.reason = {};
        }
        const Result<Writer::Place> place = writer_.add(record);
        if (!place) return place.error();
        if (is_newest && !is_dead) return {};
        const MessageState& state = record.state;
        Previous previous{.state = state.state,
                          .version = state.version,
                          .due_ms = state.due_ms,
                          .queue = state.queue,
                          .term = digest_term(record.id, state),
                          .nominal_due_ms = state.nominal_due_ms};
        copied_[record.id] = {std::move(previous), *place};
        if (!is_newest) return {};
        MessageRecord end = original;
        end.kind = RecordKind::end;
        end.time_ms = original.ended_ms;
        end.content = {};
        return copy_last(end);
    }

    Status copy_last(MessageRecord record) {
        const auto copied = copied_.find(record.id);
        if (copied == copied_.end()) return {};
        record.previous = copied->second.previous;
        record.log_position = copied->second.place.sequence;
        record.record_bytes = copied->second.place.bytes;
        copied_.erase(copied);
        const Result<Writer::Place> place = writer_.add(record);
        return place ? Status() : Status(place.error());
    }

    Status copy_rule(const NewestRule& newest) {
        Result<Record> whole = decode_record(newest.kind, newest.whole);
        if (!whole) return std::move(whole).error();
        SubjectRecord& record = *subject_record(*whole);
        record.log_position = 0;
        record.record_bytes = 0;
        record.revision_before = 0;
        record.term_before = 0;
        Result<Record> last = decode_record(newest.kind, newest.last.empty() ? newest.whole : newest.last);
        if (!last) return std::move(last).error();
        record.value = subject_record(*last)->value;
        const Result<Writer::Place> place = writer_.add(*whole);
        return place ? Status() : Status(place.error());
    }

    const Inventory& inventory_;
    Writer& writer_;
    boost::unordered_flat_map<MessageId, Copied> copied_;  // those whose newest record is still to come
};

// What the log says of its front: whether segments before the first file are missing.
void check_front(const SalvagedLog& log, Sequence relocated_up_to, std::vector<Omitted>& omitted) {
    const Sequence needed = std::max<Sequence>(relocated_up_to, 1);
    if (log.first_sequence <= needed) return;
    omitted.insert(omitted.begin(),
                   {segment_name(needed), 0, needed, log.first_sequence - 1, "the files before the first are missing"});
}

// Whether the log has reached further than what could be read.
void check_end(const std::string& journal, const std::optional<KnownEnd>& known, const SalvagedLog& log,
               std::vector<Omitted>& omitted) {
    if (check_known_end(journal, known, log.identity, log.totals)) return;
    const Sequence last = std::max(known->sequence, log.totals.sequence);
    omitted.push_back({kEndMark, 0, log.totals.sequence + 1, last, "the end of the log is missing"});
}

void count(const Inventory& inventory, SalvageReport& report) {
    const Sequence damaged_up_to = report.omitted.empty() ? 0 : report.omitted.back().last;
    for (const auto& [id, newest] : inventory.messages()) {
        if (newest.whole == 0) {
            report.lost.push_back({id, newest.wanted});
            continue;
        }
        ++report.saved;
        if (newest.last <= damaged_up_to) ++report.maybe_stale;
    }
    for (const auto& [name, newest] : inventory.rules()) {
        if (!newest.whole.empty()) continue;
        report.lost_rules.push_back(std::string(subject_name(std::get<0>(name))) + " " + std::get<2>(name));
    }
    std::sort(report.lost.begin(), report.lost.end(), [](const LostMessage& left, const LostMessage& right) {
        return std::pair(left.sequence, left.id) < std::pair(right.sequence, right.id);
    });
}

}  // namespace

Result<SalvageReport> salvage(FileSystem& files, const std::string& data, const std::string& to) {
    if (Result<std::vector<std::string>> there = files.list(data + "/journal"); !there) {
        return Error{there.error().code, "there is no log in " + data + "; give the data directory of duewheeld"};
    }
    const Result<std::unique_ptr<DirectoryLock>> lock = files.lock(data);
    if (!lock) return lock.error();
    const Result<std::optional<KnownEnd>> known = known_end(files, data);
    if (!known) return known.error();
    Inventory inventory;
    Result<SalvagedLog> log =
        salvage_log(files, data + "/journal", [&](const FramedRecord& frame) { return inventory.add(frame); });
    if (!log) return std::move(log).error();

    JournalOptions options;
    options.identity = log->identity;
    options.segment_bytes = kSmallestSegmentBytes;
    options.spare_count = 0;
    options.reserve_count = 0;
    Result<std::unique_ptr<LocalJournal>> journal = LocalJournal::open(files, to + "/journal", options);
    if (!journal) return std::move(journal).error();
    Writer writer(**journal, log->totals.server_time_ms);
    Copier copier(inventory, writer);
    // The first segment has its size already; the others are as large as their commit.
    const EpochRecord first{.time_ms = log->totals.server_time_ms};
    if (const auto begun = writer.add(first); !begun) return begun.error();
    Status done = writer.send();
    if (done) done = copier.copy_rules();
    if (!done) return std::move(done).error();
    const Result<SalvagedLog> again =
        salvage_log(files, data + "/journal", [&](const FramedRecord& frame) { return copier.add(frame); });
    if (!again) return again.error();
    if (done = writer.send(); !done) return std::move(done).error();

    SalvageReport report;
    report.pending = log->totals.live_count;
    report.omitted = std::move(log->omitted);
    check_front(*log, inventory.relocated_up_to(), report.omitted);
    check_end(data + "/journal", *known, *log, report.omitted);
    count(inventory, report);
    return report;
}

}  // namespace duewheel
