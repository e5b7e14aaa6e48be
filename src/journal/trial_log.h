// For the tests of this folder: creates commits from a seed, remembers them, and compares them with what a journal
// replays. Returns a difference as text; empty: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "journal/local_journal.h"
#include "shared/random.h"

namespace duewheel {

// A commit with records of its own.
struct TrialCommit {
    Totals totals;
    bool closes_segment = false;
    std::vector<OwnedRecord> records;

    bool operator==(const TrialCommit&) const = default;
};

// Commits of at most `records_max` records with bodies of about `body_bytes_max`; closes a segment when the largest one
// might not fit after the next.
class TrialLog {
  public:
    TrialLog(std::uint64_t records_max, std::uint64_t body_bytes_max, std::uint32_t block_bytes = 512)
        : records_max_(records_max), body_bytes_max_(body_bytes_max), block_bytes_(block_bytes) {}

    // The next commit; it is not remembered.
    Commit next(Random& random, const SegmentRoom& room) const {
        // A segment without a record cannot be closed, so empty commits alone may not fill it.
        const bool may_be_empty = room.closed || room.has_record || room.used_bytes <= kSegmentHeaderBytes + 1024;
        const std::uint64_t records = random.below(records_max_ + 1);
        return make(random, room, may_be_empty ? records : std::max<std::uint64_t>(records, 1));
    }
    Commit empty(const SegmentRoom& room) const {
        Random unused(1);
        return make(unused, room, 0);
    }
    Commit make(Random& random, const SegmentRoom& room, std::uint64_t records) const {
        Commit commit;
        commit.totals = totals();
        commit.totals.commit += 1;
        commit.first_sequence = commit.totals.sequence + 1;
        for (std::uint64_t i = 0; i < records; ++i) add_record(random, commit);
        commit.totals.server_time_ms += 1 + static_cast<DueMs>(random.below(100));
        const std::uint64_t used = room.closed ? kSegmentHeaderBytes : room.used_bytes;
        const std::uint64_t size = commit_size_in_segment(commit.records.size(), block_bytes_);
        const bool has_record = commit.count > 0 || (room.has_record && !room.closed);
        commit.closes_segment = has_record && used + size + largest() > room.segment_bytes;
        return commit;
    }

    void remember(const Commit& commit) {
        TrialCommit kept{commit.totals, commit.closes_segment, {}};
        std::string_view rest = commit.records;
        while (!rest.empty()) {
            const FramedRecord record = read_frame(rest).value();
            kept.records.push_back({record.sequence, record.kind, std::string(record.body)});
            rest.remove_prefix(record.frame_bytes);
        }
        commits_.push_back(std::move(kept));
    }
    void forget_last() { commits_.pop_back(); }

    const std::vector<TrialCommit>& commits() const { return commits_; }
    Totals totals() const { return commits_.empty() ? Totals{} : commits_.back().totals; }
    Sequence last_sequence() const { return totals().sequence; }
    std::uint64_t largest() const {
        return commit_size_in_segment(records_max_ * (kRecordFrameBytes + 96 + body_bytes_max_), block_bytes_);
    }

    // Compares everything in a journal, from its front on, with what is remembered; `newest` of the remembered commits
    // may be missing at the end. Returns the difference.
    std::string compare(const LocalJournal& journal, std::size_t may_miss = 0) const {
        std::vector<TrialCommit> found;
        const Status read = journal.verify_all([&](const CommitInLog& commit) {
            TrialCommit copy{commit.totals, commit.closes_segment, {}};
            for (const FramedRecord& record : commit.records) {
                copy.records.push_back({record.sequence, record.kind, std::string(record.body)});
            }
            found.push_back(std::move(copy));
            return Status();
        });
        if (!read) return "cannot be read: " + read.error().message;
        return compare(found, journal.catalog().snapshot().front()->header().first_commit(), may_miss);
    }
    std::string compare(const std::vector<TrialCommit>& found, std::uint64_t first_commit, std::size_t may_miss) const {
        const std::size_t skipped = std::min<std::size_t>(first_commit - 1, commits_.size());
        const std::size_t kept = commits_.size() - skipped;
        if (found.size() > kept) return "more commits than were made: " + std::to_string(found.size());
        if (found.size() + may_miss < kept) {
            return "holds " + std::to_string(found.size()) + " commits, not " + std::to_string(kept);
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != commits_[skipped + i]) {
                return "commit " + std::to_string(commits_[skipped + i].totals.commit) + " is not what was committed";
            }
        }
        return {};
    }

  private:
    void add_record(Random& random, Commit& commit) const {
        std::string body(random.below(body_bytes_max_ + 1), '\0');
        for (char& c : body) c = static_cast<char>(random.next());
        MessageRecord record;
        record.kind = RecordKind::put;
        record.id = 1024 * (commit.totals.sequence + 1);
        record.state.queue = "q";
        record.content.body = body;
        commit.totals.sequence += 1;
        append_record(commit.records, commit.totals.sequence, record);
        commit.count += 1;
        commit.totals.digest += random.next();
        commit.totals.live_count += 1;
        commit.totals.needed_bytes += body.size();
        commit.totals.id_counter += 1;
    }

    std::uint64_t records_max_;
    std::uint64_t body_bytes_max_;
    std::uint32_t block_bytes_;
    std::vector<TrialCommit> commits_;
};

// An identity that tests tell apart.
inline LogIdentity trial_identity(std::uint64_t seed) {
    LogIdentity identity;
    for (std::byte& byte : identity.instance) byte = static_cast<std::byte>(splitmix64(seed));
    for (std::byte& byte : identity.token_key) byte = static_cast<std::byte>(splitmix64(seed));
    return identity;
}

// Small segments and no spares by default, so that every boundary is crossed often.
inline JournalOptions trial_options(std::uint64_t segment_bytes = 16 << 10, std::uint64_t seed = 1) {
    JournalOptions options;
    options.segment_bytes = segment_bytes;
    options.spare_count = 0;
    options.reserve_count = 0;
    options.identity = trial_identity(seed);
    return options;
}

// The directory of the tests' log.
inline constexpr const char* kDirectory = "/data/journal";

inline std::unique_ptr<LocalJournal> opened(FileSystem& files, const JournalOptions& options,
                                            const std::string& directory = kDirectory) {
    Result<std::unique_ptr<LocalJournal>> journal = LocalJournal::open(files, directory, options);
    EXPECT_TRUE(journal.ok()) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
}

inline void commit_some(LocalJournal& journal, TrialLog& log, Random& random, int commits) {
    for (int i = 0; i < commits; ++i) {
        const Commit commit = log.next(random, journal.room());
        const Status done = journal.commit(commit);
        ASSERT_TRUE(done.ok()) << done.error().message;
        log.remember(commit);
    }
}

// Commits until there are this many segments.
inline void fill_segments(LocalJournal& journal, TrialLog& log, Random& random, std::uint64_t segments) {
    while (journal.catalog().list().size() < segments) commit_some(journal, log, random, 1);
}

inline std::vector<std::string> segments_on(FileSystem& files, const std::string& directory = kDirectory) {
    std::vector<std::string> names;
    for (const std::string& name : files.list(directory).value()) {
        if (sequence_of_segment_name(name) != 0) names.push_back(name);
    }
    return names;
}

}  // namespace duewheel
