#include "store/maintenance/directory_marks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "base/error_codes.h"
#include "base/hex.h"
#include "journal/segment.h"
#include "message/server_time.h"

namespace duewheel {
namespace {

constexpr std::string_view kHead = "duewheel 1\n";
constexpr std::uint64_t kMarkBytesMax = 4096;

using Lines = std::vector<std::pair<std::string, std::string>>;
using Values = std::map<std::string, std::string, std::less<>>;

Status write(FileSystem& files, const std::string& directory, const std::string& name, const Lines& lines) {
    std::string text(kHead);
    for (const auto& [key, value] : lines) text += key + " " + value + "\n";
    text += "checksum " + std::to_string(area_hash(text)) + "\n";
    const std::string partial = directory + "/" + name + ".partial";
    if (Status removed = files.remove(partial); !removed && removed.error().code != "not_found"_code) return removed;
    Result<std::unique_ptr<File>> file = files.open(partial, OpenMode::create);
    if (!file) return std::move(file).error();
    Status done = (*file)->write_at(0, std::as_bytes(std::span(text)));
    if (done) done = (*file)->sync_data();
    if (done) done = files.rename(partial, directory + "/" + name);
    if (done) done = files.sync_directory(directory);
    return done;
}

Error damaged_mark(const std::string& path) {
    const auto is = [&](const char* name) { return path.ends_with(std::string("/") + name); };
    const char* advice = "Restore the directory again from a complete backup";
    if (is(kClockMark)) advice = "The next start replaces it, and does not trust the wall clock at first";
    if (is(kEndMark)) advice = "The next start replaces it, and cannot tell whether the end of the log is missing";
    return {"damaged_mark"_code, path + " is damaged. " + advice};
}

Result<std::optional<Values>> read(FileSystem& files, const std::string& path) {
    Result<std::unique_ptr<File>> file = files.open(path, OpenMode::read);
    if (!file && file.error().code == "not_found"_code) return std::optional<Values>();
    if (!file) return std::move(file).error();
    const Result<std::uint64_t> size = (*file)->size();
    if (!size) return size.error();
    if (*size > kMarkBytesMax) return damaged_mark(path);
    std::string text(*size, '\0');
    const Result<std::size_t> got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!got) return got.error();
    const std::size_t sum = text.rfind("checksum ");
    if (*got != text.size() || !text.starts_with(kHead) || sum == std::string::npos) return damaged_mark(path);
    const std::string_view checked = std::string_view(text).substr(0, sum);
    if (text.substr(sum) != "checksum " + std::to_string(area_hash(checked)) + "\n") return damaged_mark(path);
    Values values;
    for (std::size_t at = kHead.size(); at < sum;) {
        const std::size_t end = text.find('\n', at);
        const std::size_t space = text.find(' ', at);
        if (space > end) return damaged_mark(path);
        values[text.substr(at, space - at)] = text.substr(space + 1, end - space - 1);
        at = end + 1;
    }
    return std::optional(std::move(values));
}

Result<bool> is_there(const FileSystem& files, const std::string& directory, const char* mark) {
    const Result<std::vector<std::string>> names = files.list(directory);
    if (!names) return names.error();
    return std::find(names->begin(), names->end(), mark) != names->end();
}

// A wrong checksum was detected before; a missing value belongs to another version.
template <class Number>
bool take(const Values& values, std::string_view key, Number& number) {
    const auto found = values.find(key);
    if (found == values.end()) return false;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

bool take(const Values& values, std::string_view key, std::span<std::byte> bytes) {
    const auto found = values.find(key);
    if (found == values.end() || found->second.size() != 2 * bytes.size()) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        unsigned byte = 0;
        const char* at = found->second.data() + 2 * i;
        const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
        if (error != std::errc() || end != at + 2) return false;
        bytes[i] = static_cast<std::byte>(byte);
    }
    return true;
}

// Nothing if there is no mark; damaged unless `fill` finds all its values.
template <class Mark, class Fill>
Result<std::optional<Mark>> read_as(FileSystem& files, const std::string& directory, const char* name, Fill fill) {
    const std::string path = directory + "/" + name;
    const Result<std::optional<Values>> values = read(files, path);
    if (!values) return values.error();
    if (!*values) return std::optional<Mark>();
    Mark mark;
    if (!fill(**values, mark)) return damaged_mark(path);
    return std::optional(std::move(mark));
}

}  // namespace

Status write_mark(FileSystem& files, const std::string& directory, const BackupMark& mark) {
    return write(files, directory, kBackupMark,
                 {{"server_time_ms", std::to_string(mark.server_time_ms)},
                  {"sequence", std::to_string(mark.sequence)},
                  {"pending", std::to_string(mark.pending)}});
}

Status write_mark(FileSystem& files, const std::string& directory, const RestoredMark& mark) {
    return write(files, directory, kRestoredMark,
                 {{"sequence", std::to_string(mark.sequence)},
                  {"past_until_ms", std::to_string(mark.past_until_ms)},
                  {"ids_from", std::to_string(mark.ids_from)},
                  {"salt", hex(mark.salt)},
                  {"commit", std::to_string(mark.commit)},
                  {"salt_before", hex(mark.salt_before)}});
}

Status write_restoring_mark(FileSystem& files, const std::string& directory) {
    return write(files, directory, kRestoringMark, {});
}

Status write_running_mark(FileSystem& files, const std::string& directory) {
    return write(files, directory, kRunningMark, {});
}

Status write_mark(FileSystem& files, const std::string& directory, const ClockMark& mark) {
    return write(files, directory, kClockMark,
                 {{"machine_run", mark.machine_run},
                  {"ahead_of_boot_ms", std::to_string(mark.ahead_of_boot_ms)},
                  {"doubted", mark.doubted ? "1" : "0"}});
}

