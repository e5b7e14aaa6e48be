#include "store/log_view.h"

#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "journal/recovery.h"
#include "store/log_end.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/index_proof.h"
#include "store/maintenance/log_audit.h"
#include "store/sealer.h"

namespace duewheel {

Result<std::unique_ptr<LogView>> LogView::open(FileSystem& files, const std::string& data, RowStorage& rows,
                                               const ViewProgress& progress) {
    if (Result<std::vector<std::string>> there = files.list(data + "/journal"); !there) {
        return Error{there.error().code,
                     "there is no log in " + data + "; give the data directory of duewheeld, or a backup"};
    }
    if (Status whole = refuse_unfinished_restore(files, data); !whole) return std::move(whole).error();
    std::unique_ptr<LogView> view(new LogView(rows));
    Status done = view->build(files, data, progress);
    if (done) done = view->prove();
    if (!done) return std::move(done).error();
    return view;
}

Status LogView::build(FileSystem& files, const std::string& data, const ViewProgress& progress) {
    const Result<std::optional<KnownEnd>> known = known_end(files, data);
    if (!known) return known.error();
    const std::string directory = data + "/journal";
    Result<FoundLog> found = find_log_in_use(files, directory, *known);
    if (!found) return std::move(found).error();
    if (found->segments.empty()) return Error{"not_found"_code, "there is no log in " + directory};
    identity_ = found->segments.front()->header().identity;
    std::uint64_t all = 0;
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        segments_.add(segment);
        all += segment->header().segment_bytes;
    }
    if (Status discarded = rows_.discard(); !discarded) return discarded;
    Result<std::unique_ptr<Index>> index = Index::open(rows_, retention_);
    if (!index) return std::move(index).error();
    index_ = *std::move(index);
    std::uint64_t done = 0;
    for (const std::shared_ptr<SegmentFile>& segment : found->segments) {
        const SegmentEnd end = segment->end();
        const bool is_empty = end.totals == segment->header().before;
        retention_.set_now(end.totals.server_time_ms);
        Status sealed;
        if (end.closed) {
            sealed = seal_segment(*segment, segments_, *index_);
        } else if (!is_empty) {
            sealed = seal_open_segment(*segment, segments_, *index_);
        }
        if (!sealed) return sealed;
        done += segment->header().segment_bytes;
        if (!progress) continue;
        if (Status wanted = progress(done, all); !wanted) return wanted;
    }
    return {};
}

Status LogView::prove() const {
    const IndexPosition position = index_->position();
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& segment : segments_.list()) first_sequences.push_back(segment.first_sequence);
    const LogAudit audit(position.totals, position.relocated_up_to);
    if (Status whole = audit.check_front(first_sequences.front()); !whole) return whole;
    const Result<std::vector<Index::Settings>> settings = index_->settings();
    if (!settings) return settings.error();
    const Result<std::optional<std::string>> difference =
        find_difference(*index_, RecentTier(), *settings, position.totals, first_sequences);
    if (!difference) return difference.error();
    if (!*difference) return {};
    return Error{"damaged_log"_code, "the messages do not match the log: " + **difference +
                                         ". Put missing segments back, or restore a backup"};
}

}  // namespace duewheel
