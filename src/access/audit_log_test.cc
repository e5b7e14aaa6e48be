// The audit log on a simulated disk: its lines, its chain over rotating files, and the effects of a crash, a full disk,
// and a user who edits the files.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "access/audit_entry.h"
#include "access/audit_files.h"
#include "access/audit_writer.h"
#include "base/error_codes.h"
#include "support/sim_disk.h"

namespace duewheel::audit_log_test {
namespace {

const std::string kDirectory = "/data/audit";
constexpr InstantMs kNow = 1'800'000'000'000;

AuditEntry entry_of(std::string object, std::string verb = "queue.set") {
    AuditEntry entry;
    entry.time_ms = kNow;
    entry.verb = std::move(verb);
    entry.actor = kAnonymous;
    entry.address = "10.0.0.7";
    entry.name_space = "default";
    entry.object = std::move(object);
    entry.outcome = kOutcomeOk;
    return entry;
}

std::unique_ptr<AuditWriter> open(SimDisk& disk, AuditBounds bounds = {}) {
    Result<std::unique_ptr<AuditWriter>> writer = AuditWriter::open(disk, kDirectory, kNow, bounds);
    if (!writer) ADD_FAILURE() << writer.error().message;
    return writer ? *std::move(writer) : nullptr;
}

void append(AuditWriter& writer, const std::string& object) {
    const AuditEntry entry = entry_of(object);
    const Status appended = writer.append(std::span(&entry, 1));
    EXPECT_TRUE(appended.ok()) << appended.error().message;
}

// "whole", or where the chain breaks.
std::string verdict(SimDisk& disk) {
    const Result<AuditReport> report = verify_audit(disk, kDirectory);
    if (!report) return std::string(name_of(report.error().code));
    if (!report->first_break) return "whole";
    return report->first_break->file + ":" + std::to_string(report->first_break->line) + " " + report->first_break->why;
}

std::string content(SimDisk& disk, std::uint64_t number) {
    return *read_audit_file(disk, kDirectory, number);
}

void replace(SimDisk& disk, std::uint64_t number, const std::string& with) {
    const std::string path = kDirectory + "/" + audit_file_name(number);
    auto file = *disk.open(path, OpenMode::read_write);
    ASSERT_TRUE(file->truncate(0).ok());
    ASSERT_TRUE(file->write_at(0, std::as_bytes(std::span(with))).ok());
    ASSERT_TRUE(file->sync_data().ok());
}

std::vector<AuditEntry> entries(SimDisk& disk) {
    std::vector<AuditEntry> all;
    for (const std::uint64_t number : *audit_files(disk, kDirectory)) {
        for_each_audit_line(content(disk, number), [&](std::uint64_t, std::string_view line, bool) {
            if (const Result<AuditLine> read = decode_audit_line(line)) all.push_back(read->entry);
            return true;
        });
    }
    return all;
}

// The objects of the queue.set lines.
std::string objects(SimDisk& disk) {
    std::string text;
    for (const AuditEntry& entry : entries(disk)) {
        if (entry.verb == "queue.set") text += entry.object + " ";
    }
    return text;
}

// ---- lines

TEST(AuditLine, holds_what_happened_and_the_hash_of_the_line_before) {
    AuditChain chain;
    const std::string first = encode_audit_line(entry_of("mail"), chain);
    EXPECT_EQ(first.substr(0, first.find(",\"hash\"")),
              "{\"seq\":1,\"time\":\"2027-01-15T08:00:00.000Z\",\"verb\":\"queue.set\",\"actor\":\"anonymous\","
              "\"address\":\"10.0.0.7\",\"namespace\":\"default\",\"object\":\"mail\",\"outcome\":\"ok\",\"previous\":"
              "\"" +
                  std::string(64, '0') + "\"");
    EXPECT_TRUE(first.ends_with("\"}\n"));
    const AuditChain between = chain;
    const std::string second = encode_audit_line(entry_of("other"), chain);
    EXPECT_NE(second.find("\"previous\":\"" + between.hash + "\""), std::string::npos);
    const Result<AuditLine> read = decode_audit_line(second.substr(0, second.size() - 1));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->entry, entry_of("other"));
    EXPECT_EQ(read->at, chain);
    EXPECT_EQ(read->previous, between.hash);
}

TEST(AuditLine, comes_back_with_any_bytes_in_its_texts) {
    std::string all;
    for (int byte = 0; byte < 128; ++byte) all += static_cast<char>(byte);
    AuditEntry entry = entry_of(all + "grün \xe2\x80\xa8");
    entry.suppressed = 7;
    entry.call = "POST /v1/queues/\"a\\b\"/messages";
    entry.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    AuditChain chain{std::uint64_t{1} << 60, std::string(64, 'a')};
    const std::string line = encode_audit_line(entry, chain);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << "a name must not begin a line of its own";
    const Result<AuditLine> read = decode_audit_line(line.substr(0, line.size() - 1));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->entry, entry);