Status write_mark(FileSystem& files, const std::string& directory, const BackedUpMark& mark) {
    return write(files, directory, kBackedUpMark, {{"wall_time_ms", std::to_string(mark.wall_time_ms)}});
}

Result<std::optional<BackedUpMark>> read_backed_up_mark(FileSystem& files, const std::string& directory) {
    return read_as<BackedUpMark>(files, directory, kBackedUpMark, [](const Values& values, BackedUpMark& mark) {
        return take(values, "wall_time_ms", mark.wall_time_ms);
    });
}

Status write_mark(FileSystem& files, const std::string& directory, const DamagePlace& mark) {
    return write(files, directory, kDamageMark, {{"file", mark.file}, {"offset", std::to_string(mark.offset)}});
}

Status write_mark(FileSystem& files, const std::string& directory, const EndMark& mark) {
    return write(files, directory, kEndMark,
                 {{"instance", hex(mark.end.instance)},
                  {"segment", std::to_string(mark.end.segment)},
                  {"sequence", std::to_string(mark.end.sequence)},
                  {"commit", std::to_string(mark.end.commit)},
                  {"stopped", mark.stopped ? "1" : "0"}});
}

Result<std::optional<EndMark>> read_end_mark(FileSystem& files, const std::string& directory) {
    return read_as<EndMark>(files, directory, kEndMark, [](const Values& values, EndMark& mark) {
        int stopped = 0;
        const bool is_whole = take(values, "instance", std::span(mark.end.instance)) &&
                              take(values, "segment", mark.end.segment) &&
                              take(values, "sequence", mark.end.sequence) && take(values, "commit", mark.end.commit) &&
                              take(values, "stopped", stopped) && (stopped == 0 || stopped == 1);
        mark.stopped = stopped == 1;
        return is_whole;
    });
}

Status remove_mark(FileSystem& files, const std::string& directory, const char* name) {
    Status removed = files.remove(directory + "/" + name);
    if (!removed && removed.error().code == "not_found"_code) return {};
    return removed ? files.sync_directory(directory) : removed;
}

Result<std::optional<DamagePlace>> read_damage_mark(FileSystem& files, const std::string& directory) {
    return read_as<DamagePlace>(files, directory, kDamageMark, [](const Values& values, DamagePlace& mark) {
        const auto file = values.find("file");
        if (file == values.end() || !take(values, "offset", mark.offset)) return false;
        mark.file = file->second;
        return true;
    });
}

Result<std::optional<ClockMark>> read_clock_mark(FileSystem& files, const std::string& directory) {
    return read_as<ClockMark>(files, directory, kClockMark, [](const Values& values, ClockMark& mark) {
        int doubted = 0;
        const auto run = values.find("machine_run");
        const bool is_whole = run != values.end() && take(values, "ahead_of_boot_ms", mark.ahead_of_boot_ms) &&
                              mark.ahead_of_boot_ms >= -kServerTimeMaxMs && mark.ahead_of_boot_ms <= kServerTimeMaxMs &&
                              take(values, "doubted", doubted) && (doubted == 0 || doubted == 1);
        if (!is_whole) return false;
        mark.machine_run = run->second;
        mark.doubted = doubted == 1;
        return true;
    });
}

Result<std::optional<BackupMark>> read_backup_mark(FileSystem& files, const std::string& directory) {
    return read_as<BackupMark>(files, directory, kBackupMark, [](const Values& values, BackupMark& mark) {
        return take(values, "server_time_ms", mark.server_time_ms) && take(values, "sequence", mark.sequence) &&
               take(values, "pending", mark.pending);
    });
}

Result<std::optional<RestoredMark>> read_restored_mark(FileSystem& files, const std::string& directory) {
    return read_as<RestoredMark>(files, directory, kRestoredMark, [](const Values& values, RestoredMark& mark) {
        return take(values, "sequence", mark.sequence) && take(values, "past_until_ms", mark.past_until_ms) &&
               take(values, "ids_from", mark.ids_from) && take(values, "salt", std::span(mark.salt)) &&
               (!values.contains("commit") ||  // of an earlier version: no such tokens
                (take(values, "commit", mark.commit) && take(values, "salt_before", std::span(mark.salt_before))));
    });
}

Status refuse_unfinished_restore(const FileSystem& files, const std::string& directory) {
    const Result<bool> found = is_there(files, directory, kRestoringMark);
    if (!found) return found.error();
    if (!*found) return {};
    return Error{"not_a_data_directory"_code,
                 "the restore into " + directory +
                     " was interrupted. Remove the directory and restore again. Nothing was "
                     "changed"};
}

Status refuse_what_is_no_data_directory(const FileSystem& files, const std::string& directory) {
    const Result<bool> is_backup = is_there(files, directory, kBackupMark);
    if (!is_backup) return is_backup.error();
    if (*is_backup) {
        return Error{"not_a_data_directory"_code, directory + " is a backup. Restore it with `duewheel restore " +
                                                      directory +
                                                      " DIR`, and start the server on DIR. Nothing was changed"};
    }
    return refuse_unfinished_restore(files, directory);
}

Status refuse_replicated_log(const FileSystem& files, const std::string& directory) {
    const Result<bool> found = is_there(files, directory, "topic");
    if (!found) return found.error().code == "not_found"_code ? Status() : Status(found.error());
    if (!*found) return {};
    return Error{"log_is_replicated"_code,
                 directory +
                     " belongs to a node of a replicated log, and what is written to it alone is missing on the other "
                     "nodes. Set kafka.log.replicate. To go on without them, stop all nodes and remove the file " +
                     directory + "/topic. Nothing was changed"};
}

}  // namespace duewheel
