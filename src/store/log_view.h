// What a log adds up to at one instant, to be read at leisure, also while a server writes on: what `duewheel export`
// reads.
//
// The server's own index belongs to the server, so one is built anew, in a place of its own, out of the segments that
// are there; that reads every byte of the log against its checksums. Then it is proven, as a start proves one
// (index_proof.h). Nothing is changed in the data directory, and no lock is needed there. A backup may be looked at
// too.
//
// Memory is that of one segment's table, and of the settings, schedules and watchdogs; the messages are on disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "journal/segment_catalog.h"
#include "store/index.h"
#include "store/retention.h"
#include "store/sorted_rows.h"

namespace duewheel {

// Told now and then how far it has come, in bytes of segments; an error ends it.
using ViewProgress = std::function<Status(std::uint64_t done, std::uint64_t all)>;

class LogView {
  public:
    // `rows` is where the index lives meanwhile: whatever is there is discarded first. Files and rows outlive the view.
    // Codes: those of `progress`, `not_found` (there is no log in `data`), `not_a_data_directory`,
    // `damaged_log`, `newer_format`, `no_space`, `io_error`. About 2 us a message.
    static Result<std::unique_ptr<LogView>> open(FileSystem& files, const std::string& data, RowStorage& rows,
                                                 const ViewProgress& progress = {});

    const LogIdentity& identity() const { return identity_; }
    Totals totals() const { return index_->position().totals; }
    const Index& index() const { return *index_; }
    const SegmentCatalog& segments() const { return segments_; }

  private:
    explicit LogView(RowStorage& rows) : rows_(rows) {}

    Status build(FileSystem& files, const std::string& directory, const ViewProgress& progress);
    Status prove() const;

    RowStorage& rows_;
    LogIdentity identity_;
    SegmentCatalog segments_;
    Retention retention_{0, {0, 0}};  // how messages ended is of no interest
    std::unique_ptr<Index> index_;
};

}  // namespace duewheel
