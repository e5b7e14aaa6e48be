#include "store/maintenance/data_check.h"

#include "base/error_codes.h"
#include "store/index.h"
#include "store/key_layout.h"
#include "store/log_end.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/index_audit.h"
#include "store/maintenance/index_proof.h"
#include "store/maintenance/known_damage.h"
#include "store/maintenance/log_audit.h"
#include "store/maintenance/retention.h"
#include "store/rocks_rows.h"

namespace duewheel {
namespace {

// Reads every commit and adds it up. A log whose front was deleted starts with the totals of its first header.
Status check_log(const FoundLog& log, DataReport& report) {
    if (log.segments.empty()) return {};
    LogAudit audit(log.segments.front()->header().before, 0);
    const CommitVisitor visitor = [&](const CommitInLog& commit) -> Status {
        ++report.commits;
        report.records += commit.count;
        for (const FramedRecord& frame : commit.records) {
            Result<Record> record = decode_record(frame.kind, frame.body);
            if (!record) return std::move(record).error();
            if (Status added = audit.add(*record, frame.sequence, frame.frame_bytes); !added) return added;
        }
        report.pending = commit.totals.live_count;
        report.sequence = commit.totals.sequence;
        return audit.close(commit);
    };
    if (Status verified = verify_log(log, visitor); !verified) return verified;
    return audit.check_front(log.segments.front()->first_sequence());
}

// Compares the end of the log with that of a clean stop, or that of the backup.
Status check_recorded_end(FileSystem& files, const std::string& directory, DataReport& report) {
    if (const auto mark = read_end_mark(files, directory); mark && *mark) {
        report.has_recorded_end = (*mark)->stopped && (*mark)->end.sequence == report.sequence;
    }
    const Result<std::optional<BackupMark>> backup = read_backup_mark(files, directory);
    if (!backup) return backup.error();
    if (!*backup) return {};
    report.has_recorded_end = (*backup)->sequence == report.sequence;
    if (report.has_recorded_end) return {};
    return Error{"damaged_log"_code, "the log in " + directory + " ends with record " +
                                         std::to_string(report.sequence) + ", but the backup was made up to " +
                                         std::to_string((*backup)->sequence) + ": files were changed or are missing"};
}

Error damaged_index(const std::string& what) {
    return {"damaged_index"_code,
            what + ". The log is undamaged: remove the directory `index`, and the next start rebuilds it"};
}

Status check_index(const Index& index, const FoundLog& log, DataReport& report) {
    const IndexPosition position = index.position();
    report.index_sequence = position.totals.sequence;
    report.index_messages = position.totals.live_count;
    if (position.totals.sequence > report.sequence) {
        return Error{"damaged_log"_code, "the index contains record " + std::to_string(position.totals.sequence) +
                                             ", but the log ends at " + std::to_string(report.sequence)};
    }
    // An index that was started inside the log and has not reached its end contains only a part of the messages.
    report.index_is_complete = position.is_proven || position.first_segment <= 1;
    if (!report.index_is_complete || log.segments.empty()) return {};
    std::vector<Sequence> first_sequences;
    for (const std::shared_ptr<SegmentFile>& segment : log.segments) {
        first_sequences.push_back(segment->first_sequence());
    }
    const Result<std::vector<Index::Settings>> settings = index.settings();
    if (!settings) return settings.error();
    const Result<std::optional<std::string>> difference =
        find_difference(index, RecentTier(), *settings, position.totals, first_sequences);
    if (!difference) return difference.error();
    if (*difference) return damaged_index(**difference);
    return {};
}

// Checks every stored byte, and every table against the rows by id.
Status check_tables(const Index& index) {
    if (Status verified = index.rows().verify_checksums(); !verified) return verified;
    const Result<std::optional<std::string>> disagreement = find_disagreement(index);
    if (!disagreement) return disagreement.error();
    if (*disagreement) return damaged_index(**disagreement);
    return {};
}

Result<DataReport> check_all(FileSystem& files, const std::string& directory) {
    DataReport report;
    const Result<std::optional<KnownEnd>> end = known_end(files, directory);
    if (!end) return end.error();
    const Result<FoundLog> found = find_log(files, directory + "/journal", *end);
    if (!found) return found.error();
    report.segments = found->segments.size();
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        report.log_bytes += segment->header().segment_bytes;
    }
    report.torn_end = found->cut;
    if (Status checked = check_log(*found, report); !checked) return std::move(checked).error();
    if (Status healed = remove_mark(files, directory, kDamageMark); !healed) return std::move(healed).error();
    if (Status reached = check_recorded_end(files, directory, report); !reached) return std::move(reached).error();
    if (const auto mark = read_restored_mark(files, directory); !mark) return mark.error();
    if (const auto mark = read_clock_mark(files, directory); !mark) return mark.error();
    if (Result<std::vector<std::string>> there = files.list(directory + "/index"); !there || there->empty()) {
        return report;
    }
    Retention retention;
    RocksRowStorage rows(files, directory + "/index", [](std::string_view, std::string_view) { return false; });
    Result<std::unique_ptr<Index>> index = Index::open(rows, retention);
    if (!index) return std::move(index).error();
    report.has_index = true;
    if (Status checked = check_index(**index, *found, report); !checked) return std::move(checked).error();
    if (Status checked = check_tables(**index); !checked) return std::move(checked).error();
    return report;
}

}  // namespace

Result<DataReport> check_data_directory(FileSystem& files, const std::string& directory) {
    if (Result<std::vector<std::string>> there = files.list(directory + "/journal"); !there) {
        return Error{there.error().code, "there is no log in " + directory + "; give the data directory of duewheeld"};
    }
    Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return std::move(lock).error();
    Result<DataReport> report = check_all(files, directory);
    // On a disk that cannot be written it stays unknown to the next start, which then finds it while it serves.
    if (!report) static_cast<void>(remember_damage(files, directory, report.error()));
    return report;
}

}  // namespace duewheel
