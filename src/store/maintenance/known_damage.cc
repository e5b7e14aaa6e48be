#include "store/maintenance/known_damage.h"

#include "base/error_codes.h"
#include "journal/recovery.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {
namespace {

// Reads the whole log, the named file first: damage that is still there is found at once.
Status read_all(FileSystem& files, const std::string& directory, const std::string& first) {
    const Result<FoundLog> found = find_log(files, directory + "/journal", std::nullopt, EndCheck::report);
    if (!found) return found.error().code == "not_found"_code ? Status() : Status(found.error());
    const CommitVisitor nothing = [](const CommitInLog&) { return Status(); };
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        if (!segment->path().ends_with("/" + first)) continue;
        if (Status whole = segment->scan(nothing); !whole) return whole;
    }
    return verify_log(*found, nothing);
}

}  // namespace

Status remember_damage(FileSystem& files, const std::string& directory, const Error& error) {
    const std::optional<DamagePlace> place = damage_place(error);
    return place ? write_mark(files, directory, *place) : Status();
}

Result<bool> refuse_known_damage(FileSystem& files, const std::string& directory) {
    Result<std::optional<DamagePlace>> mark = read_damage_mark(files, directory);
    if (!mark && mark.error().code == "damaged_mark"_code) mark = std::optional(DamagePlace());
    if (!mark) return mark.error();
    if (!*mark) return false;
    if (Status whole = read_all(files, directory, (*mark)->file); !whole) {
        Error error = std::move(whole).error();
        if (error.code == "damaged_log"_code) {
            if (Status kept = remember_damage(files, directory, error); !kept) return std::move(kept).error();
            error.message += " Damage was found before, and no server starts until every byte of the log is whole.";
        }
        return error;
    }
    if (Status removed = remove_mark(files, directory, kDamageMark); !removed) return std::move(removed).error();
    return true;
}

}  // namespace duewheel
