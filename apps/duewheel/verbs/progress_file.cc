#include "progress_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "http_api/fields/json_text.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::size_t kReadBytesMax = std::size_t{64} << 10;  // several of the largest lines
constexpr std::size_t kReportedBytesMax = 64;

// The last bytes of the file, from the beginning of a line; empty if it cannot be read. Does not wait for a pipe.
std::string last_lines_of(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return {};
    struct stat about {};
    const bool is_file = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    const std::size_t size = is_file ? static_cast<std::size_t>(about.st_size) : 0;
    std::string text(std::min(size, kReadBytesMax), '\0');
    const ssize_t got = ::pread(file, text.data(), text.size(), static_cast<off_t>(size - text.size()));
    ::close(file);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (size > kReadBytesMax) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
    return text;
}

}  // namespace

Result<std::unique_ptr<ProgressFile>> ProgressFile::make() {
    std::error_code failed;
    std::string directory = (std::filesystem::temp_directory_path(failed) / "duewheel-work-XXXXXX").string();
    if (!failed && ::mkdtemp(directory.data()) == nullptr) failed.assign(errno, std::generic_category());
    if (failed) {
        return Error{"io_error"_code,
                     "The command gets no DUEWHEEL_PROGRESS_FILE, because no directory for it can be "
                     "created: " +
                         failed.message() + ". Set TMPDIR to a directory that can be written."};
    }
    return std::unique_ptr<ProgressFile>(new ProgressFile(std::move(directory)));
}

ProgressFile::~ProgressFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

std::optional<std::string> ProgressFile::read(bool has_ended) {
    const std::string text = last_lines_of(path());
    std::optional<std::string> wrong;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        const bool is_complete = end != rest.npos;
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(is_complete ? end + 1 : rest.size());
        if (is_complete ? read_line(line) : !has_ended) continue;
        if (!std::exchange(has_reported_, true)) wrong = cut_utf8(line, kReportedBytesMax);
    }
    return wrong;
}

// False if it is of neither kind. An empty line says nothing.
bool ProgressFile::read_line(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == line.npos) return true;
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view json = line.substr(blank);
    for (Kind& kind : kinds_) {
        if (line.substr(0, blank) != kind.member || !is_json_text(json)) continue;
        kind.json = json;
        return true;
    }
    return false;
}

}  // namespace duewheel
