#include "server/shard/run_record.h"

#include "base/error_codes.h"
#include "server/process/last_resort.h"

namespace duewheel {

RunRecord::~RunRecord() {
    record_last_resort_in(nullptr);
}

Status RunRecord::read_last() {
    const Result<RunEnd> read = read_last_run(posix_file_system(), directory_);
    if (!read) return read.error();
    last_ = *read;
    if (last_ == RunEnd::stopped) return {};
    log_.warning(
        "last_run_not_stopped",
        last_ == RunEnd::fatal
            ? "The last run ended with a fatal error: the event fatal_error before this start names it."
            : "The last run was killed, or the machine was: it has not stopped by itself. Every change that it "
              "acknowledged is on disk.",
        {{"ended", run_end_name(last_)}});
    return {};
}

Status RunRecord::begin() {
    Status begun = begin_run(posix_file_system(), directory_);
    if (begun) record_last_resort_in(this);
    return !begun && begun.error().code == "no_space"_code ? Status() : begun;
}

void RunRecord::log_unless_saved(const Status& saved) {
    if (saved) return;
    log_.warning("end_not_saved", "How this run ended cannot be saved, so the next start will say that it was killed.",
                 {{"error", saved.error().message}});
}

}  // namespace duewheel