    entry.object = "bad \xff byte " + std::string(5'000, 'x');
    AuditChain other;
    const std::string cut = encode_audit_line(entry, other);
    EXPECT_LT(cut.size(), 2'500u);
    EXPECT_TRUE(decode_audit_line(cut.substr(0, cut.size() - 1)).ok());
}

TEST(AuditLine, of_any_other_spelling_is_damaged) {
    AuditChain chain;
    std::string line = encode_audit_line(entry_of("mail"), chain);
    line.pop_back();
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"seq\":1", "\"seq\":01"},
                                   {"\"seq\":1", "\"seq\": 1"},
                                   {"\"object\":\"mail\"", "\"object\":\"\\u006dail\""},
                                   {"{\"seq\"", " {\"seq\""},
                                   {"\"}", "\"} "},
                                   {"\"mail\"", "\"mai1\""},
                                   {"08:00:00.000Z", "08:00:00Z"},
                                   {"\"outcome\"", "\"more\":\"x\",\"outcome\""}}) {
        std::string changed = line;
        changed.replace(changed.find(from), from.size(), to);
        const Result<AuditLine> read = decode_audit_line(changed);
        ASSERT_FALSE(read.ok()) << changed;
        EXPECT_EQ(read.error().code, "damaged_audit_line"_code);
    }
    EXPECT_FALSE(decode_audit_line("").ok());
    for (std::size_t size = 0; size < line.size(); ++size) {
        EXPECT_FALSE(decode_audit_line(std::string_view(line).substr(0, size)).ok()) << size;
    }
}

// ---- the proof

TEST(AuditLog, is_whole_as_it_was_written_and_after_each_start) {
    SimDisk disk;
    for (int run = 0; run < 3; ++run) {
        const auto writer = open(disk);
        append(*writer, "a");
        append(*writer, "b");
        EXPECT_EQ(verdict(disk), "whole");
    }
    EXPECT_EQ(objects(disk), "a b a b a b ");
    const AuditReport report = *verify_audit(disk, kDirectory);
    EXPECT_EQ(report.files, 1u);
    EXPECT_EQ(report.lines, 7u) << "the first line states the number of the file";
    EXPECT_EQ(report.first_seq, 1u);
    EXPECT_EQ(report.end.seq, 7u);
    EXPECT_EQ(report.repairs, 0u);
}

