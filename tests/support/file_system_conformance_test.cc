// The conformance suite of FileSystem, run on the real disk and the simulated one.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "base/file.h"
#include "shared/random.h"
#include "support/sim_disk.h"
#include "support/small_disk.h"
#include "support/temporary_directory.h"

namespace duewheel {
namespace {

class RealDisk {
  public:
    FileSystem& file_system() { return posix_file_system(); }
    std::string root() const { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

class SimulatedDisk {
  public:
    SimulatedDisk() { EXPECT_TRUE(disk_.make_directories("/data").ok()); }
    FileSystem& file_system() { return disk_; }
    std::string root() const { return "/data"; }

  private:
    SimDisk disk_;
};

ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::string text_of(const File& file) {
    std::string text(file.size().value(), '?');
    EXPECT_EQ(file.read_at(0, std::as_writable_bytes(std::span(text))).value(), text.size());
    return text;
}

template <class Outcome>
std::string code_of(const Outcome& outcome) {
    return outcome.ok() ? "ok" : std::string(name_of(outcome.error().code));
}

template <class Disk>
class FileSystemConformance : public testing::Test {
  protected:
    FileSystem& disk() { return disk_.file_system(); }
    std::string at(const std::string& name) const { return disk_.root() + "/" + name; }
    std::string root() const { return disk_.root(); }

    std::unique_ptr<File> created(const std::string& name, std::string_view text = {}) {
        auto file = disk().open(at(name), OpenMode::create);
        EXPECT_EQ(code_of(file), "ok");
        EXPECT_EQ(code_of((*file)->write_at(0, bytes_of(text))), "ok");
        return std::move(*file);
    }
    std::string content(const std::string& name) {
        const auto file = disk().open(at(name), OpenMode::read);
        return file.ok() ? text_of(**file) : code_of(file);
    }
    std::vector<std::string> names() { return disk().list(root()).value(); }

  private:
    Disk disk_;
};

using Disks = testing::Types<RealDisk, SimulatedDisk>;
TYPED_TEST_SUITE(FileSystemConformance, Disks);

using Names = std::vector<std::string>;

TYPED_TEST(FileSystemConformance, reads_back_what_was_written_at_any_offset) {
    const auto file = this->created("f", "hello");
    EXPECT_TRUE(file->write_at(3, bytes_of("p me")).ok());
    EXPECT_EQ(text_of(*file), "help me");
    EXPECT_TRUE(file->sync_data().ok());
    EXPECT_EQ(text_of(*file), "help me");
}

TYPED_TEST(FileSystemConformance, a_write_past_the_end_leaves_zeros_between) {
    const auto file = this->created("f", "ab");
    EXPECT_TRUE(file->write_at(5, bytes_of("z")).ok());
    EXPECT_EQ(text_of(*file), std::string("ab\0\0\0z", 6));
}

TYPED_TEST(FileSystemConformance, a_read_at_the_end_is_short_and_beyond_it_is_empty) {
    const auto file = this->created("f", "abc");
    std::byte into[4] = {};
    EXPECT_EQ(file->read_at(1, into).value(), 2u);
    EXPECT_EQ(into[0], std::byte{'b'});
    EXPECT_EQ(into[2], std::byte{0});
    EXPECT_EQ(file->read_at(3, into).value(), 0u);
    EXPECT_EQ(file->read_at(1000, into).value(), 0u);
    EXPECT_EQ(file->read_at(0, {}).value(), 0u);
}

TYPED_TEST(FileSystemConformance, an_empty_write_changes_nothing) {
    const auto file = this->created("f", "abc");
    EXPECT_TRUE(file->write_at(100, {}).ok());
    EXPECT_EQ(file->size().value(), 3u);
}

TYPED_TEST(FileSystemConformance, truncate_cuts_and_extends_with_zeros) {
    const auto file = this->created("f", "abcdef");
    EXPECT_TRUE(file->truncate(2).ok());
    EXPECT_EQ(text_of(*file), "ab");
    EXPECT_TRUE(file->truncate(4).ok());
    EXPECT_EQ(text_of(*file), std::string("ab\0\0", 4));
}

TYPED_TEST(FileSystemConformance, open_modes_ask_for_what_they_say) {
    EXPECT_EQ(code_of(this->disk().open(this->at("f"), OpenMode::read)), "not_found");
    EXPECT_EQ(code_of(this->disk().open(this->at("f"), OpenMode::read_write)), "not_found");
    EXPECT_EQ(code_of(this->disk().open("", OpenMode::read)), "not_found");
    this->created("f", "abc");
    EXPECT_EQ(code_of(this->disk().open(this->at("f"), OpenMode::create)), "already_exists");
    EXPECT_EQ(this->content("f"), "abc");
    auto writable = this->disk().open(this->at("f"), OpenMode::read_write);
    ASSERT_TRUE(writable.ok());
    EXPECT_TRUE((*writable)->write_at(0, bytes_of("X")).ok());
    EXPECT_EQ(this->content("f"), "Xbc");
}

TYPED_TEST(FileSystemConformance, a_file_opened_for_reading_refuses_changes) {
    this->created("f", "abc");
    auto file = this->disk().open(this->at("f"), OpenMode::read);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(code_of((*file)->write_at(0, bytes_of("X"))), "io_error");
    EXPECT_EQ(code_of((*file)->truncate(0)), "io_error");
    EXPECT_EQ(text_of(**file), "abc");
    EXPECT_TRUE((*file)->sync_data().ok());
}

TYPED_TEST(FileSystemConformance, two_handles_see_one_file) {
    const auto writer = this->created("f");
    const auto reader = this->disk().open(this->at("f"), OpenMode::read);
    EXPECT_TRUE(writer->write_at(0, bytes_of("now")).ok());
    EXPECT_EQ(text_of(**reader), "now");
}

TYPED_TEST(FileSystemConformance, a_directory_is_no_file) {
    ASSERT_TRUE(this->disk().make_directories(this->at("d")).ok());
    EXPECT_EQ(code_of(this->disk().open(this->at("d"), OpenMode::read)), "io_error");
    EXPECT_EQ(code_of(this->disk().open(this->at("d"), OpenMode::read_write)), "io_error");
    EXPECT_EQ(code_of(this->disk().open(this->at("d"), OpenMode::create)), "already_exists");
    EXPECT_EQ(code_of(this->disk().remove(this->at("d"))), "io_error");
}

TYPED_TEST(FileSystemConformance, a_file_is_no_directory) {
    this->created("f");
    EXPECT_EQ(code_of(this->disk().open(this->at("f/x"), OpenMode::create)), "io_error");
    EXPECT_EQ(code_of(this->disk().list(this->at("f"))), "io_error");
    EXPECT_EQ(code_of(this->disk().sync_directory(this->at("f"))), "io_error");
    EXPECT_EQ(code_of(this->disk().lock(this->at("f"))), "io_error");
    EXPECT_EQ(code_of(this->disk().make_directories(this->at("f"))), "already_exists");
    EXPECT_EQ(code_of(this->disk().make_directories(this->at("f/x"))), "already_exists");
}

TYPED_TEST(FileSystemConformance, everything_says_not_found_where_nothing_is) {
    EXPECT_EQ(code_of(this->disk().open(this->at("no/f"), OpenMode::create)), "not_found");
    EXPECT_EQ(code_of(this->disk().list(this->at("no"))), "not_found");
    EXPECT_EQ(code_of(this->disk().remove(this->at("no"))), "not_found");
    EXPECT_EQ(code_of(this->disk().rename(this->at("no"), this->at("f"))), "not_found");
    EXPECT_EQ(code_of(this->disk().sync_directory(this->at("no"))), "not_found");
    EXPECT_EQ(code_of(this->disk().lock(this->at("no"))), "not_found");
    EXPECT_EQ(code_of(this->disk().free_bytes(this->at("no"))), "not_found");
    EXPECT_EQ(code_of(this->disk().make_directories("")), "not_found");
    EXPECT_EQ(code_of(this->disk().remove_tree(this->at("no"))), "ok");
    EXPECT_EQ(code_of(this->disk().remove_tree(this->at("no/deeper"))), "ok");
}

TYPED_TEST(FileSystemConformance, list_is_sorted_and_holds_files_and_directories) {
    EXPECT_EQ(this->names(), Names{});
    this->created("b");
    this->created("a");
    this->created(".c");
    ASSERT_TRUE(this->disk().make_directories(this->at("ab")).ok());
    EXPECT_EQ(this->names(), (Names{".c", "a", "ab", "b"}));
}

TYPED_TEST(FileSystemConformance, an_open_file_outlives_its_name) {
    const auto file = this->created("f", "still");
    ASSERT_TRUE(this->disk().remove(this->at("f")).ok());
    EXPECT_EQ(this->names(), Names{});
    EXPECT_TRUE(file->write_at(5, bytes_of(" here")).ok());
    EXPECT_EQ(text_of(*file), "still here");
    this->created("f", "another");
    EXPECT_EQ(text_of(*file), "still here");
    EXPECT_EQ(this->content("f"), "another");
}

TYPED_TEST(FileSystemConformance, rename_replaces_and_handles_follow_the_file) {
    const auto file = this->created("new", "new");
    const auto replaced = this->created("old", "old");
    ASSERT_TRUE(this->disk().rename(this->at("new"), this->at("old")).ok());
    EXPECT_EQ(this->names(), Names{"old"});
    EXPECT_EQ(this->content("old"), "new");
    EXPECT_TRUE(file->write_at(0, bytes_of("NEW")).ok());
    EXPECT_EQ(this->content("old"), "NEW");
    EXPECT_EQ(text_of(*replaced), "old");
}

TYPED_TEST(FileSystemConformance, rename_to_itself_changes_nothing) {
    this->created("f", "same");
    EXPECT_TRUE(this->disk().rename(this->at("f"), this->at("f")).ok());
    EXPECT_EQ(this->content("f"), "same");
    ASSERT_TRUE(this->disk().make_directories(this->at("d/e")).ok());
    EXPECT_TRUE(this->disk().rename(this->at("d"), this->at("d")).ok());
    EXPECT_EQ(this->names(), (Names{"d", "f"}));
}

TYPED_TEST(FileSystemConformance, rename_takes_a_directory_with_all_in_it) {
    ASSERT_TRUE(this->disk().make_directories(this->at("d/e")).ok());
    this->created("d/e/f", "deep");
    ASSERT_TRUE(this->disk().rename(this->at("d"), this->at("moved")).ok());
    EXPECT_EQ(this->names(), Names{"moved"});
    EXPECT_EQ(this->content("moved/e/f"), "deep");
}

TYPED_TEST(FileSystemConformance, rename_does_not_mix_up_files_and_directories) {
    ASSERT_TRUE(this->disk().make_directories(this->at("full")).ok());
    ASSERT_TRUE(this->disk().make_directories(this->at("empty")).ok());
    this->created("full/f");
    this->created("file");
    EXPECT_EQ(code_of(this->disk().rename(this->at("file"), this->at("empty"))), "io_error");
    EXPECT_EQ(code_of(this->disk().rename(this->at("empty"), this->at("file"))), "io_error");
    EXPECT_EQ(code_of(this->disk().rename(this->at("empty"), this->at("full"))), "io_error");
    EXPECT_EQ(code_of(this->disk().rename(this->at("full"), this->at("empty"))), "ok");
    EXPECT_EQ(this->names(), (Names{"empty", "file"}));
}

TYPED_TEST(FileSystemConformance, rename_between_directories_is_refused) {
    ASSERT_TRUE(this->disk().make_directories(this->at("d")).ok());
    this->created("f");
    EXPECT_EQ(code_of(this->disk().rename(this->at("f"), this->at("d/f"))), "io_error");
    EXPECT_EQ(this->names(), (Names{"d", "f"}));
    EXPECT_EQ(code_of(this->disk().rename(this->at("d/../f"), this->at("./g"))), "ok");
    EXPECT_EQ(this->names(), (Names{"d", "g"}));
}

TYPED_TEST(FileSystemConformance, make_directories_makes_all_that_is_missing_once) {
    EXPECT_EQ(code_of(this->disk().make_directories(this->at("a/b/c"))), "ok");
    this->created("a/b/c/f");
    EXPECT_EQ(code_of(this->disk().make_directories(this->at("a/b/c/"))), "ok");
    EXPECT_EQ(this->disk().list(this->at("a/b/c")).value(), Names{"f"});
    EXPECT_EQ(code_of(this->disk().make_directories("/")), "ok");
}

TYPED_TEST(FileSystemConformance, remove_tree_takes_a_tree_or_a_file_and_nothing_beside_it) {
    ASSERT_TRUE(this->disk().make_directories(this->at("tree/branch")).ok());
    this->created("tree/leaf");
    this->created("tree/branch/leaf");
    this->created("treetop");
    this->created("file");
    EXPECT_EQ(code_of(this->disk().remove_tree(this->at("tree"))), "ok");
    EXPECT_EQ(code_of(this->disk().remove_tree(this->at("file"))), "ok");
    EXPECT_EQ(this->names(), Names{"treetop"});
    EXPECT_EQ(code_of(this->disk().make_directories(this->at("tree"))), "ok");
    EXPECT_EQ(this->disk().list(this->at("tree")).value(), Names{});
}

TYPED_TEST(FileSystemConformance, a_lock_is_held_once_until_it_is_released) {
    auto lock = this->disk().lock(this->root());
    ASSERT_EQ(code_of(lock), "ok");
    EXPECT_EQ(code_of(this->disk().lock(this->root())), "in_use");
    EXPECT_EQ(this->names(), Names{"LOCK"});
    lock->reset();
    EXPECT_EQ(code_of(this->disk().lock(this->root())), "ok");
    EXPECT_EQ(this->names(), Names{"LOCK"});
}

TYPED_TEST(FileSystemConformance, locks_of_two_directories_do_not_meet) {
    ASSERT_TRUE(this->disk().make_directories(this->at("d")).ok());
    const auto outer = this->disk().lock(this->root());
    const auto inner = this->disk().lock(this->at("d"));
    EXPECT_EQ(code_of(outer), "ok");
    EXPECT_EQ(code_of(inner), "ok");
}

TYPED_TEST(FileSystemConformance, there_is_free_space) {
    EXPECT_GT(this->disk().free_bytes(this->root()).value(), 0u);
}

TYPED_TEST(FileSystemConformance, random_changes_agree_with_a_string) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const auto file = this->created("f" + std::to_string(seed));
        std::string model;
        for (int step = 0; step < 100; ++step) {
            const std::uint64_t offset = random.below(3000);
            switch (random.below(4)) {
                case 0:
                    ASSERT_TRUE(file->truncate(offset).ok());
                    model.resize(offset);
                    break;
                case 1:
                    ASSERT_TRUE(file->sync_data().ok());
                    break;
                default: {
                    const std::string text(1 + random.below(1200), static_cast<char>('a' + random.below(26)));
                    ASSERT_TRUE(file->write_at(offset, bytes_of(text)).ok());
                    if (model.size() < offset + text.size()) model.resize(offset + text.size());
                    model.replace(offset, text.size(), text);
                }
            }
            ASSERT_EQ(text_of(*file), model) << "step " << step;
        }
    }
}

// ---- a disk that is full

constexpr std::uint64_t kSmallDiskBytes = 1 << 20;

class SmallRealDisk {
  public:
    FileSystem& file_system() { return posix_file_system(); }
    std::string root() const { return disk_.path(); }
    std::string missing() const { return disk_.missing(); }

