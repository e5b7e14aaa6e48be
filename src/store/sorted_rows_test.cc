// One suite for both implementations of SortedRows, with an ordered map as the oracle, and tests of RocksDB alone.
#include "store/sorted_rows.h"

#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "shared/random.h"
#include "store/rocks_rows.h"
#include "support/memory_rows.h"
#include "support/small_disk.h"
#include "support/temporary_directory.h"

namespace duewheel::sorted_rows_test {
namespace {

using Rows = std::map<std::string, std::string, std::less<>>;

void take_in(SortedRows& rows, const Rows& wanted) {
    auto table = rows.build_table();
    for (const auto& [key, value] : wanted) table->put(key, value);
    ASSERT_TRUE(table->take_in().ok());
}

struct Storages {
    virtual ~Storages() = default;
    virtual RowStorage& storage() = 0;
};
struct InMemory final : Storages {
    RowStorage& storage() override { return kept; }
    MemoryRowStorage kept;
};
struct InRocks final : Storages {
    RowStorage& storage() override { return kept; }
    // Opens and closes it.
    void put(const Rows& wanted) { take_in(**kept.open(), wanted); }
    TemporaryDirectory directory;
    RocksRowStorage kept{posix_file_system(), directory.at("index"), [](auto, auto) { return false; }};
};

Rows rows_between(const SortedRows& rows, std::string_view lower, std::string_view upper, std::size_t limit = ~0ull) {
    Rows found;
    std::string last;
    const Status walked = rows.scan(lower, upper, limit, [&](std::string_view key, std::string_view value) {
        EXPECT_LT(last, key) << "out of order";
        last = key;
        found.emplace(key, value);
        return true;
    });
    EXPECT_TRUE(walked.ok());
    return found;
}

template <class T>
class SortedRowsConformance : public testing::Test {
  protected:
    void SetUp() override { reopen(); }
    void reopen() {
        rows_.reset();
        auto opened = storages_.storage().open();
        ASSERT_TRUE(opened.ok());
        rows_ = std::move(opened).value();
    }
    void put(const Rows& wanted) { take_in(*rows_, wanted); }
    std::optional<std::string> get(std::string_view key) {
        auto found = rows_->get(key);
        EXPECT_TRUE(found.ok());
        return std::move(found).value();
    }