TEST(AuditLog, with_any_byte_changed_is_found) {
    SimDisk disk;
    {
        const auto writer = open(disk, {.file_bytes_max = 600, .files_kept = 2, .files_max = 2});
        for (const char* object : {"a", "b", "c", "d", "e"}) append(*writer, object);
    }
    ASSERT_EQ(verdict(disk), "whole");
    const std::vector<std::uint64_t> numbers = *audit_files(disk, kDirectory);
    ASSERT_EQ(numbers.size(), 2u);
    ASSERT_GT(numbers.front(), 1u) << "rotation has removed some";
    for (const std::uint64_t number : numbers) {
        const std::string path = kDirectory + "/" + audit_file_name(number);
        const std::size_t bytes = content(disk, number).size();
        for (std::size_t at = 0; at < bytes; ++at) {
            for (const std::byte mask : {std::byte{1}, std::byte{0x20}, std::byte{0x80}, std::byte{0xff}}) {
                disk.flip(path, at, mask);
                EXPECT_NE(verdict(disk), "whole") << path << " at " << at;
                disk.flip(path, at, mask);
            }
        }
    }
    EXPECT_EQ(verdict(disk), "whole");
}

TEST(AuditLog, with_a_line_or_a_file_missing_added_or_moved_is_found) {
    SimDisk disk;
    {
        const auto writer = open(disk, {.file_bytes_max = 1'000, .files_max = 100});
        for (int i = 0; i < 12; ++i) append(*writer, std::to_string(i));
    }
    const std::vector<std::uint64_t> numbers = *audit_files(disk, kDirectory);
    ASSERT_GE(numbers.size(), 3u);
    const std::string first = content(disk, 1);
    const std::size_t line_end = first.find('\n', first.find('\n') + 1) + 1;
    const std::size_t line_begin = first.find('\n') + 1;
    const std::string line = first.substr(line_begin, line_end - line_begin);

    replace(disk, 1, first.substr(0, line_begin) + first.substr(line_end));
    EXPECT_EQ(verdict(disk), "audit-000001.jsonl:2 it does not follow the previous line") << "removed";
    replace(disk, 1, first + line);
    EXPECT_NE(verdict(disk), "whole") << "copied";
    replace(disk, 1, first.substr(0, line_end) + "\n" + first.substr(line_end));
    EXPECT_EQ(verdict(disk), "audit-000001.jsonl:3 it is not a line of an audit log") << "an empty line";
    replace(disk, 1, first);

    const std::string second = content(disk, 2);
    replace(disk, 2, content(disk, 3));
    EXPECT_NE(verdict(disk), "whole") << "swapped files";
    replace(disk, 2, second);
    ASSERT_EQ(verdict(disk), "whole");
    ASSERT_TRUE(disk.rename(kDirectory + "/audit-000002.jsonl", kDirectory + "/away").ok());
    EXPECT_EQ(verdict(disk), "audit-000002.jsonl:0 the file is missing");
    ASSERT_TRUE(disk.rename(kDirectory + "/away", kDirectory + "/audit-000002.jsonl").ok());
    ASSERT_TRUE(disk.remove(kDirectory + "/audit-000001.jsonl").ok());
    EXPECT_EQ(verdict(disk),
              "audit-000002.jsonl:0 audit-000001.jsonl is missing, and no file says that rotation removed it");
}

TEST(AuditLog, a_missing_one_is_reported) {
    SimDisk disk;
    EXPECT_EQ(verdict(disk), "not_found");
    ASSERT_TRUE(disk.make_directories(kDirectory).ok());
    EXPECT_EQ(verdict(disk), "no_audit_log");
}

// ---- rotation

TEST(AuditLog, keeps_a_number_of_files_and_states_what_was_removed) {
    SimDisk disk;
    const AuditBounds bounds{.file_bytes_max = 1'000, .files_kept = 3, .files_max = 3};
    {
        const auto writer = open(disk, bounds);
        for (int i = 0; i < 40; ++i) {
            append(*writer, std::to_string(i));
            ASSERT_EQ(verdict(disk), "whole") << i;
        }
    }
    const std::vector<std::uint64_t> numbers = *audit_files(disk, kDirectory);
    ASSERT_EQ(numbers.size(), 3u);
    for (const std::uint64_t number : numbers) EXPECT_LT(content(disk, number).size(), 1'000u + 500u);
    const AuditEntry newest =
        decode_audit_line(content(disk, numbers.back()).substr(0, content(disk, numbers.back()).find('\n')))->entry;
    EXPECT_EQ(newest.removed_files_through, numbers.front() - 1);
    EXPECT_EQ(newest.removed_seq + 1, verify_audit(disk, kDirectory)->first_seq);
    // One more is removed by hand.
    ASSERT_TRUE(disk.remove(kDirectory + "/" + audit_file_name(numbers.front())).ok());
    EXPECT_NE(verdict(disk), "whole");
}

// A tenant's 60,000 lines replaced all files within seconds, and the verification called the log intact.
TEST(AuditLog, keeps_files_until_their_lines_are_90_days_old_and_reports_what_went_before) {
    SimDisk disk;
    const AuditBounds bounds{.file_bytes_max = 1'000, .files_kept = 3, .files_max = 6};
    constexpr std::int64_t kDayMs = 86'400'000;
    const auto writer = open(disk, bounds);
    InstantMs now = kNow;
    const auto fill_a_file = [&] {
        for (const std::size_t files = audit_files(disk, kDirectory)->back();
             audit_files(disk, kDirectory)->back() == files;) {
            AuditEntry entry = entry_of("q");
            entry.time_ms = now;
            ASSERT_TRUE(writer->append(std::span(&entry, 1)).ok());
        }
    };
    for (int i = 0; i < 5; ++i, now += kDayMs) fill_a_file();
    EXPECT_EQ(audit_files(disk, kDirectory)->size(), 6u) << "all are young, and the number is allowed";
    EXPECT_EQ(writer->loss().lines, 0u);
    EXPECT_EQ(verify_audit(disk, kDirectory)->first_ms, kNow);

    now += kAuditKeepMs - 2 * kDayMs - kDayMs / 2;  // the first three files are old
    fill_a_file();
    EXPECT_EQ(audit_files(disk, kDirectory)->front(), 4u);
    EXPECT_EQ(writer->loss().lines, 0u);
    Result<AuditReport> report = verify_audit(disk, kDirectory);
    EXPECT_FALSE(report->lost_young_lines);
    EXPECT_EQ(report->first_ms, kNow + 2 * kDayMs);

    for (int i = 0; i < 4; ++i) fill_a_file();
    EXPECT_EQ(audit_files(disk, kDirectory)->size(), 6u);
    report = verify_audit(disk, kDirectory);
    EXPECT_TRUE(report->lost_young_lines);
    EXPECT_EQ(verdict(disk), "whole");
    EXPECT_GT(writer->loss().lines, 0u);
    EXPECT_EQ(writer->loss().whole_from_ms, report->first_ms);
}

TEST(AuditLog, on_a_small_volume_has_at_most_a_sixteenth_of_it) {
    EXPECT_EQ(AuditBounds::of_volume(0).files_max, 128u) << "unknown";
    EXPECT_EQ(AuditBounds::of_volume(1u << 30).files_max, 16u);
    EXPECT_EQ(AuditBounds::of_volume(std::uint64_t{8} << 30).files_max, 64u);
    EXPECT_EQ(AuditBounds::of_volume(std::uint64_t{1} << 40).files_max, 128u);
}

TEST(AuditLine, has_a_bounded_length_whatever_a_client_calls_itself_and_its_queues) {
    AuditEntry entry = entry_of(std::string(60'000, '\x01'));
    entry.actor = entry.name_space = entry.call = entry.traceparent = entry.object;
    AuditChain chain;
    EXPECT_LT(encode_audit_line(entry, chain).size(), 8'192u);
}

TEST(AuditLog, removes_files_later_that_a_crash_left) {
    SimDisk disk;
    const AuditBounds bounds{.file_bytes_max = 1'000, .files_kept = 2, .files_max = 2};
    const auto writer = open(disk, bounds);
    const std::uint64_t removals = disk.count(DiskOperation::remove);
    for (int i = 0; i < 40 && disk.count(DiskOperation::remove) == removals; ++i) {
        disk.fail(DiskOperation::remove);
        const AuditEntry entry = entry_of(std::to_string(i));
        static_cast<void>(writer->append(std::span(&entry, 1)));
    }
    ASSERT_EQ(audit_files(disk, kDirectory)->size(), 3u);
    EXPECT_EQ(verdict(disk), "whole");
    static_cast<void>(open(disk, bounds));
    EXPECT_EQ(audit_files(disk, kDirectory)->size(), 2u);
    EXPECT_EQ(verdict(disk), "whole");
}

// ---- crashes

TEST(AuditLog, a_torn_line_is_replaced_by_one_that_contains_it) {
    SimDisk disk;
    {
        const auto writer = open(disk);
        append(*writer, "kept");
        append(*writer, "torn");
    }
    const std::string whole = content(disk, 1);
    const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
    for (std::size_t size = last + 1; size < whole.size(); ++size) {
        replace(disk, 1, whole.substr(0, size));
        EXPECT_NE(verdict(disk).find("incomplete"), std::string::npos) << size;
        const auto writer = open(disk);
        EXPECT_EQ(writer->torn_bytes(), size - last);
        append(*writer, "next");
        EXPECT_EQ(verdict(disk), "whole") << size;
        EXPECT_EQ(objects(disk), "kept next ") << size;
        const std::vector<AuditEntry> all = entries(disk);
        const AuditEntry& repair = all[all.size() - 2];
        EXPECT_EQ(repair.verb, kAuditRepairVerb);
        EXPECT_EQ(repair.torn_bytes, size - last);
        EXPECT_EQ(repair.torn, whole.substr(last, size - last)) << "nothing of it is lost";
        EXPECT_EQ(verify_audit(disk, kDirectory)->repairs, 1u);
    }
    // One that is longer than the line in its place.
    replace(disk, 1, whole + std::string(5'000, '\0'));
    EXPECT_EQ(open(disk)->torn_bytes(), 5'000u);
    EXPECT_EQ(verdict(disk), "whole");
    EXPECT_EQ(entries(disk).back().torn_bytes, 5'000u);
}

// A user who changes the last line and restarts the server must not get it repaired.
TEST(AuditLog, a_complete_line_that_is_damaged_is_never_repaired) {
    SimDisk disk;
    {
        const auto writer = open(disk);
        append(*writer, "a");
        append(*writer, "b");
    }
    const std::string path = kDirectory + "/" + audit_file_name(1);
    disk.flip(path, content(disk, 1).size() - 30);
    const std::string damage = verdict(disk);
    EXPECT_EQ(damage, "audit-000001.jsonl:3 its hash does not match its content");
    {
        const auto writer = open(disk);
        EXPECT_TRUE(writer->found_damage());
        append(*writer, "goes on");
    }
    EXPECT_EQ(verdict(disk), damage);
    EXPECT_EQ(objects(disk), "a goes on ");
    EXPECT_FALSE(open(disk)->found_damage()) << "it is said once";
}

TEST(AuditLog, survives_a_power_cut_at_any_moment_without_a_silent_repair) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        SimDisk disk(seed);
        Random random(seed);
        const AuditBounds bounds{.file_bytes_max = 1'500, .files_kept = 3, .files_max = 3};
        std::set<std::string> durable;
        for (int run = 0; run < 3; ++run) {
            // The cut comes at one of the writes, syncs and removals of this run.
            std::uint64_t left = 1 + random.below(40);
            bool is_off = false;
            disk.set_hook([&](DiskOperation, std::string_view) {
                if (is_off || --left > 0) return;
                is_off = true;
                disk.power_off(random);
            });
            {
                Result<std::unique_ptr<AuditWriter>> writer = AuditWriter::open(disk, kDirectory, kNow, bounds);
                std::set<std::string> written;
                for (int i = 0; writer && !is_off && i < 10; ++i) {
                    const std::string object = std::to_string(run) + "." + std::to_string(i);
                    const AuditEntry entry = entry_of(object);
                    if (!(*writer)->append(std::span(&entry, 1))) break;
                    written.insert(object);
                    if (random.below(3) == 0 && (*writer)->sync()) durable.merge(written);
                }
            }
            disk.set_hook(nullptr);
            if (!is_off) disk.power_off(random);
            disk.power_on();
            const auto writer = open(disk, bounds);
            ASSERT_NE(writer, nullptr);
            // Sectors are written in any order, so a cut can damage a line that is not the last one. That is never
            // called whole; what is called whole has every synced line that rotation has not removed.
            const std::string found = verdict(disk);
            if (found != "whole") {
                EXPECT_TRUE(writer->found_damage() || found.find(".jsonl:") != std::string::npos) << found;
                break;
            }
            std::set<std::string> there;
            for (const AuditEntry& entry : entries(disk)) there.insert(entry.object);
            const bool rotated = verify_audit(disk, kDirectory)->first_seq > 1;
            for (const std::string& object : durable) {
                EXPECT_TRUE(rotated || there.contains(object)) << object << " was synced and is gone";
            }
        }
    }
}

// ---- full and failing disks

TEST(AuditLog, a_failed_write_changes_nothing_and_the_next_one_continues) {
    SimDisk disk;
    const AuditBounds bounds{.file_bytes_max = 1'500, .files_max = 50};
    const auto writer = open(disk, bounds);
    append(*writer, "first");
    for (int round = 0; round < 12; ++round) {
        const std::string before = objects(disk);
        const AuditEntry entry = entry_of(std::to_string(round));
        const std::vector<AuditEntry> both{entry, entry};
        for (std::uint64_t room = 0; room < 1'200; room += 50) {
            disk.set_capacity(disk.used_bytes() + room);
            const Status appended = writer->append(both);
            if (appended) break;
            EXPECT_EQ(appended.error().code, "no_space"_code);
            EXPECT_EQ(objects(disk), before) << "half of it";
            EXPECT_EQ(verdict(disk), "whole");
        }
        disk.set_capacity(SimDisk::kDefaultCapacityBytes);
        if (objects(disk) == before) {
            EXPECT_TRUE(writer->append(both).ok());
        }
        EXPECT_EQ(objects(disk), before + entry.object + " " + entry.object + " ");
        EXPECT_EQ(verdict(disk), "whole");
    }
    EXPECT_GT(audit_files(disk, kDirectory)->size(), 3u) << "rotation met a full disk too";
}

// A purge is how an operator makes space on a full disk, and it needs a line.
TEST(AuditLog, on_a_full_disk_is_written_into_its_reserve) {
    SimDisk disk;
    const auto writer = open(disk);
    disk.set_capacity(disk.used_bytes());
    for (int i = 0; i < 100; ++i) append(*writer, std::to_string(i));
    disk.set_capacity(disk.used_bytes());
    const AuditEntry entry = entry_of("one too many");
    EXPECT_EQ(writer->append(std::span(&entry, 1)).error().code, "no_space"_code);
    EXPECT_TRUE(writer->sync().ok()) << "there is no space for a new reserve";
    EXPECT_EQ(writer->append(std::span(&entry, 1)).error().code, "no_space"_code);
    EXPECT_EQ(verdict(disk), "whole");
    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    EXPECT_TRUE(writer->sync().ok());
    disk.set_capacity(disk.used_bytes());
    EXPECT_TRUE(writer->append(std::span(&entry, 1)).ok()) << "it has its reserve again";
    EXPECT_EQ(verdict(disk), "whole");
}

TEST(AuditLog, one_that_cannot_be_started_starts_when_there_is_space) {
    SimDisk disk;
    disk.set_capacity(10);
    EXPECT_EQ(AuditWriter::open(disk, kDirectory, kNow).error().code, "no_space"_code);
    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    append(*open(disk), "a");
    EXPECT_EQ(verdict(disk), "whole");
}

}  // namespace
}  // namespace duewheel::audit_log_test