  private:
    SmallDisk disk_{kSmallDiskBytes};
};

class SmallSimulatedDisk {
  public:
    SmallSimulatedDisk() {
        disk_.set_capacity(kSmallDiskBytes);
        EXPECT_TRUE(disk_.make_directories("/data").ok());
    }
    FileSystem& file_system() { return disk_; }
    std::string root() const { return "/data"; }
    std::string missing() const { return {}; }

  private:
    SimDisk disk_;
};

template <class Disk>
class FullDiskConformance : public testing::Test {
  protected:
    void SetUp() override {
        if (!disk_.missing().empty()) GTEST_SKIP() << disk_.missing();
    }
    FileSystem& disk() { return disk_.file_system(); }
    std::string at(const std::string& name) const { return disk_.root() + "/" + name; }
    std::uint64_t free() { return disk().free_bytes(disk_.root()).value(); }

  private:
    Disk disk_;
};

using SmallDisks = testing::Types<SmallRealDisk, SmallSimulatedDisk>;
TYPED_TEST_SUITE(FullDiskConformance, SmallDisks);

TYPED_TEST(FullDiskConformance, says_what_is_free_and_takes_no_more) {
    const std::uint64_t before = this->free();
    EXPECT_GT(before, kSmallDiskBytes / 2);
    EXPECT_LE(before, kSmallDiskBytes);
    const auto file = this->disk().open(this->at("large"), OpenMode::create).value();
    const std::string half(kSmallDiskBytes / 2, 'x');
    ASSERT_TRUE(file->write_at(0, bytes_of(half)).ok());
    ASSERT_TRUE(file->sync_data().ok());
    EXPECT_LE(this->free(), before - half.size());
    EXPECT_EQ(code_of(file->write_at(half.size(), bytes_of(std::string(kSmallDiskBytes, 'y')))), "no_space");
    EXPECT_EQ(this->free(), 0u);
    std::string kept(half.size(), '?');
    EXPECT_EQ(file->read_at(0, std::as_writable_bytes(std::span(kept))).value(), kept.size());
    EXPECT_EQ(kept, half);
}

TYPED_TEST(FullDiskConformance, writes_over_what_is_there_and_gives_back_what_is_removed) {
    {
        const auto file = this->disk().open(this->at("large"), OpenMode::create).value();
        EXPECT_EQ(code_of(file->write_at(0, bytes_of(std::string(2 * kSmallDiskBytes, 'x')))), "no_space");
        EXPECT_TRUE(file->write_at(0, bytes_of("over")).ok());
        EXPECT_TRUE(file->sync_data().ok());
    }
    ASSERT_EQ(this->free(), 0u);
    ASSERT_TRUE(this->disk().remove(this->at("large")).ok());
    ASSERT_TRUE(this->disk().sync_directory(this->at(".")).ok());
    EXPECT_GT(this->free(), kSmallDiskBytes / 2);
}

}  // namespace
}  // namespace duewheel
