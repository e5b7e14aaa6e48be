// The history of ended messages: its content, its order, and that its age and size limits hold, also on disk.
#include "store/history.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "shared/random.h"
#include "store/index_recovery.h"
#include "store/rocks_rows.h"
#include "store/trial_shard.h"
#include "support/memory_rows.h"
#include "support/temporary_directory.h"

namespace duewheel::history_test {
namespace {

constexpr DueMs kNow = TrialShard::kStart;
constexpr std::int64_t kHour = 3'600'000;

// A log and its index, and beside it a plain list of all that ended.
class HistoryTrial {
  public:
    explicit HistoryTrial(RowStorage& storage, const HistoryBounds& bounds)
        : retention_(Retention::kDefaultKeepMs, bounds), index_(*Index::open(storage, retention_)) {}

    MessageId end_one(const std::string& queue, State outcome = State::done) {
        const MessageId id = shard_.put(queue, shard_.server_time_ms() + 1);
        shard_.end(id, outcome);
        ended.push_back({id, outcome, Cause::none, false, 0, shard_.server_time_ms(), 0});
        queues.push_back(queue);
        return id;
    }
    void wait(std::int64_t time_ms) { shard_.commit(shard_.server_time_ms() + time_ms); }
    void seal() {
        shard_.close_segment();
        ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    }
    std::vector<EndedRow> list(ListHistory list) {
        std::vector<EndedRow> all;
        for (;;) {
            const Result<HistoryRows> page = index_->list_history(list, shard_.server_time_ms());
            EXPECT_TRUE(page.ok());
            EXPECT_LE(page->rows.size(), std::min(list.limit, list.walk_max));
            all.insert(all.end(), page->rows.begin(), page->rows.end());
            if (!page->next) return all;
            list.from_ms = page->next->ended_ms;
            list.from_id = page->next->id;
        }
    }
    // What the plain list has of it.
    std::vector<EndedRow> expected(const ListHistory& list) const {
        std::vector<EndedRow> all;
        for (std::size_t i = 0; i < ended.size(); ++i) {
            const EndedRow& row = ended[i];
            if (queues[i] != list.queue || !list.outcomes.contains(row.outcome)) continue;
            if (row.ended_ms >= list.from_ms && row.ended_ms < list.until_ms) all.push_back(row);
        }
        std::sort(all.begin(), all.end(), [](const EndedRow& left, const EndedRow& right) {
            return std::pair(left.ended_ms, left.id) < std::pair(right.ended_ms, right.id);
        });
        return all;
    }

    std::uint64_t row_count() const {
        std::uint64_t count = 0;
        EXPECT_TRUE(index_->rows()
                        .scan(history_bound(0), history_bound(~Era{0}), ~std::size_t{0},
                              [&](std::string_view, std::string_view) { return ++count > 0; })
                        .ok());
        return count;
    }
    Index& index() { return *index_; }
    EraLedger ledger() const { return *index_->history_ledger(); }

    std::vector<EndedRow> ended;
    std::vector<std::string> queues;

