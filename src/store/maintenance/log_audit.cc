#include "store/maintenance/log_audit.h"

#include <algorithm>
#include <string>

#include "base/error_codes.h"

namespace duewheel {
namespace {

Error not_true(Sequence sequence, const std::string& what) {
    return {"damaged_log"_code, "record " + std::to_string(sequence) + " of the log " + what +
                                    ": records are lost or damaged. Run `duewheel check`, and restore a backup"};
}

}  // namespace

// Before its use: Clang 14 does not instantiate a member that a generic lambda calls and a later line defines.
template <class Of>
Status LogAudit::judge_position(const Of& record, Sequence sequence) const {
    if (record.log_position == 0 || record.log_position >= relocated_up_to_) return {};
    std::string of = "settings or of a rule";
    if constexpr (requires { record.id; }) of = "message " + std::to_string(record.id);
    return not_true(sequence, "is of " + of + ", which stands at record " + std::to_string(record.log_position) +
                                  " although nothing before record " + std::to_string(relocated_up_to_) +
                                  " was needed any more");
}

Status LogAudit::add(const Record& record, Sequence sequence, std::size_t frame_bytes) {
    Status judged = std::visit(
        [&](const auto& of) -> Status {
            if constexpr (requires { of.log_position; }) {
                return judge_position(of, sequence);
            } else if constexpr (std::is_same_v<decltype(of), const RelocationDoneRecord&>) {
                return judge_relocation(of, sequence);
            } else {
                return {};
            }
        },
        record);
    if (judged) add_to_totals(totals_, record, frame_bytes);
    return judged;
}

Status LogAudit::judge_relocation(const RelocationDoneRecord& record, Sequence sequence) {
    if (record.up_to > sequence || record.live_count != totals_.live_count || record.digest != totals_.digest) {
        return not_true(sequence, "says that " + std::to_string(record.live_count) +
                                      " unfinished messages stand from record " + std::to_string(record.up_to) +
                                      " on, but the records add up to " + std::to_string(totals_.live_count) +
                                      " or to others");
    }
    relocated_up_to_ = std::max(relocated_up_to_, record.up_to);
    return {};
}

Status LogAudit::close(const CommitInLog& commit) {
    const bool agree = totals_.digest == commit.totals.digest && totals_.live_count == commit.totals.live_count &&
                       totals_.needed_bytes == commit.totals.needed_bytes;
    if (agree) return {};
    return Error{"damaged_log"_code, "commit " + std::to_string(commit.totals.commit) + " of segment " +
                                         std::to_string(commit.segment_number) + " at offset " +
                                         std::to_string(commit.offset) +
                                         " does not match its footer. Run `duewheel check`, and restore a backup"};
}

Status LogAudit::check_front(Sequence front) const {
    if (front <= 1 || relocated_up_to_ >= front) return {};
    const std::string released =
        relocated_up_to_ == 0 ? "no segment was ever released"
                              : "only what is before record " + std::to_string(relocated_up_to_) + " was released";
    return Error{"damaged_log"_code, "the log begins with record " + std::to_string(front) + ", but " + released +
                                         ": segments are missing. Put them back, or restore a backup"};
}

}  // namespace duewheel
