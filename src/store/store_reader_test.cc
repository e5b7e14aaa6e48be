#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "store/index_recovery.h"
#include "store/rocks_rows.h"
#include "store/sealer.h"
#include "store/store.h"
#include "store/trial_moves.h"
#include "support/memory_rows.h"
#include "support/temporary_directory.h"

namespace duewheel::store_reader_test {
namespace {

constexpr DueMs kNow = TrialShard::kStart;

class Reading : public testing::Test {
  protected:
    Reading() { index_ = *Index::open(storage_, retention_); }

    void seal() {
        shard_.close_segment();
        ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    }
    Answer look_up(Lookup lookup) {
        const StoreReader reader(*index_, shard_.catalog(), generation_);
        auto answer = reader.answer(lookup);
        EXPECT_TRUE(answer.ok());
        return *std::move(answer);
    }

    TrialShard shard_;
    Retention retention_;
    MemoryRowStorage storage_;
    std::unique_ptr<Index> index_;
    std::atomic<Generation> generation_ = 7;
};

TEST_F(Reading, each_kind_of_lookup_has_its_kind_of_result) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"), "the body");
    const MessageId other = shard_.put("post", kNow + 600);
    seal();
    const Answer found = look_up({41, FindMessage{id}});
    EXPECT_EQ(found.ticket, 41u);
    EXPECT_EQ(found.generation, 7u);
    EXPECT_EQ(std::get<std::optional<MessageRow>>(found.what), shard_.rows.at(id));
    EXPECT_EQ(std::get<std::optional<MessageRow>>(look_up({1, FindMessage{999}}).what), std::nullopt);

    const FindKeys keys{{{"default", "mail", "order-1"}, {"default", "post", "order-1"}}};
    const auto holders = std::get<std::vector<std::optional<KeyFacts>>>(look_up({1, keys}).what);
    ASSERT_EQ(holders.size(), 2u);
    ASSERT_TRUE(holders[0]);
    EXPECT_EQ(holders[0]->holder.id, id);
    EXPECT_EQ(holders[0]->holder.due_ms, kNow + 500);
    EXPECT_EQ(holders[0]->state, State::scheduled);
    EXPECT_FALSE(holders[1]);

    const auto due = std::get<Stretch>(look_up({1, ScanDue{{kNow, 0}, kNow + 601, 1}}).what);
    ASSERT_EQ(due.rows.size(), 1u);
    EXPECT_EQ(due.rows[0].id, id);
    EXPECT_FALSE(due.complete);
    const auto queue = std::get<Stretch>(look_up({1, ScanQueue{"default", "post", {}, kNow + 601, 10}}).what);
    ASSERT_EQ(queue.rows.size(), 1u);
    EXPECT_EQ(queue.rows[0].id, other);
    EXPECT_TRUE(queue.complete);

    const auto records = std::get<std::vector<RecordBytes>>(look_up({1, ReadRecords{{1, 2}}}).what);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].log_position, 1u);
    const auto record = decode_message(static_cast<RecordKind>(records[0].kind), records[0].body);
    ASSERT_TRUE(record.ok());
    EXPECT_EQ(record->content.body, "the body");
}

TEST_F(Reading, a_listing_continues_with_any_size_of_page) {
    std::vector<MessageId> held;
    for (int i = 0; i < 30; ++i) {
        const MessageId id = shard_.put("mail", kNow + 1 + i / 3);
        if (i % 5 != 2) continue;
        shard_.set_state(id, State::held);
        held.push_back(id);
    }
    shard_.put("post", kNow + 5);
    seal();
    for (const std::uint32_t walk_max : {1u, 2u, 7u, 1000u}) {
        for (const std::uint32_t limit : {1u, 2u, 1000u}) {
            ListQueue list{"default", "mail", {}, INT64_MAX, {State::held}, limit, walk_max};
            std::vector<MessageId> met;
            for (;;) {
                const auto listed = std::get<ListedRows>(look_up({1, list}).what);
                ASSERT_LE(listed.rows.size(), std::min(limit, walk_max));
                for (const MessageRow& row : listed.rows) met.push_back(row.id);
                if (!listed.next) break;
                ASSERT_GT(*listed.next, list.from);
                list.from = *listed.next;
            }
            EXPECT_EQ(met, held) << walk_max << " " << limit;
        }
    }
    const ListQueue window{"default", "mail", {kNow + 2, 0}, kNow + 4, kUnfinishedStates, 100, 100};
    EXPECT_EQ(std::get<ListedRows>(look_up({1, window}).what).rows.size(), 6u);
    const ListQueue none{"default", "mail", {kNow + 4, 0}, kNow + 2, kUnfinishedStates, 100, 100};
    EXPECT_TRUE(std::get<ListedRows>(look_up({1, none}).what).rows.empty());
}