  private:
    TrialShard shard_{1 << 20};
    Retention retention_;
    std::unique_ptr<Index> index_;
};

ListHistory all_of(const std::string& queue) {
    return {"default", queue, 0, 0, INT64_MAX, kEndedStates, 1000, 1000};
}

TEST(History, lists_ends_by_queue_time_and_outcome) {
    MemoryRowStorage storage;
    HistoryTrial trial(storage, {});
    const MessageId first = trial.end_one("mail");
    trial.end_one("post", State::expired);
    trial.wait(10);
    const MessageId second = trial.end_one("mail", State::cancelled);
    trial.wait(10);
    trial.seal();
    trial.end_one("mail", State::dead);
    trial.seal();
    ASSERT_EQ(trial.list(all_of("mail")).size(), 3u);
    EXPECT_EQ(trial.list(all_of("mail")), trial.expected(all_of("mail")));
    EXPECT_EQ(trial.list(all_of("mail"))[0].id, first);
    EXPECT_EQ(trial.list(all_of("post")), trial.expected(all_of("post")));
    EXPECT_TRUE(trial.list(all_of("ma")).empty());
    ListHistory window = all_of("mail");
    window.from_ms = kNow + 1;
    window.until_ms = kNow + 20;
    ASSERT_EQ(trial.list(window).size(), 1u);
    EXPECT_EQ(trial.list(window)[0].id, second);
    ListHistory dead = all_of("mail");
    dead.outcomes = {State::dead};
    EXPECT_EQ(trial.list(dead).size(), 1u);
    ListHistory one = all_of("mail");
    one.id = second;
    one.walk_max = 1;
    ASSERT_EQ(trial.list(one).size(), 1u) << "however few rows are looked at for a page";
    EXPECT_EQ(trial.list(one)[0].id, second);
}

TEST(History, pages_of_any_size_make_the_same_list) {
    Random random(11);
    MemoryRowStorage storage;
    HistoryTrial trial(storage, {8 * kHour, 20'000});
    for (int i = 0; i < 250; ++i) {
        trial.end_one(random.chance(700'000) ? "mail" : "post",
                      random.chance(500'000) ? State::done : State::cancelled);
        if (random.chance(300'000)) trial.wait(random.between(0, 100'000));
        if (random.chance(100'000)) trial.seal();
    }
    trial.seal();
    EXPECT_GT(trial.ledger().entries().size(), 5u);
    for (const std::uint32_t limit : {1u, 3u, 1000u}) {
        for (const std::uint32_t walk_max : {1u, 4u, 1000u}) {
            ListHistory list = all_of("mail");
            list.outcomes = {State::done};
            list.limit = limit;
            list.walk_max = walk_max;
            EXPECT_EQ(trial.list(list), trial.expected(list)) << limit << " " << walk_max;
        }
    }
}

// Ends a thousand messages at once, again and again, and watches what is left of them.
void expect_bounded_by_size(RowStorage& storage, const std::function<std::uint64_t(Index&)>& bytes_of) {
    constexpr std::uint64_t kBytesMax = 200'000;
    HistoryTrial trial(storage, {1000 * kHour, kBytesMax});
    const std::uint64_t row = history_row_bytes("default", "mail");
    std::uint64_t most_left = 0;
    for (int segment = 0; segment < 60; ++segment) {
        for (int i = 0; i < 500; ++i) trial.end_one("mail");
        trial.wait(1000);
        trial.seal();
        ASSERT_LE(trial.ledger().bytes(), kBytesMax);
        ASSERT_EQ(trial.ledger().bytes(), trial.row_count() * row);
        most_left = std::max(most_left, trial.row_count());
    }
    EXPECT_GT(most_left * row, kBytesMax * 8 / 10) << "it keeps far less than it may";
    EXPECT_LT(bytes_of(trial.index()), 3 * kBytesMax);
    const std::vector<EndedRow> kept = trial.list(all_of("mail"));
    ASSERT_EQ(kept.size(), trial.row_count());
    EXPECT_EQ(kept.back().id, trial.ended.back().id) << "the newest are kept";
}

TEST(History, is_bounded_by_size_in_memory) {
    MemoryRowStorage storage;
    // The rows have also the outcomes by id, which their own rule bounds.
    expect_bounded_by_size(storage, [](Index&) { return 0; });
}

TEST(History, is_bounded_by_size_on_disk) {
    TemporaryDirectory directory;
    RocksRowStorage storage(posix_file_system(), directory.at("index"), [](std::string_view key, std::string_view) {
        return key.front() != static_cast<char>(IndexTable::history) &&
               key.front() != static_cast<char>(IndexTable::meta);
    });
    expect_bounded_by_size(storage, [](Index& index) {
        EXPECT_TRUE(compact_rows(index.rows()).ok());
        return index.bytes();
    });
}

TEST(History, is_bounded_by_age) {
    MemoryRowStorage storage;
    HistoryTrial trial(storage, {10 * kHour, 1 << 30});
    for (int hour = 0; hour < 100; ++hour) {
        trial.end_one("mail");
        trial.wait(kHour);
        trial.seal();
        for (const EndedRow& row : trial.list(all_of("mail"))) {
            ASSERT_GE(row.ended_ms, kNow + (hour + 1 - 10) * kHour);
        }
        ASSERT_LE(trial.row_count(), 12u) << "rows that nobody can see are not kept";
        ASSERT_GE(trial.list(all_of("mail")).size(), static_cast<std::size_t>(std::min(hour + 1, 10)));
    }
    trial.wait(1000 * kHour);
    EXPECT_TRUE(trial.list(all_of("mail")).empty()) << "before a segment is sealed too";
    trial.seal();
    EXPECT_EQ(trial.row_count(), 0u);
}

// The rows of such a segment had an era that was gone already: nothing counted them, and nothing would ever erase them.
TEST(History, ends_older_than_the_retention_at_sealing_have_no_row) {
    MemoryRowStorage storage;
    HistoryTrial trial(storage, {10 * kHour, 1 << 30});
    trial.end_one("mail");
    trial.wait(11 * kHour);
    trial.seal();
    EXPECT_EQ(trial.row_count(), 0u);
    trial.end_one("mail");
    trial.seal();
    EXPECT_EQ(trial.row_count(), 1u);
}

TEST(History, a_relocated_outcome_is_not_another_end) {
    MemoryRowStorage storage;
    TrialShard shard;
    Retention retention;
    const auto index = *Index::open(storage, retention);
    const MessageId id = shard.put("mail", kNow + 1);
    shard.end(id);
    shard.close_segment();
    shard.commit(kNow + 100);
    shard.relocate(id);
    shard.close_segment();
    ASSERT_TRUE(seal_missing(shard.catalog(), *index).ok());
    const auto rows = index->list_history(all_of("mail"), kNow + 100);
    ASSERT_EQ(rows->rows.size(), 1u);
    EXPECT_EQ(rows->rows[0].ended_ms, kNow);
}

TEST(EraLedger, eras_never_share_an_instant) {
    Random random(5);
    for (int round = 0; round < 200; ++round) {
        const HistoryBounds bounds{random.between(1, 100'000), static_cast<std::uint64_t>(random.between(64, 100'000))};
        EraLedger ledger;
        DueMs now = 1000;
        for (int i = 0; i < 50; ++i) {
            const DueMs first = now + (random.chance(300'000) ? 0 : random.between(0, 5000));
            now = first + random.between(0, 100);
            ledger.add(static_cast<std::uint64_t>(random.between(1, 3000)), first, now, bounds);
            ledger.shrink(now, bounds);
            const auto& entries = ledger.entries();
            for (std::size_t at = 1; at < entries.size(); ++at) {
                ASSERT_LT(entries[at - 1].until_ms, entries[at].from_ms);
                ASSERT_LT(entries[at - 1].era, entries[at].era);
            }
            ASSERT_TRUE(entries.size() <= 1 || ledger.bytes() <= bounds.bytes_max);
            std::string bytes;
            ledger.encode(bytes);
            ASSERT_EQ(*EraLedger::decode(bytes), ledger);
        }
    }
}

TEST(EraLedger, damaged_bytes_are_refused) {
    EraLedger ledger;
    ledger.add(10, 5, 6, {});
    std::string bytes;
    ledger.encode(bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        if (size == 4) continue;  // an empty ledger
        EXPECT_EQ(EraLedger::decode(bytes.substr(0, size)).error().code, "damaged_index"_code) << size;
    }
    EXPECT_FALSE(decode_history_row(history_key(1, "n", "q", 5, 6), "x"));
}

TEST(HistoryRow, one_of_an_earlier_version_has_no_wait) {
    EndedRow row{.id = 6, .outcome = State::done, .ended_ms = 5, .lateness_ms = 7, .wait_ms = 8};
    std::string value;
    encode_history_value(value, row);
    const std::string key = history_key(1, "n", "q", 5, 6);
    EXPECT_EQ(*decode_history_row(key, value), row);
    row.wait_ms = 0;
    EXPECT_EQ(*decode_history_row(key, value.substr(0, value.size() - 8)), row);
}

}  // namespace
}  // namespace duewheel::history_test
