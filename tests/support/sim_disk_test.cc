// The loss rules of the simulated disk. Each test crashes many disks with the same history and examines all results:
// each possible one occurs, and no other.
#include "support/sim_disk.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::sim_disk_test {
namespace {

ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::string text_of(const File& file) {
    std::string text(file.size().value(), '?');
    EXPECT_EQ(file.read_at(0, std::as_writable_bytes(std::span(text))).value(), text.size());
    return text;
}

std::string content(SimDisk& disk, const std::string& path) {
    const auto file = disk.open(path, OpenMode::read);
    return file.ok() ? text_of(**file) : std::string(name_of(file.error().code));
}

std::unique_ptr<File> created(SimDisk& disk, const std::string& path, std::string_view text = {}) {
    auto file = disk.open(path, OpenMode::create);
    EXPECT_TRUE(file.ok());
    EXPECT_TRUE((*file)->write_at(0, bytes_of(text)).ok());
    return std::move(*file);
}

// A file whose name and text are durable.
std::unique_ptr<File> durable_file(SimDisk& disk, const std::string& path, std::string_view text = {}) {
    auto file = created(disk, path, text);
    EXPECT_TRUE(file->sync_data().ok());
    EXPECT_TRUE(disk.sync_directory("/").ok());
    return file;
}

// The names in the root and what the files hold: "a=x b=y".
std::string picture(SimDisk& disk) {
    std::string all;
    for (const std::string& name : disk.list("/").value()) {
        all += (all.empty() ? "" : " ") + name + "=" + content(disk, "/" + name);
    }
    return all;
}

// What comes out when `life` is lived on a fresh disk, the disk crashes, and `look` looks; for many seeds.
std::set<std::string> ends_of(const std::function<void(SimDisk&)>& life,
                              const std::function<std::string(SimDisk&)>& look = picture) {
    std::set<std::string> ends;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SimDisk disk(seed);
        life(disk);
        Random random(seed);
        disk.crash(random);
        ends.insert(look(disk));
    }
    return ends;
}

using Ends = std::set<std::string>;

TEST(SimDisk, what_was_synced_is_never_lost) {
    EXPECT_EQ(ends_of([](SimDisk& disk) { durable_file(disk, "/f", "safe"); }), Ends{"f=safe"});
}

TEST(SimDisk, an_unsynced_write_is_kept_or_lost_or_only_the_length_of_it) {
    const auto ends = ends_of([](SimDisk& disk) {
        const auto file = durable_file(disk, "/f", "ab");
        ASSERT_TRUE(file->write_at(2, bytes_of("cd")).ok());
    });
    EXPECT_EQ(ends, (Ends{"f=ab", "f=abcd", std::string("f=ab\0\0", 6)}));
}

TEST(SimDisk, a_write_over_a_sector_edge_is_torn_there_and_nowhere_else) {
    const std::string old(1024, 'o');
    const auto ends = ends_of(
        [&](SimDisk& disk) {
            const auto file = durable_file(disk, "/f", old);
            ASSERT_TRUE(file->write_at(510, bytes_of("1234")).ok());
        },
        [](SimDisk& disk) { return content(disk, "/f").substr(509, 6); });
    EXPECT_EQ(ends, (Ends{"oooooo", "o12ooo", "ooo34o", "o1234o"}));
}

TEST(SimDisk, writes_to_different_sectors_are_reordered) {
    const std::string old(1024, 'o');
    const auto ends = ends_of(
        [&](SimDisk& disk) {
            const auto file = durable_file(disk, "/f", old);
            ASSERT_TRUE(file->write_at(0, bytes_of("1")).ok());
            ASSERT_TRUE(file->write_at(512, bytes_of("2")).ok());
        },
        [](SimDisk& disk) {
            const std::string text = content(disk, "/f");
            return std::string{text[0], text[512]};
        });
    EXPECT_EQ(ends, (Ends{"oo", "1o", "o2", "12"}));
}