TEST_F(Reading, due_rows_are_counted_by_kind_for_a_queue_or_a_namespace) {
    const auto put = [&](std::string queue, DueMs due_ms, DueMs expires_ms = 0, std::string name_space = "default") {
        MessageState state = TrialShard::state_of(std::move(queue), due_ms);
        state.name_space = std::move(name_space);
        state.expires_ms = expires_ms;
        return shard_.put(std::move(state));
    };
    const MessageId first = put("mail", kNow + 10, kNow + 20);
    const MessageId second = put("post", kNow + 11, kNow + 12);
    put("mail", kNow + 12, 0, "team");
    const MessageId again = put("mail", kNow + 13);
    shard_.set_state(again, State::retrying);
    MessageState loop = TrialShard::state_of("mail", kNow + 14);
    loop.next_occurrence = 1;
    const MessageId looping = shard_.put(std::move(loop));
    shard_.set_state(put("mail", kNow + 15, kNow + 16), State::held);
    MessageState half = TrialShard::state_of("mail", kNow + 16);
    half.state = State::prepared;
    half.transaction = MessageState::kOpen;
    shard_.put(std::move(half));
    put("mail", kNow + 30);
    seal();
    using Rows = std::vector<DueRows::Row>;
    const Rows in_mail = {{kNow + 10, first, FallsDue::scheduled},
                          {kNow + 13, again, FallsDue::retrying},
                          {kNow + 14, looping, FallsDue::loop}};
    Rows in_all = in_mail;
    in_all.insert(in_all.begin() + 1, {kNow + 11, second, FallsDue::scheduled});
    for (const std::uint32_t walk_max : {1u, 2u, 3u, 1000u}) {
        for (const std::string queue : {"mail", ""}) {
            ListDue list{"default", queue, {kNow + 10, 0}, kNow + 30, walk_max};
            Rows met;
            for (;;) {
                const auto due = std::get<DueRows>(look_up({1, list}).what);
                met.insert(met.end(), due.rows.begin(), due.rows.end());
                if (!due.next) break;
                ASSERT_GT(*due.next, list.from);
                list.from = *due.next;
            }
            EXPECT_EQ(met, queue.empty() ? in_all : in_mail) << walk_max;
        }
    }
    EXPECT_TRUE(std::get<DueRows>(look_up({1, ListDue{"default", "", {kNow + 9, 0}, kNow + 9, 10}}).what).rows.empty());
}

TEST_F(Reading, expired_outcomes_are_not_found) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(id);
    seal();
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    EXPECT_FALSE(std::get<std::optional<MessageRow>>(look_up({1, FindMessage{id}}).what));
    const FindKeys key{{{"default", "mail", "order-1"}}};
    EXPECT_FALSE(std::get<std::vector<std::optional<KeyFacts>>>(look_up({1, key}).what)[0]);
}

TEST_F(Reading, records_that_have_left_the_log_are_left_out) {
    shard_.put("mail", kNow + 500);
    shard_.close_segment();
    shard_.put("mail", kNow + 500);
    shard_.commit(kNow);
    shard_.drop_before(2);
    const auto records = std::get<std::vector<RecordBytes>>(look_up({1, ReadRecords{{1, 2}}}).what);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].log_position, 2u);
}

// Rows before whose reads something else happens.
class InterruptedStorage final : public RowStorage {
  public:
    std::function<void()> before_get = [] {};
    std::function<void()> before_scan = [] {};