    T storages_;
    std::unique_ptr<SortedRows> rows_;
};

using Implementations = testing::Types<InMemory, InRocks>;
TYPED_TEST_SUITE(SortedRowsConformance, Implementations);

TYPED_TEST(SortedRowsConformance, finds_added_rows_and_nothing_else) {
    this->put({{"a", "1"}, {"b", ""}, {std::string("b\0c", 3), "3"}});
    EXPECT_EQ(this->get("a"), "1");
    EXPECT_EQ(this->get("b"), "");
    EXPECT_EQ(this->get(std::string("b\0c", 3)), "3");
    EXPECT_EQ(this->get("c"), std::nullopt);
}

TYPED_TEST(SortedRowsConformance, a_table_is_invisible_until_it_is_added) {
    this->put({{"a", "1"}});
    auto table = this->rows_->build_table();
    table->put("a", "2");
    table->put("b", "2");
    EXPECT_EQ(this->get("a"), "1");
    EXPECT_EQ(this->get("b"), std::nullopt);
    table.reset();
    EXPECT_EQ(this->get("a"), "1") << "a table that was given up left something behind";
    EXPECT_EQ(rows_between(*this->rows_, "", "z").size(), 1u);
}

TYPED_TEST(SortedRowsConformance, a_scan_respects_both_bounds_and_its_limit) {
    this->put({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
    EXPECT_EQ(rows_between(*this->rows_, "b", "d"), (Rows{{"b", "2"}, {"c", "3"}}));
    EXPECT_EQ(rows_between(*this->rows_, "", "zz", 3).rbegin()->first, "c");
    EXPECT_TRUE(rows_between(*this->rows_, "b", "b").empty());
    std::size_t visited = 0;
    EXPECT_TRUE(this->rows_->scan("a", "z", 100, [&](auto, auto) { return ++visited < 2; }).ok());
    EXPECT_EQ(visited, 2u);
}

TYPED_TEST(SortedRowsConformance, a_range_erase_spares_the_rows_of_its_own_table) {
    this->put({{"a", "old"}, {"b", "old"}, {"c", "old"}, {"d", "old"}});
    auto table = this->rows_->build_table();
    table->erase_range("a", "c");
    table->put("b", "new");
    table->erase("d");
    table->erase("never there");
    ASSERT_TRUE(table->take_in().ok());
    EXPECT_EQ(rows_between(*this->rows_, "", "z"), (Rows{{"b", "new"}, {"c", "old"}}));
    EXPECT_EQ(this->get("a"), std::nullopt);
}

TYPED_TEST(SortedRowsConformance, an_empty_table_can_be_added) {
    this->put({});
    EXPECT_TRUE(rows_between(*this->rows_, "", "z").empty());
}

// A server that met damage ended, and so did the next one and all after it, because none of them told the next.
TYPED_TEST(SortedRowsConformance, a_condemned_store_is_damaged_until_it_is_discarded) {
    this->put({{"a", "1"}});
    RowStorage& storage = this->storages_.storage();
    ASSERT_TRUE(storage.condemn().ok());
    ASSERT_TRUE(storage.condemn().ok()) << "two threads may meet damage";
    EXPECT_EQ(this->get("a"), "1") << "whoever has it open is not disturbed";
    this->rows_.reset();
    for (int start = 0; start < 2; ++start) EXPECT_EQ(storage.open().error().code, "damaged_index"_code);
    ASSERT_TRUE(storage.discard().ok());
    this->rows_ = std::move(storage.open()).value();
    EXPECT_EQ(this->get("a"), std::nullopt);
}

TYPED_TEST(SortedRowsConformance, discarding_removes_everything) {
    this->put({{"a", "1"}});
    this->rows_.reset();
    ASSERT_TRUE(this->storages_.storage().discard().ok());
    ASSERT_TRUE(this->storages_.storage().discard().ok()) << "there is nothing to remove any more";
    this->reopen();
    EXPECT_TRUE(rows_between(*this->rows_, "", "z").empty());
}

std::string random_key(Random& random) {
    std::string key(1 + random.below(3), '\0');
    for (char& byte : key) byte = static_cast<char>(random.below(6) * 51);
    return key;
}

TYPED_TEST(SortedRowsConformance, random_tables_add_up_as_in_a_map) {
    const std::uint64_t seed = 20240501;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Rows model;
    for (int round = 0; round < 120; ++round) {
        auto table = this->rows_->build_table();
        for (std::uint64_t ranges = random.below(3); ranges > 0; --ranges) {
            std::string lower = random_key(random);
            std::string upper = random_key(random);
            if (lower == upper) continue;
            if (upper < lower) std::swap(lower, upper);
            table->erase_range(lower, upper);
            model.erase(model.lower_bound(lower), model.lower_bound(upper));
        }
        std::set<std::string> keys;
        for (std::uint64_t count = random.below(30); count > 0; --count) keys.insert(random_key(random));
        for (const std::string& key : keys) {
            if (random.chance(400'000)) {
                table->erase(key);
                model.erase(key);
            } else {
                std::string value = std::to_string(round);
                table->put(key, value);
                model[key] = value;
            }
        }
        ASSERT_TRUE(table->take_in().ok());
        if (random.chance(100'000)) this->reopen();
        const std::string lower = random_key(random);
        const std::string upper = std::max(lower, random_key(random));
        ASSERT_EQ(rows_between(*this->rows_, lower, upper), Rows(model.lower_bound(lower), model.lower_bound(upper)));
        const std::string key = random_key(random);
        ASSERT_EQ(this->get(key), model.contains(key) ? std::optional(model[key]) : std::nullopt);
    }
    ASSERT_EQ(rows_between(*this->rows_, "", "\xff\xff\xff\xff"), model);
}

TEST(MemoryRows, a_refused_table_changes_nothing_and_may_come_again) {
    MemoryRowStorage storage;
    auto rows = std::move(storage.open()).value();
    storage.refuse_tables(1);
    for (const bool refused : {true, false}) {
        auto table = rows->build_table();
        table->put("a", "1");
        const Status taken = table->take_in();
        ASSERT_EQ(taken.ok(), !refused);
        if (refused) {
            EXPECT_EQ(taken.error().code, "no_space"_code);
        }
        EXPECT_EQ(storage.row_count(), refused ? 0u : 1u);
    }
}

TEST(MemoryRows, a_table_larger_than_the_free_space_is_refused) {
    MemoryRowStorage storage;
    std::uint64_t free = 3;
    storage.set_free_space([&free] { return free; });
    auto rows = std::move(storage.open()).value();
    for (const bool fits : {false, true}) {
        auto table = rows->build_table();
        table->put("ab", "12");
        EXPECT_EQ(table->take_in().ok(), fits);
        EXPECT_EQ(storage.row_count(), fits ? 1u : 0u);
        free = 4;
    }
    rows.reset();
    free = 0;
    EXPECT_EQ(storage.open().error().code, "no_space"_code);
}

// Leaves so much free on the disk, by a file that takes the rest.
void leave_free(const SmallDisk& disk, std::uint64_t bytes) {
    static_cast<void>(posix_file_system().remove(disk.at("ballast")));
    const auto file = posix_file_system().open(disk.at("ballast"), OpenMode::create).value();
    const std::uint64_t free = posix_file_system().free_bytes(disk.path()).value();
    const std::string piece(4096, 'b');
    for (std::uint64_t at = 0; at + bytes < free; at += piece.size()) {
        ASSERT_TRUE(file->write_at(at, std::as_bytes(std::span(piece))).ok());
    }
}

// A table of one row that cannot be compressed.
Status take_in_one(SortedRows& rows, const std::string& key, std::size_t value_bytes) {
    Random random(value_bytes);
    std::string value(value_bytes, '\0');
    for (char& byte : value) byte = static_cast<char>(random.below(256));
    auto table = rows.build_table();
    table->put(key, value);
    return table->take_in();
}

TEST(RocksRows, on_a_full_disk_a_table_is_refused_and_added_when_there_is_space) {
    const SmallDisk disk(32 << 20);
    if (!disk.missing().empty()) GTEST_SKIP() << disk.missing();
    RocksRowStorage storage(posix_file_system(), disk.at("index"), [](auto, auto) { return false; });
    auto rows = std::move(storage.open()).value();
    ASSERT_TRUE(take_in_one(*rows, "a", 100).ok());
    for (const std::uint64_t free : {0u, 4096u, 65'536u}) {
        leave_free(disk, free);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(take_in_one(*rows, "b", 1 << 20).error().code, "no_space"_code) << free;
        EXPECT_EQ(rows_between(*rows, "", "z").size(), 1u);
        EXPECT_FALSE(std::ifstream(disk.at("index/incoming-table")).is_open());
    }
    leave_free(disk, 8 << 20);
    EXPECT_TRUE(take_in_one(*rows, "b", 1 << 20).ok());
    rows.reset();
    leave_free(disk, 0);
    EXPECT_EQ(storage.open().error().code, "no_space"_code);
    leave_free(disk, 8 << 20);
    rows = std::move(storage.open()).value();
    EXPECT_EQ(rows_between(*rows, "", "z").size(), 2u);
}

// When the manifest met the full disk RocksDB stopped, recovered by itself when there was space, and the next table
// that was moved in aborted the process.
TEST(RocksRows, after_a_full_disk_for_its_manifest_it_reads_and_accepts_tables_when_there_is_space) {
    const SmallDisk disk(32 << 20);
    if (!disk.missing().empty()) GTEST_SKIP() << disk.missing();
    RocksRowStorage storage(posix_file_system(), disk.at("index"), [](auto, auto) { return false; });
    auto rows = std::move(storage.open()).value();
    // Each table finds the page it needs and no more, until the manifest needs one.
    std::size_t taken_in = 0;
    Status last;
    leave_free(disk, 0);
    auto ballast = posix_file_system().open(disk.at("ballast"), OpenMode::read_write).value();
    for (; last && taken_in < 3000; ++taken_in) {
        while (posix_file_system().free_bytes(disk.path()).value() < 4096) {
            ASSERT_TRUE(ballast->truncate(ballast->size().value() - 4096).ok());
        }
        last = take_in_one(*rows, "k" + std::to_string(taken_in), 10);
    }
    ballast.reset();
    --taken_in;
    ASSERT_FALSE(last.ok());
    EXPECT_EQ(last.error().code, "no_space"_code);
    EXPECT_NE(last.error().message.find("MANIFEST"), std::string::npos) << last.error().message;
    for (const std::uint64_t free : {0u, 16'384u}) {
        leave_free(disk, free);
        EXPECT_EQ(take_in_one(*rows, "full", 10).error().code, "no_space"_code);
        EXPECT_EQ(rows_between(*rows, "", "z").size(), taken_in);
    }
    leave_free(disk, 8 << 20);
    last = take_in_one(*rows, "space", 10);
    ASSERT_TRUE(last.ok()) << last.error().message;
    EXPECT_EQ(rows_between(*rows, "", "z").size(), taken_in + 1);
    rows.reset();
    rows = std::move(storage.open()).value();
    EXPECT_EQ(rows_between(*rows, "", "z").size(), taken_in + 1);
}

TEST(RocksRows, compaction_drops_what_has_expired_and_only_that) {
    TemporaryDirectory directory;
    std::atomic<bool> old_expired = false;
    RocksRowStorage storage(posix_file_system(), directory.at("index"),
                            [&](std::string_view, std::string_view value) { return old_expired && value == "old"; });
    auto rows = std::move(storage.open()).value();
    for (int round = 0; round < 2; ++round) {
        auto table = rows->build_table();
        table->put("a", "old");
        table->put("b", "young");
        ASSERT_TRUE(table->take_in().ok());
        ASSERT_TRUE(compact_rows(*rows).ok());
        ASSERT_EQ(rows_between(*rows, "", "z").size(), round == 0 ? 2u : 1u);
        old_expired = true;
    }
}

TEST(RocksRows, a_table_that_is_given_up_leaves_no_file) {
    InRocks disk;
    RocksRowStorage& storage = disk.kept;
    auto rows = std::move(storage.open()).value();
    auto table = rows->build_table();
    table->put("a", "1");
    EXPECT_TRUE(std::ifstream(disk.directory.at("index/incoming-table")).is_open());
    table.reset();
    EXPECT_FALSE(std::ifstream(disk.directory.at("index/incoming-table")).is_open());
}

TEST(RocksRows, rows_survive_a_new_opening_and_leftovers_of_an_old_process_are_removed) {
    InRocks disk;
    RocksRowStorage& storage = disk.kept;
    disk.put({{"a", "1"}});
    std::ofstream(disk.directory.at("index/incoming-table")) << "half a table";
    auto rows = std::move(storage.open()).value();
    EXPECT_EQ(rows_between(*rows, "", "z"), (Rows{{"a", "1"}}));
    EXPECT_FALSE(std::ifstream(disk.directory.at("index/incoming-table")).is_open());
}

// Flips a byte in the middle of each table file.
void damage_tables(const std::string& directory) {
    for (const std::string& name : std::move(posix_file_system().list(directory)).value()) {
        if (!name.ends_with(".sst")) continue;
        std::fstream file(directory + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(100);
        const char flipped = static_cast<char>(file.get() ^ 0x55);
        file.seekp(100);
        file.put(flipped);
    }
}

TEST(RocksRows, a_flipped_byte_is_an_error_and_not_a_hole) {
    InRocks disk;
    RocksRowStorage& storage = disk.kept;
    Rows many;
    for (int number = 100; number < 600; ++number) many[std::to_string(number)] = std::string(40, 'x');
    disk.put(many);
    damage_tables(disk.directory.at("index"));
    auto opened = storage.open();
    ASSERT_TRUE(opened.ok());
    const Status walked = (*opened)->scan("", "z", 1000, [](auto, auto) { return true; });
    ASSERT_FALSE(walked.ok());
    EXPECT_EQ(walked.error().code, "damaged_index"_code);
    const auto found = (*opened)->get("100");
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, "damaged_index"_code);
}

TEST(RocksRows, a_missing_table_is_damage_that_discarding_mends) {
    InRocks disk;
    RocksRowStorage& storage = disk.kept;
    disk.put({{"a", "1"}});
    for (const std::string& name : std::move(posix_file_system().list(disk.directory.at("index"))).value()) {
        if (!name.ends_with(".sst")) continue;
        ASSERT_TRUE(posix_file_system().remove(disk.directory.at("index/" + name)).ok());
    }
    const auto opened = storage.open();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "damaged_index"_code);
    ASSERT_TRUE(storage.discard().ok());
    EXPECT_TRUE(storage.open().ok());
}

}  // namespace
}  // namespace duewheel::sorted_rows_test
