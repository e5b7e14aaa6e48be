#include "store/maintenance/backup.h"

#include <algorithm>

#include "base/error_codes.h"
#include "store/log_end.h"

namespace duewheel {
namespace {

Status make_empty(FileSystem& files, const std::string& directory) {
    const Result<std::vector<std::string>> names = files.list(directory);
    if (names && !names->empty()) {
        return Error{"not_empty"_code, directory + " is not empty; choose a directory that does not exist"};
    }
    if (!names && names.error().code != "not_found"_code) return names.error();
    return files.make_directories(directory + "/journal");
}

// A server on the copy must not trust a clock that the server on the original did not trust.
Status copy_clock_mark(FileSystem& files, const std::string& from, const std::string& to, bool& doubted) {
    Result<std::optional<ClockMark>> mark = read_clock_mark(files, from);
    if (!mark && mark.error().code == "damaged_mark"_code) mark = std::optional(ClockMark{.doubted = true});
    if (!mark) return mark.error();
    doubted = *mark && (*mark)->doubted;
    return *mark ? write_mark(files, to, **mark) : Status();
}

// The error names the backup instead of the copy, because the user has to look there.
Error as_of_backup(Error error, const std::string& backup, const std::string& data) {
    const std::string copied = data + "/journal";
    for (std::size_t at = 0; (at = error.message.find(copied, at)) != std::string::npos;) {
        error.message.replace(at, data.size(), backup);
        at += backup.size();
    }
    if (error.message.ends_with('.')) error.message.pop_back();
    error.message += ". Nothing was restored: remove " + data;
    return error;
}

}  // namespace

Result<BackupReport> make_backup(FileSystem& files, const std::string& data, const std::string& backup,
                                 const CopyProgress& progress) {
    if (Result<std::vector<std::string>> there = files.list(data + "/journal"); !there) {
        return Error{there.error().code, "there is no log in " + data + "; give the data directory of duewheeld"};
    }
    if (Status usable = refuse_what_is_no_data_directory(files, data); !usable) return std::move(usable).error();
    if (Status made = make_empty(files, backup); !made) return std::move(made).error();
    const Result<std::optional<KnownEnd>> end = known_end(files, data);  // before the log, which grows meanwhile
    if (!end) return end.error();
    const Result<LogCopy> copy = copy_log(files, data + "/journal", backup + "/journal", progress);
    if (!copy) return copy.error();
    if (Status reached = check_known_end(data + "/journal", *end, copy->identity, copy->totals); !reached) {
        return std::move(reached).error();
    }
    BackupReport report;
    report.mark = {copy->totals.server_time_ms, copy->totals.sequence, copy->totals.live_count};
    // If the directory was itself restored, the ids of its originals do not belong to this one either.
    const Result<std::optional<RestoredMark>> restored = read_restored_mark(files, data);
    if (!restored) return restored.error();
    if (*restored) {
        if (Status kept = write_mark(files, backup, **restored); !kept) return std::move(kept).error();
    }
    if (Status kept = copy_clock_mark(files, data, backup, report.clock_untrusted); !kept)
        return std::move(kept).error();
    Result<DataReport> checked = check_data_directory(files, backup);
    if (!checked) return std::move(checked).error();
    report.data = *std::move(checked);
    if (Status marked = write_mark(files, backup, report.mark); !marked) return std::move(marked).error();
    return report;
}

Result<BackupReport> restore_backup(FileSystem& files, const std::string& backup, const std::string& data, DueMs now_ms,
                                    const std::array<std::byte, 16>& salt, const CopyProgress& progress) {
    const Result<std::optional<BackupMark>> mark = read_backup_mark(files, backup);
    if (!mark && mark.error().code != "not_found"_code) return mark.error();
    if (!mark || !*mark) {
        return Error{"not_a_backup"_code, backup + " is not a complete backup: the file `" + kBackupMark +
                                              "`, which `duewheel backup` writes last, is missing"};
    }
    const Result<std::optional<RestoredMark>> before = read_restored_mark(files, backup);
    if (!before) return before.error();
    if (Status made = make_empty(files, data); !made) return std::move(made).error();
    if (Status begun = write_restoring_mark(files, data); !begun) return std::move(begun).error();
    const Result<LogCopy> copy = copy_log(files, backup + "/journal", data + "/journal", progress);
    if (!copy) return as_of_backup(copy.error(), backup, data);
    if (copy->totals.sequence != (*mark)->sequence || copy->totals.live_count != (*mark)->pending) {
        const Error error{"damaged_log"_code,
                          "the log in " + backup + " ends at record " + std::to_string(copy->totals.sequence) +
                              ", but the backup was made up to " + std::to_string((*mark)->sequence) +
                              ": files were changed or are missing"};
        return as_of_backup(error, backup, data);
    }
    BackupReport report;
    report.mark = **mark;
    Result<DataReport> checked = check_data_directory(files, data);
    if (!checked) return as_of_backup(std::move(checked).error(), backup, data);
    report.data = *std::move(checked);
    if (Status kept = copy_clock_mark(files, backup, data, report.clock_untrusted); !kept)
        return as_of_backup(std::move(kept).error(), backup, data);
    RestoredMark restored;
    restored.sequence = copy->totals.sequence;
    restored.past_until_ms = std::max(now_ms, report.mark.server_time_ms);
    const std::uint64_t known =
        *before ? std::max((*before)->ids_from, copy->totals.id_counter) : copy->totals.id_counter;
    restored.ids_from = known + kIdsOfTheOriginal;
    restored.salt = salt;
    restored.commit = copy->totals.commit;
    if (*before) restored.salt_before = (*before)->salt;
    if (Status marked = write_mark(files, data, restored); !marked) {
        return as_of_backup(std::move(marked).error(), backup, data);
    }
    if (Status done = files.remove(data + "/" + kRestoringMark); !done) return std::move(done).error();
    if (Status synced = files.sync_directory(data); !synced) return std::move(synced).error();
    return report;
}

}  // namespace duewheel