    Result<std::unique_ptr<SortedRows>> open() override {
        return std::unique_ptr<SortedRows>(std::make_unique<Rows>(*kept_.open(), *this));
    }
    Status condemn() override { return kept_.condemn(); }
    Status discard() override { return kept_.discard(); }

  private:
    class Rows final : public SortedRows {
      public:
        Rows(std::unique_ptr<SortedRows> rows, InterruptedStorage& storage)
            : rows_(std::move(rows)), storage_(storage) {}

        Result<std::optional<std::string>> get(std::string_view key) const override {
            storage_.before_get();
            return rows_->get(key);
        }
        Status scan(std::string_view lower, std::string_view upper, std::size_t limit,
                    const RowVisitor& visit) const override {
            storage_.before_scan();
            return rows_->scan(lower, upper, limit, visit);
        }
        std::unique_ptr<TableBuilder> build_table() override { return rows_->build_table(); }
        Status verify_checksums() const override { return rows_->verify_checksums(); }
        std::uint64_t bytes() const override { return rows_->bytes(); }

      private:
        std::unique_ptr<SortedRows> rows_;
        InterruptedStorage& storage_;
    };

    MemoryRowStorage kept_;
};

TEST(ReadingDates, the_generation_is_read_before_any_row) {
    TrialShard shard;
    Retention retention;
    std::atomic<Generation> generation = 0;
    // The shard may raise it at any time.
    InterruptedStorage storage;
    storage.before_get = storage.before_scan = [&] { ++generation; };
    auto index = *Index::open(storage, retention);
    const StoreReader reader(*index, shard.catalog(), generation);
    for (const Lookup& lookup : {Lookup{1, FindMessage{5}}, Lookup{1, FindKeys{{{"a", "b", "c"}}}},
                                 Lookup{1, ScanDue{{}, kNow, 1}}, Lookup{1, ScanQueue{"a", "b", {}, kNow, 1}}}) {
        generation = 100;
        EXPECT_EQ(reader.answer(lookup)->generation, 100u);
        EXPECT_GT(generation, 100u) << "the rows were not asked";
    }
}

// One reader beside one sealer, on both kinds of rows: each stretch is of one moment. Every segment moves the message
// to a later due, so that it stands exactly once whenever one looks.
void read_beside_sealer(RowStorage& storage) {
    TrialShard shard;
    Retention retention;
    const MessageId id = shard.put("mail", kNow + 1000);
    shard.close_segment();
    for (int segment = 0; segment < 60; ++segment) {
        shard.reschedule(id, kNow + 1001 + segment);
        shard.close_segment();
    }
    auto index = *Index::open(storage, retention);
    ASSERT_TRUE(seal_segment(*shard.catalog().snapshot().front(), shard.catalog(), *index).ok());
    std::atomic<bool> sealed = false;
    std::thread sealer([&] {
        EXPECT_TRUE(seal_missing(shard.catalog(), *index).ok());
        sealed = true;
    });
    DueMs last_ms = 0;
    while (!sealed) {
        const auto due = index->scan_due({}, INT64_MAX, 10);
        ASSERT_TRUE(due.ok());
        ASSERT_EQ(due->rows.size(), 1u);
        ASSERT_GE(due->rows[0].state.due_ms, last_ms);
        last_ms = due->rows[0].state.due_ms;
        ASSERT_GE((*index->find(id, 0))->state.due_ms, last_ms);
        ASSERT_EQ(index->scan_queue("default", "mail", {}, INT64_MAX, 10)->rows.size(), 1u);
    }
    sealer.join();
    EXPECT_EQ((*index->find(id, 0))->state.due_ms, kNow + 1060);
}

TEST(ReadingBesideSealing, sees_one_moment_in_memory) {
    MemoryRowStorage storage;
    read_beside_sealer(storage);
}

TEST(ReadingBesideSealing, sees_one_moment_on_disk) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "RocksDB is not built with the sanitizer, which then cannot see its synchronisation";
#endif
    TemporaryDirectory directory;
    RocksRowStorage storage(posix_file_system(), directory.at("index"), [](auto, auto) { return false; });
    read_beside_sealer(storage);
}

}  // namespace
}  // namespace duewheel::store_reader_test