TEST(SimDisk, a_sector_ends_as_one_of_the_versions_that_it_had) {
    const auto ends = ends_of([](SimDisk& disk) {
        const auto file = durable_file(disk, "/f", "aaaa");
        ASSERT_TRUE(file->write_at(0, bytes_of("bb")).ok());
        ASSERT_TRUE(file->write_at(1, bytes_of("c")).ok());
    });
    EXPECT_EQ(ends, (Ends{"f=aaaa", "f=bbaa", "f=bcaa"}));
}

TEST(SimDisk, an_unsynced_truncation_is_kept_or_lost) {
    const auto ends = ends_of([](SimDisk& disk) {
        const auto file = durable_file(disk, "/f", "abc");
        ASSERT_TRUE(file->truncate(1).ok());
    });
    EXPECT_EQ(ends, (Ends{"f=a", "f=abc"}));
}

TEST(SimDisk, a_crash_may_keep_all_or_nothing_of_a_long_file) {
    const auto ends = ends_of(
        [](SimDisk& disk) {
            const auto file = durable_file(disk, "/f");
            ASSERT_TRUE(file->write_at(0, std::vector<std::byte>(100 * SimDisk::kSectorBytes, std::byte{1})).ok());
        },
        [](SimDisk& disk) {
            const std::string text = content(disk, "/f");
            const auto kept = std::count(text.begin(), text.end(), '\1') / 512;
            return std::string(kept == 0     ? "none"
                               : kept == 100 ? "all"
                               : kept < 30   ? "few"
                               : kept < 70   ? "half"
                                             : "most");
        });
    EXPECT_EQ(ends, (Ends{"none", "few", "half", "most", "all"}));
}

TEST(SimDisk, a_synced_file_without_a_synced_name_may_be_gone) {
    const auto ends = ends_of([](SimDisk& disk) { ASSERT_TRUE(created(disk, "/f", "x")->sync_data().ok()); });
    EXPECT_EQ(ends, (Ends{"", "f=x"}));
}

TEST(SimDisk, a_synced_name_does_not_make_the_bytes_durable) {
    const auto ends = ends_of([](SimDisk& disk) {
        created(disk, "/f", "x");
        ASSERT_TRUE(disk.sync_directory("/").ok());
    });
    EXPECT_EQ(ends, (Ends{"f=", std::string("f=\0", 3), "f=x"}));
}

TEST(SimDisk, an_unsynced_removal_may_come_back) {
    const auto ends = ends_of([](SimDisk& disk) {
        durable_file(disk, "/f", "x");
        ASSERT_TRUE(disk.remove("/f").ok());
    });
    EXPECT_EQ(ends, (Ends{"", "f=x"}));
}

TEST(SimDisk, a_synced_removal_does_not_come_back) {
    const auto ends = ends_of([](SimDisk& disk) {
        durable_file(disk, "/f", "x");
        ASSERT_TRUE(disk.remove("/f").ok());
        ASSERT_TRUE(disk.sync_directory("/").ok());
    });
    EXPECT_EQ(ends, Ends{""});
}

TEST(SimDisk, a_rename_is_there_whole_or_not_at_all) {
    const auto ends = ends_of([](SimDisk& disk) {
        durable_file(disk, "/old", "1");
        durable_file(disk, "/new", "2");
        ASSERT_TRUE(disk.rename("/new", "/old").ok());
    });
    EXPECT_EQ(ends, (Ends{"new=2 old=1", "old=2"}));
}

TEST(SimDisk, changes_of_one_name_keep_their_order) {
    const auto ends = ends_of([](SimDisk& disk) {
        durable_file(disk, "/f", "1");
        ASSERT_TRUE(disk.rename("/f", "/g").ok());
        ASSERT_TRUE(created(disk, "/f", "2")->sync_data().ok());
    });
    EXPECT_EQ(ends, (Ends{"f=1", "g=1", "f=2 g=1"}));
}

TEST(SimDisk, changes_of_different_names_are_reordered) {
    const auto ends = ends_of([](SimDisk& disk) {
        created(disk, "/f");
        created(disk, "/g");
    });
    EXPECT_EQ(ends, (Ends{"", "f=", "g=", "f= g="}));
}

