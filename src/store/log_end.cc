#include "store/log_end.h"

#include <algorithm>

#include "base/error_codes.h"
#include "store/index.h"
#include "store/maintenance/backup.h"
#include "store/maintenance/retention.h"
#include "store/rocks_rows.h"

namespace duewheel {
namespace {

// The index contains records that the log does not: for a log without an EndMark.
bool index_is_ahead(FileSystem& files, const std::string& directory, Sequence sequence) {
    if (Result<std::vector<std::string>> there = files.list(directory + "/index"); !there || there->empty()) {
        return false;
    }
    Retention retention;
    RocksRowStorage rows(files, directory + "/index", [](std::string_view, std::string_view) { return false; });
    const Result<std::unique_ptr<Index>> index = Index::open(rows, retention);
    return index && (*index)->position().totals.sequence > sequence;
}

}  // namespace

Result<std::optional<KnownEnd>> known_end(FileSystem& files, const std::string& directory) {
    const Result<std::optional<EndMark>> mark = read_end_mark(files, directory);
    if (!mark && mark.error().code != "damaged_mark"_code) return mark.error();
    if (!mark || !*mark) return std::optional<KnownEnd>();
    return std::optional((*mark)->end);
}

Result<bool> accept_lost_end(FileSystem& files, const std::string& directory, DueMs now_ms,
                             const std::array<std::byte, 16>& salt) {
    if (Result<std::vector<std::string>> there = files.list(directory + "/journal"); !there) {
        return Error{there.error().code, "there is no log in " + directory + "; give the data directory of duewheeld"};
    }
    const Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
    if (!lock) return lock.error();
    Status usable = refuse_what_is_no_data_directory(files, directory);
    if (usable) usable = refuse_replicated_log(files, directory);
    if (!usable) return std::move(usable).error();
    const Result<std::optional<KnownEnd>> known = known_end(files, directory);
    if (!known) return known.error();
    const Result<FoundLog> found = find_log(files, directory + "/journal", *known, EndCheck::report);
    if (!found) return found.error();
    if (Status whole = verify_log(*found, [](const CommitInLog&) { return Status(); }); !whole) {
        return std::move(whole).error();
    }
    const Totals totals = found->segments.empty() ? Totals() : found->segments.back()->end().totals;
    if (!found->lost_end && !index_is_ahead(files, directory, totals.sequence)) return false;

    const Result<std::optional<RestoredMark>> before = read_restored_mark(files, directory);
    if (!before) return before.error();
    RestoredMark restored;
    restored.sequence = totals.sequence;
    restored.past_until_ms = std::max(now_ms, totals.server_time_ms);
    // Each id that was assigned in the lost part has a record there.
    const Sequence known_sequence = *known ? (*known)->sequence : 0;
    restored.ids_from =
        std::max(*before ? (*before)->ids_from : 0, totals.id_counter) + known_sequence + kIdsOfTheOriginal;
    restored.salt = salt;
    restored.commit = totals.commit;
    if (*before) restored.salt_before = (*before)->salt;
    Status done = write_mark(files, directory, restored);
    if (done) done = files.remove_tree(directory + "/index");
    if (done) done = files.sync_directory(directory);
    // Last what refuses the log: after an error it can be tried again.
    if (done) done = forget_lost_segments(files, directory + "/journal", *found);
    if (done && found->segments.empty()) done = remove_mark(files, directory, kEndMark);
    if (done && !found->segments.empty()) {
        const SegmentHeader& header = found->segments.back()->header();
        const EndMark end{{header.identity.instance, header.number, totals.sequence, totals.commit}, false};
        done = write_mark(files, directory, end);
    }
    if (!done) return std::move(done).error();
    return true;
}

}  // namespace duewheel
