#include "store/index_recovery.h"

#include <utility>

#include "base/error_codes.h"
#include "store/sealer.h"

namespace duewheel {
namespace {

enum class Fit {
    good,
    useless,   // build a new one
    lost_end,  // the log is shorter than what the index was built from
};

Fit fit(const IndexPosition& position, const SegmentCatalog& catalog) {
    if (position.segment == 0) return Fit::good;
    const auto segments = catalog.snapshot();
    if (segments.empty()) return Fit::lost_end;
    const Totals end = segments.back()->end().totals;
    if (position.totals.sequence > end.sequence) return Fit::lost_end;
    if (position.totals == end) return Fit::good;  // the newest segment is full and the next one not started
    for (const auto& segment : segments) {
        const SegmentHeader& header = segment->header();
        if (header.before == position.totals && header.number == position.segment + 1) return Fit::good;
    }
    return Fit::useless;
}

Result<OpenedIndex> start_again(RowStorage& storage, const Retention& retention, std::string why) {
    if (Status discarded = storage.discard(); !discarded) return std::move(discarded).error();
    Result<std::unique_ptr<Index>> fresh = Index::open(storage, retention);
    if (!fresh) return std::move(fresh).error();
    return OpenedIndex{*std::move(fresh), std::move(why)};
}

}  // namespace

Result<OpenedIndex> open_index(RowStorage& storage, const Retention& retention, const SegmentCatalog& catalog) {
    Result<std::unique_ptr<Index>> opened = Index::open(storage, retention);
    if (!opened) {
        if (opened.error().code != "damaged_index"_code) return std::move(opened).error();
        return start_again(storage, retention, opened.error().message);
    }
    const IndexPosition position = (*opened)->position();
    const auto segments = catalog.snapshot();
    const Sequence last = segments.empty() ? 0 : segments.back()->end().totals.sequence;
    switch (fit(position, catalog)) {
        case Fit::good:
            return OpenedIndex{*std::move(opened), std::nullopt};
        case Fit::useless:
            opened->reset();
            return start_again(storage, retention,
                               "the index ends after record " + std::to_string(position.totals.sequence) +
                                   ", but no segment of the log begins there: the index is too old, or belongs to "
                                   "another log");
        case Fit::lost_end:
            break;
    }
    return Error{"damaged_log"_code,
                 "the index contains record " + std::to_string(position.totals.sequence) +
                     ", but the log ends with record " + std::to_string(last) + ": at least " +
                     std::to_string(position.totals.sequence - last) +
                     " records are missing. Put an undamaged copy of the newest segment back, or restore "
                     "a backup. To go on without what is missing, run `duewheel check --accept-lost-end` "
                     "on the data directory"};
}

Status seal_missing(const SegmentCatalog& catalog, Index& index) {
    for (const auto& segment : catalog.snapshot()) {
        const IndexPosition position = index.position();
        if (!segment->end().closed || segment->header().number <= position.segment) continue;
        if (Status sealed = seal_segment(*segment, catalog, index); !sealed) return sealed;
    }
    return {};
}

}  // namespace duewheel