TEST(SimDisk, sync_of_one_directory_leaves_the_others_waiting) {
    const auto ends = ends_of(
        [](SimDisk& disk) {
            ASSERT_TRUE(disk.make_directories("/d").ok());
            created(disk, "/d/f");
            ASSERT_TRUE(disk.sync_directory("/").ok());
        },
        [](SimDisk& disk) { return content(disk, "/d/f"); });
    EXPECT_EQ(ends, (Ends{"", "not_found"}));
}

TEST(SimDisk, made_directories_are_durable) {
    const auto ends = ends_of([](SimDisk& disk) { ASSERT_TRUE(disk.make_directories("/a/b").ok()); },
                              [](SimDisk& disk) { return std::string(disk.list("/a/b").ok() ? "there" : "gone"); });
    EXPECT_EQ(ends, Ends{"there"});
}

TEST(SimDisk, a_removed_tree_may_come_back_in_any_part) {
    const auto ends = ends_of(
        [](SimDisk& disk) {
            ASSERT_TRUE(disk.make_directories("/d/e").ok());
            created(disk, "/d/f");
            created(disk, "/d/e/g");
            ASSERT_TRUE(disk.sync_directory("/d").ok());
            ASSERT_TRUE(disk.sync_directory("/d/e").ok());
            ASSERT_TRUE(disk.remove_tree("/d").ok());
        },
        [](SimDisk& disk) {
            if (!disk.list("/d").ok()) return std::string("gone");
            std::string left = "d";
            if (disk.list("/d/e").ok()) left += " e";
            if (content(disk, "/d/f").empty()) left += " f";
            if (content(disk, "/d/e/g").empty()) left += " g";
            return left;
        });
    EXPECT_EQ(ends, (Ends{"gone", "d", "d f", "d e", "d e f", "d e g", "d e f g"}));
}

// The page cache forgets what it could not write: the next sync succeeds, and the bytes are still not there.
TEST(SimDisk, after_a_failed_sync_a_successful_one_restores_nothing) {
    const auto ends = ends_of([](SimDisk& disk) {
        const auto file = durable_file(disk, "/f", "a");
        ASSERT_TRUE(file->write_at(0, bytes_of("b")).ok());
        disk.fail(DiskOperation::sync_data);
        ASSERT_EQ(file->sync_data().error().code, "io_error"_code);
        ASSERT_EQ(text_of(*file), "b");
        ASSERT_TRUE(file->write_at(1, bytes_of("c")).ok());
        ASSERT_TRUE(file->sync_data().ok());
    });
    EXPECT_EQ(ends, (Ends{"f=ac", "f=bc"}));
}

TEST(SimDisk, after_a_failed_sync_of_a_directory_names_are_in_doubt) {
    const auto ends = ends_of([](SimDisk& disk) {
        created(disk, "/f");
        disk.fail(DiskOperation::sync_directory);
        ASSERT_EQ(disk.sync_directory("/").error().code, "io_error"_code);
        ASSERT_TRUE(disk.sync_directory("/").ok());
    });
    EXPECT_EQ(ends, (Ends{"", "f="}));
}

TEST(SimDisk, a_failing_write_may_have_written_a_part_from_the_front) {
    Ends left;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SimDisk disk(seed);
        const auto file = created(disk, "/f");
        disk.fail(DiskOperation::write);
        EXPECT_EQ(file->write_at(0, bytes_of("ab")).error().code, "io_error"_code);
        left.insert(text_of(*file));
    }
    EXPECT_EQ(left, (Ends{"", "a", "ab"}));
}

TEST(SimDisk, only_the_selected_operation_fails) {
    SimDisk disk;
    const auto file = created(disk, "/f", "abc");
    disk.fail(DiskOperation::read, 2);
    std::byte into[1];
    EXPECT_TRUE(file->read_at(0, into).ok());
    EXPECT_EQ(file->size().value(), 3u);
    EXPECT_EQ(file->read_at(0, into).error().code, "io_error"_code);
    EXPECT_TRUE(file->read_at(0, into).ok());
    disk.fail(DiskOperation::read);
    disk.fail(DiskOperation::read, 0);
    EXPECT_TRUE(file->read_at(0, into).ok());
    EXPECT_EQ(disk.count(DiskOperation::read), 4u);
    EXPECT_EQ(disk.count(DiskOperation::write), 1u);
}

