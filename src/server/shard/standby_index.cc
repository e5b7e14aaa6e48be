#include "server/shard/standby_index.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "store/index_recovery.h"
#include "store/maintenance/index_proof.h"
#include "store/sealer.h"

namespace duewheel {

Result<bool> StandbyIndex::step(LocalJournal& journal, bool is_caught_up) {
    const SegmentCatalog& catalog = journal.catalog();
    if (!index_) {
        // A short log needs none yet.
        if (!catalog.list().front().closed) return false;
        if (Status opened = open(catalog); !opened) {
            if (opened.error().code == "no_space"_code) return false;
            return std::move(opened).error();
        }
    }
    Result<bool> done = seal(catalog);
    if (done && !*done) done = drop(journal);
    if (done && !*done && is_caught_up && !index_->position().is_proven) done = compare(catalog);
    if (!done && done.error().code == "no_space"_code) return false;
    if (!done && done.error().code == "damaged_index"_code) static_cast<void>(rows_.condemn());
    return done;
}

Status StandbyIndex::open(const SegmentCatalog& catalog) {
    retention_.set_now(catalog.snapshot().back()->end().totals.server_time_ms);
    Result<OpenedIndex> opened = open_index(rows_, retention_, catalog);
    // The log was lost and is copied again: the index knows more than has been copied so far.
    if (!opened && opened.error().code == "damaged_log"_code) return start_again(opened.error().message);
    if (!opened) return std::move(opened).error();
    if (opened->discarded)
        log_.warning("index_rebuild", "The index does not match the log or cannot be read. It is rebuilt from the log.",
                     {{"reason", *opened->discarded}});
    index_ = std::move(opened->index);
    return {};
}

Result<bool> StandbyIndex::seal(const SegmentCatalog& catalog) {
    const std::uint64_t position = index_->position().segment;
    for (const std::shared_ptr<const SegmentFile>& segment : catalog.snapshot()) {
        if (segment->header().number <= position) continue;
        const SegmentEnd end = segment->end();
        if (!end.closed) break;
        retention_.set_now(end.totals.server_time_ms);
        if (Status sealed = seal_segment(*segment, catalog, *index_); !sealed) return std::move(sealed).error();
        ++segments_sealed_;
        return true;
    }
    return false;
}

// As ShardRecovery::repeat_drop().
Result<bool> StandbyIndex::drop(LocalJournal& journal) {
    const IndexPosition position = index_->position();
    const Sequence up_to = std::min(position.relocated_up_to, position.totals.sequence + 1);
    const std::vector<SegmentSummary> segments = journal.catalog().list();
    if (segments.size() < 2 || segments[1].first_sequence > up_to) return false;
    const Result<std::optional<std::string>> needed = find_lost_need(*index_, up_to);
    if (!needed) return needed.error();
    if (*needed) return false;
    if (Status dropped = journal.drop_before(up_to); !dropped) return std::move(dropped).error();
    return journal.catalog().list().size() < segments.size();
}

Result<bool> StandbyIndex::compare(const SegmentCatalog& catalog) {
    if (index_->position().segment == 0) return false;
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& segment : catalog.list()) first_sequences.push_back(segment.first_sequence);
    const Result<std::vector<Index::Settings>> settings = index_->settings();
    if (!settings) return settings.error();
    const Result<std::optional<std::string>> difference =
        find_difference(*index_, RecentTier(), *settings, index_->position().totals, first_sequences);
    if (!difference) return difference.error();
    if (*difference) {
        if (was_started_again_) return Error{"damaged_log"_code, "the messages do not match the log: " + **difference};
        if (Status started = start_again(**difference); !started) return std::move(started).error();
        return true;
    }
    if (Status marked = index_->mark_proven(); !marked) return std::move(marked).error();
    return true;
}

Status StandbyIndex::start_again(const std::string& reason) {
    was_started_again_ = true;
    log_.warning("index_rebuild", "The index does not match the log or cannot be read. It is rebuilt from the log.",
                 {{"reason", reason}});
    index_.reset();
    if (Status discarded = rows_.discard(); !discarded) return discarded;
    Result<std::unique_ptr<Index>> fresh = Index::open(rows_, retention_);
    if (!fresh) return std::move(fresh).error();
    index_ = *std::move(fresh);
    return {};
}

}  // namespace duewheel
