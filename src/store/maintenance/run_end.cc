#include "store/maintenance/run_end.h"

#include <algorithm>
#include <vector>

#include "base/error_codes.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {

std::string_view run_end_name(RunEnd end) {
    switch (end) {
        case RunEnd::stopped:
            return "stopped";
        case RunEnd::killed:
            return "killed";
        case RunEnd::fatal:
            break;
    }
    return "fatal";
}

Result<RunEnd> read_last_run(const FileSystem& files, const std::string& directory) {
    const Result<std::vector<std::string>> names = files.list(directory);
    if (!names) return names.error();
    const auto is_there = [&](const char* mark) {
        return std::find(names->begin(), names->end(), mark) != names->end();
    };
    if (is_there(kFailedMark)) return RunEnd::fatal;
    return is_there(kRunningMark) ? RunEnd::killed : RunEnd::stopped;
}

Status begin_run(FileSystem& files, const std::string& directory) {
    if (Status begun = write_running_mark(files, directory); !begun) return begun;
    return remove_mark(files, directory, kFailedMark);
}

Status record_stop(FileSystem& files, const std::string& directory) {
    return remove_mark(files, directory, kRunningMark);
}

Status record_fatal_error(FileSystem& files, const std::string& directory) {
    Status renamed = files.rename(directory + "/" + kRunningMark, directory + "/" + kFailedMark);
    if (!renamed && renamed.error().code == "not_found"_code) return {};
    return renamed ? files.sync_directory(directory) : renamed;
}

}  // namespace duewheel
