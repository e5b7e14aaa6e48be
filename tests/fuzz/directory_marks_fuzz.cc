// The mark files beside a log, which identify the directory. Each is refused, or is the same after it is written again;
// and none with a wrong checksum is accepted.
//
// The first byte selects the mark, and whether a valid checksum is appended, because a fuzzer cannot guess one.
#include <span>
#include <string>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "journal/segment_format.h"
#include "store/maintenance/directory_marks.h"
#include "support/sim_disk.h"

namespace duewheel::directory_marks_fuzz {
namespace {

constexpr const char* kDirectory = "/data";

void put(SimDisk& disk, const char* name, std::string_view bytes) {
    const auto file = disk.open(std::string(kDirectory) + "/" + name, OpenMode::create);
    require(file.ok() && (*file)->write_at(0, std::as_bytes(std::span(bytes))).ok(), "a file cannot be written");
}

template <class Mark, class Read>
void judge(SimDisk& disk, const char* name, std::string_view bytes, bool fits, Read read) {
    put(disk, name, bytes);
    const Result<std::optional<Mark>> mark = read(disk, kDirectory);
    if (!mark) {
        require(mark.error().code == "damaged_mark"_code, "a mark is refused otherwise:", name_of(mark.error().code));
        return;
    }
    require(mark->has_value(), "a mark that is there is not seen");
    require(fits || bytes.find("checksum ") != std::string_view::npos, "a mark without a checksum was taken");
    require(write_mark(disk, kDirectory, **mark).ok(), "a mark cannot be written");
    const Result<std::optional<Mark>> again = read(disk, kDirectory);
    require(again.ok() && *again == *mark, "a mark is another after writing");
    // With any one byte of it turned it is none.
    const auto file = disk.open(std::string(kDirectory) + "/" + name, OpenMode::read).value();
    const std::uint64_t size = file->size().value();
    disk.flip(std::string(kDirectory) + "/" + name, bytes.size() % size, std::byte{0x20});
    const Result<std::optional<Mark>> turned = read(disk, kDirectory);
    require(!turned.ok() && turned.error().code == "damaged_mark"_code, "a damaged mark was taken");
}

}  // namespace

void fuzz(std::string_view input) {
    if (input.empty()) return;
    const auto how = static_cast<unsigned char>(input.front());
    const bool fits = (how & 1) != 0;
    const bool is_backup = (how & 2) != 0;
    const bool is_clock = (how & 4) != 0;
    std::string bytes(input.substr(1));
    if (fits) {
        bytes.insert(0, "duewheel 1\n");
        bytes += "checksum " + std::to_string(area_hash(bytes)) + "\n";
    }
    SimDisk disk;
    require(disk.make_directories(kDirectory).ok(), "no directory can be made");
    if (is_clock) {
        judge<ClockMark>(disk, kClockMark, bytes, fits, read_clock_mark);
    } else if (is_backup) {
        judge<BackupMark>(disk, kBackupMark, bytes, fits, read_backup_mark);
    } else {
        judge<RestoredMark>(disk, kRestoredMark, bytes, fits, read_restored_mark);
    }
}

}  // namespace duewheel::directory_marks_fuzz
