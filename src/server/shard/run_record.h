// What an operator learns about how the last run ended (store/maintenance/run_end.h): an event at the start, and the
// metric. And the record that the next start reads.
#pragma once

#include <string>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "store/maintenance/run_end.h"

namespace duewheel {

// For the process that holds the lock on the directory. Each call uses the disk.
class RunRecord {
  public:
    RunRecord(std::string directory, LogSink& log) : directory_(std::move(directory)), log_(log) {}
    RunRecord(const RunRecord&) = delete;
    RunRecord& operator=(const RunRecord&) = delete;
    ~RunRecord();

    // Logs an end that was no stop. Code: `io_error`.
    Status read_last();
    RunEnd last() const { return last_; }

    // When nothing can refuse the start any more; from then on a lack of memory is recorded too (last_resort.h). On a
    // full disk nothing is recorded, and the next start takes this run for stopped, even if it is killed. Code:
    // `io_error`.
    Status begin();

    // On any thread. What cannot be saved is logged.
    void stop() { log_unless_saved(record_stop(posix_file_system(), directory_)); }
    void fail() { log_unless_saved(record_fatal_error(posix_file_system(), directory_)); }

  private:
    void log_unless_saved(const Status& saved);

    const std::string directory_;
    LogSink& log_;
    RunEnd last_ = RunEnd::stopped;
};

}  // namespace duewheel