TEST(SimDisk, each_path_operation_fails_on_command_and_does_nothing) {
    SimDisk disk;
    durable_file(disk, "/f", "x");
    const std::vector<std::pair<DiskOperation, std::function<std::string()>>> calls = {
        {DiskOperation::open, [&] { return std::string(name_of(disk.open("/g", OpenMode::create).error().code)); }},
        {DiskOperation::remove, [&] { return std::string(name_of(disk.remove("/f").error().code)); }},
        {DiskOperation::remove_tree, [&] { return std::string(name_of(disk.remove_tree("/f").error().code)); }},
        {DiskOperation::rename, [&] { return std::string(name_of(disk.rename("/f", "/g").error().code)); }},
        {DiskOperation::make_directories,
         [&] { return std::string(name_of(disk.make_directories("/d").error().code)); }},
        {DiskOperation::list, [&] { return std::string(name_of(disk.list("/").error().code)); }},
        {DiskOperation::lock, [&] { return std::string(name_of(disk.lock("/").error().code)); }},
        {DiskOperation::free_bytes, [&] { return std::string(name_of(disk.free_bytes("/").error().code)); }},
    };
    for (const auto& [operation, call] : calls) {
        disk.fail(operation);
        EXPECT_EQ(call(), "io_error");
        EXPECT_EQ(picture(disk), "f=x") << static_cast<int>(operation);
    }
}

TEST(SimDisk, a_full_disk_accepts_what_fits_and_frees_it) {
    SimDisk disk;
    disk.set_capacity(10);
    const auto file = created(disk, "/f", "12345678");
    EXPECT_EQ(disk.free_bytes("/").value(), 2u);
    EXPECT_EQ(file->write_at(8, bytes_of("abc")).error().code, "no_space"_code);
    EXPECT_EQ(text_of(*file), "12345678ab");
    EXPECT_EQ(disk.free_bytes("/").value(), 0u);
    EXPECT_TRUE(file->write_at(0, bytes_of("over")).ok());
    EXPECT_EQ(file->truncate(11).error().code, "no_space"_code);
    EXPECT_TRUE(file->truncate(4).ok());
    EXPECT_EQ(disk.free_bytes("/").value(), 6u);
    EXPECT_EQ(text_of(*file), "over");
}

TEST(SimDisk, space_of_a_removed_file_is_free_once_the_removal_is_durable) {
    SimDisk disk;
    durable_file(disk, "/f", "12345678");
    EXPECT_EQ(disk.used_bytes(), 8u);
    ASSERT_TRUE(disk.remove("/f").ok());
    ASSERT_TRUE(disk.sync_directory("/").ok());
    EXPECT_EQ(disk.used_bytes(), 0u);
}

TEST(SimDisk, handles_and_locks_die_in_a_crash) {
    SimDisk disk;
    Random random(1);
    const auto file = durable_file(disk, "/f", "abc");
    auto lock = disk.lock("/");
    ASSERT_TRUE(lock.ok());
    ASSERT_TRUE(disk.sync_directory("/").ok());
    disk.crash(random);
    std::byte into[1];
    EXPECT_EQ(file->read_at(0, into).error().code, "io_error"_code);
    EXPECT_EQ(file->write_at(0, bytes_of("X")).error().code, "io_error"_code);
    EXPECT_EQ(file->sync_data().error().code, "io_error"_code);
    EXPECT_EQ(file->truncate(0).error().code, "io_error"_code);
    EXPECT_EQ(file->size().error().code, "io_error"_code);
    EXPECT_EQ(content(disk, "/f"), "abc");
    const auto next = disk.lock("/");
    ASSERT_TRUE(next.ok());
    lock->reset();  // the dead one must not let go of the living one
    EXPECT_EQ(disk.lock("/").error().code, "in_use"_code);
}

