// The state of a log at one instant, which can be read at any speed while a server continues to write: used by
// `duewheel export`.
//
// The index of the server belongs to the server, so a separate one is built from the current segments, which verifies
// the checksums of every byte of the log. Then it is verified as at a start (index_proof.h). Nothing is changed in the
// data directory, and no lock is needed there. A backup works too.
//
// Memory use is that of one segment's table, and of the settings, schedules and watchdogs; the messages stay on disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "journal/segment_catalog.h"
#include "store/index.h"
#include "store/maintenance/retention.h"
#include "store/sorted_rows.h"

namespace duewheel {

// Called from time to time with the progress in bytes of segments; an error stops the build.
using ViewProgress = std::function<Status(std::uint64_t done, std::uint64_t all)>;

class LogView {
  public:
    // `rows` stores the index meanwhile; earlier content is discarded first. Files and rows must outlive the view.
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

    Status build(FileSystem& files, const std::string& data, const ViewProgress& progress);
    Status prove() const;

    RowStorage& rows_;
    LogIdentity identity_;
    SegmentCatalog segments_;
    Retention retention_{0, {0, 0}};  // the outcomes of messages are not needed
    std::unique_ptr<Index> index_;
};

}  // namespace duewheel