TEST(SimDisk, nothing_works_until_the_power_is_back) {
    SimDisk disk;
    Random random(1);
    durable_file(disk, "/f", "abc");
    disk.power_off(random);
    EXPECT_EQ(disk.open("/f", OpenMode::read).error().code, "io_error"_code);
    EXPECT_EQ(disk.open("/g", OpenMode::create).error().code, "io_error"_code);
    EXPECT_EQ(disk.remove("/f").error().code, "io_error"_code);
    EXPECT_EQ(disk.sync_directory("/").error().code, "io_error"_code);
    disk.power_on();
    EXPECT_EQ(picture(disk), "f=abc");
}

TEST(SimDisk, a_hook_may_cut_the_power_before_any_operation) {
    // A life of 8 operations is cut before each of them; the last cut is never reached.
    for (std::uint64_t cut = 1; cut <= 9; ++cut) {
        SCOPED_TRACE("cut before operation " + std::to_string(cut));
        SimDisk disk(cut);
        Random random(cut);
        std::uint64_t calls = 0;
        disk.set_hook([&](DiskOperation, std::string_view) {
            if (++calls == cut) disk.power_off(random);
        });
        bool done = false;
        const auto live = [&]() -> Status {
            auto file = disk.open("/f.new", OpenMode::create);
            if (!file) return file.error();
            if (Status status = (*file)->write_at(0, bytes_of("v1")); !status) return status;
            if (Status status = (*file)->sync_data(); !status) return status;
            if (Status status = disk.rename("/f.new", "/f"); !status) return status;
            if (Status status = disk.sync_directory("/"); !status) return status;
            done = true;
            if (Status status = (*file)->write_at(1, bytes_of("2")); !status) return status;
            if (Status status = (*file)->sync_data(); !status) return status;
            return disk.remove("/f");
        };
        EXPECT_EQ(live().ok(), cut == 9);
        disk.power_on();
        disk.set_hook({});
        const std::string left = content(disk, "/f");
        if (done && cut < 9) {
            EXPECT_TRUE(left == "v1" || left == "v2") << left;
        }
        if (cut == 8) {
            EXPECT_EQ(left, "v2");
        }
        if (cut < 5) {
            EXPECT_EQ(left, "not_found");
        }
    }
}

TEST(SimDisk, a_whole_crash_inside_the_hook_fails_the_operation_that_it_cut) {
    SimDisk disk;
    Random random(1);
    disk.set_hook([&](DiskOperation operation, std::string_view path) {
        if (operation == DiskOperation::open && path == "/f") disk.crash(random);
    });
    EXPECT_EQ(disk.open("/f", OpenMode::create).error().code, "io_error"_code);
    EXPECT_EQ(disk.list("/").value().size(), 0u);
}

TEST(SimDisk, a_flipped_byte_is_seen_and_stays) {
    SimDisk disk;
    Random random(1);
    durable_file(disk, "/f", "aaa");
    disk.flip("/f", 1, std::byte{3});
    EXPECT_EQ(content(disk, "/f"), "aba");
    disk.crash(random);
    EXPECT_EQ(content(disk, "/f"), "aba");
}

TEST(SimDisk, the_same_seed_loses_the_same) {
    const auto run = [](std::uint64_t seed) {
        SimDisk disk(seed);
        Random random(seed);
        std::string story;
        for (int round = 0; round < 20; ++round) {
            for (const char* name : {"/a", "/b", "/c"}) {
                auto file = disk.open(name, OpenMode::create);
                if (!file) file = disk.open(name, OpenMode::read_write);
                const std::string text(1 + random.below(2000), static_cast<char>('a' + random.below(26)));
                disk.fail(DiskOperation::write, random.below(4));
                (void)(*file)->write_at(random.below(2000), bytes_of(text));
                if (random.chance(300'000)) (void)(*file)->sync_data();
            }
            disk.crash(random);
            story += picture(disk);
        }
        return story;
    };
    EXPECT_EQ(run(7), run(7));
    EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace duewheel::sim_disk_test
