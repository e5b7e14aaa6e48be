// One suite over three stores, driven by random records: the recent tier that is never sealed, the recent tier over
// rows in memory, and the recent tier over RocksDB. The combined state of both tiers is compared with plain maps.
#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "store/history_fixture.h"
#include "store/index_recovery.h"
#include "store/recent_tier.h"
#include "store/rocks_rows.h"
#include "store/sealer.h"
#include "support/memory_rows.h"
#include "support/temporary_directory.h"

namespace duewheel::store_conformance_test {
namespace {

constexpr DueMs kNever = INT64_MAX;

struct NeverSealed {
    static constexpr bool kSeals = false;
    RowStorage& storage() { return kept; }
    MemoryRowStorage kept;
};
struct OverMemory {
    static constexpr bool kSeals = true;
    RowStorage& storage() { return kept; }
    MemoryRowStorage kept;
};
struct OverRocks {
    static constexpr bool kSeals = true;
    RowStorage& storage() { return kept; }
    TemporaryDirectory directory;
    RocksRowStorage kept{posix_file_system(), directory.at("index"), [](auto, auto) { return false; }};
};

// What an outcome is compared by, wherever it stands.
MessageRow without_what_outcomes_lose(MessageRow row) {
    MessageRow kept;
    kept.id = row.id;
    kept.state.state = row.state.state;
    kept.state.version = row.state.version;
    kept.state.attempts = row.state.attempts;
    kept.state.maybe_delivered = row.state.maybe_delivered;
    kept.state.transaction = row.state.transaction;
    // The due time of a prepared message was that of its answer.
    const bool was_prepared = row.state.transaction >= MessageState::kOpen;
    kept.state.due_ms = was_prepared ? row.state.nominal_due_ms : row.state.due_ms;
    kept.state.name_space = row.state.name_space;
    kept.state.queue = row.state.queue;
    copy_end(row, kept);
    return kept;
}

MessageRow comparable(MessageRow row) {
    return is_ended(row.state.state) && row.state.state != State::dead ? without_what_outcomes_lose(std::move(row))
                                                                       : row;
}

template <class Stores>
class TwoTiers {
  public:
    explicit TwoTiers(std::uint64_t seed) : moves_(shard_, seed) { restart(); }

    void step() {
        moves_.commit();
        Random& random = moves_.random();
        if (random.chance(200'000) || shard_.should_close()) moves_.close_segment();
        apply_new();
        if (Stores::kSeals && random.chance(400'000)) seal_one();
        if (random.chance(600'000)) sweep();
        if (random.chance(30'000)) restart();
    }

    void check() {
        recent_->check();
        for (const auto& [id, row] : shard_.rows) {
            const auto found = find(id);
            ASSERT_TRUE(found) << "message " << id << " is lost";
            ASSERT_EQ(comparable(*found), comparable(row)) << "message " << id;
        }
        for (const auto& [name, holder] : shard_.keys) check_key(name, holder);
        ASSERT_FALSE(find((shard_.totals().id_counter + 1) * kShardsMax));
        check_due();
        check_forecast("");
        check_due_counts("");
        for (const std::string& queue : TrialMoves::queues()) {
            check_queue(queue);
            check_forecast(queue);
            check_due_counts(queue);
            check_dead(queue);
            check_order(queue, "customer-" + std::to_string(moves_.random().below(5)));
        }
    }

    std::uint64_t sealed() const { return index_->position().segment; }

  private:
    void restart() {
        index_.reset();
        auto opened = open_index(stores_.storage(), retention_, shard_.catalog());
        ASSERT_TRUE(opened.ok());
        ASSERT_FALSE(opened->discarded) << *opened->discarded;
        index_ = std::move(opened->index);
        recent_ = std::make_unique<RecentTier>();
        applied_ = 0;
        swept_ = index_->position().segment;
        while (applied_ < shard_.committed.size() && shard_.committed[applied_].segment <= swept_) ++applied_;
        apply_new();
    }
    void apply_new() {
        for (; applied_ < shard_.committed.size(); ++applied_) {
            const TrialRecord& written = shard_.committed[applied_];
            recent_->apply(written.record, written.sequence, written.segment, written.frame_bytes);
        }
    }
    void seal_one() {
        for (const auto& segment : shard_.catalog().snapshot()) {
            if (!segment->end().closed || segment->header().number <= index_->position().segment) continue;
            const Status sealed = seal_segment(*segment, shard_.catalog(), *index_);
            ASSERT_TRUE(sealed.ok()) << sealed.error().message;
            return;
        }
    }
    void sweep() {
        if (swept_ == index_->position().segment) return;
        const bool done = recent_->sweep(static_cast<SegmentNumber>(swept_ + 1), 1 + moves_.random().below(20),
                                         [&](EntryNumber number) {
                                             if (moves_.random().chance(700'000)) recent_->drop(number);
                                         });
        if (done) ++swept_;
    }

    bool is_recent(MessageId id) const { return recent_->find(id) != kNoEntry || recent_->outcome(id) != nullptr; }

    std::optional<MessageRow> find(MessageId id) const {
        if (const EntryNumber number = recent_->find(id); number != kNoEntry)
            return recent_->row(recent_->entry(number));
        if (const Outcome* outcome = recent_->outcome(id)) {
            return recent_->row(id, *outcome);
        }
        auto found = index_->find(id, 0);
        EXPECT_TRUE(found.ok());
        return *std::move(found);
    }

    void check_key(const TrialShard::KeyName& name, const KeyHolder& wanted) const {
        const auto& [name_space, queue, key] = name;
        KeyHolder found;
        const QueueNumber number = recent_->queues().find(name_space, queue);
        const RecentKey* recent = number == kNoQueue ? nullptr : recent_->key_holder(number, key);
        if (recent == nullptr || !recent->is_put_here) {
            const auto row = index_->find_key(name_space, queue, key, 0);
            ASSERT_TRUE(row.ok());
            ASSERT_TRUE(*row || recent != nullptr) << "key " << key << " is lost";
            if (*row) found = **row;
        }
        if (recent != nullptr && recent->id >= found.id) {
            found = {recent->id, recent->request_hash, recent->due_ms, recent->ended_ms};
        }
        ASSERT_EQ(found.id, wanted.id) << key;
        ASSERT_EQ(found.request_hash, wanted.request_hash) << key;
        ASSERT_EQ(found.due_ms, wanted.due_ms) << key;
        ASSERT_EQ(found.ended_ms, wanted.ended_ms) << key;
    }

    // Index rows that nothing recent overrides, and the recent ones; in due order.
    template <class Belongs>
    std::vector<MessageRow> merged(const Result<Stretch>& stretch, Belongs belongs) const {
        EXPECT_TRUE(stretch.ok() && stretch->complete);
        std::vector<MessageRow> rows;
        for (const MessageRow& row : stretch->rows) {
            const bool again =
                std::any_of(rows.begin(), rows.end(), [&](const auto& other) { return other.id == row.id; });
            if (!again && !is_recent(row.id)) rows.push_back(row);
        }
        recent_->for_each_entry([&](EntryNumber, const Entry& entry) {
            MessageRow row = recent_->row(entry);
            if (belongs(row)) rows.push_back(std::move(row));
        });
        std::sort(rows.begin(), rows.end(), [](const MessageRow& left, const MessageRow& right) {
            return DuePosition{left.state.due_ms, left.id} < DuePosition{right.state.due_ms, right.id};
        });
        return rows;
    }
    template <class Belongs>
    std::vector<MessageRow> modelled(Belongs belongs) const {
        std::vector<MessageRow> rows;
        for (const auto& [id, row] : shard_.rows) {
            if (belongs(row)) rows.push_back(row);
        }
        std::sort(rows.begin(), rows.end(), [](const MessageRow& left, const MessageRow& right) {
            return DuePosition{left.state.due_ms, left.id} < DuePosition{right.state.due_ms, right.id};
        });
        return rows;
    }

    // What is still to come: everything else has been handed to its queue.
    void check_due() {
        const DueMs from_ms = shard_.server_time_ms() + 1 + moves_.random().between(0, 200);
        const DueMs until_ms = from_ms + moves_.random().between(0, 200);
        const auto belongs = [&](const MessageRow& row) {
            const MessageState& state = row.state;
            const bool fires = is_timed(state.state) && state.due_ms >= from_ms && state.due_ms < until_ms;
            const bool expires = !is_ended(state.state) && state.expires_ms >= from_ms && state.expires_ms < until_ms;
            return fires || expires;
        };
        ASSERT_EQ(merged(index_->scan_due({from_ms, 0}, until_ms, 100'000), belongs), modelled(belongs));
    }

    void check_queue(const std::string& queue) {
        const DueMs from_ms = moves_.random().chance(300'000) ? 0 : shard_.server_time_ms() - 100;
        const DueMs until_ms = moves_.random().chance(300'000) ? kNever : shard_.server_time_ms() + 100;
        const auto belongs = [&](const MessageRow& row) {
            return !is_ended(row.state.state) && row.state.queue == queue && row.state.due_ms >= from_ms &&
                   row.state.due_ms < until_ms;
        };
        ASSERT_EQ(merged(index_->scan_queue("default", queue, {from_ms, 0}, until_ms, 100'000), belongs),
                  modelled(belongs));
    }

    // What falls due in the time ahead, counted as the engine does: in memory where the index has not the newest
    // record, else in the index.
    void check_forecast(const std::string& queue) {
        const DueMs from_ms = shard_.server_time_ms() + 1;
        const DueMs until_ms = from_ms + moves_.random().between(0, 400);
        const auto is_unsealed = [&](const Entry& entry) { return entry.segment > index_->position().segment; };
        std::map<DuePosition, FallsDue> found;
        std::size_t met = 0;
        const auto meet = [&](DuePosition at, FallsDue what) {
            ++met;
            found.emplace(at, what);
        };
        recent_->for_each_entry([&](EntryNumber, const Entry& entry) {
            const bool wanted = queue.empty() || recent_->queues().name(entry.queue).queue == queue;
            const std::optional<FallsDue> what = falls_due(entry.durable_state, recent_->is_recurring(entry));
            if (!wanted || !what || !is_unsealed(entry) || entry.due_ms < from_ms || entry.due_ms >= until_ms) return;
            meet({entry.due_ms, entry.id}, *what);
        });
        ListDue list{
            "default", queue, {from_ms, 0}, until_ms, 1 + static_cast<std::uint32_t>(moves_.random().below(9))};
        for (;;) {
            const Result<DueRows> due = index_->list_due(list);
            ASSERT_TRUE(due.ok());
            ASSERT_LE(due->rows.size(), list.walk_max);
            for (const DueRows::Row& row : due->rows) {
                const EntryNumber number = recent_->find(row.id);
                const bool is_overtaken =
                    number == kNoEntry ? recent_->outcome(row.id) != nullptr : is_unsealed(recent_->entry(number));
                if (!is_overtaken) meet({row.due_ms, row.id}, row.what);
            }
            if (!due->next) break;
            ASSERT_GT(*due->next, list.from);
            list.from = *due->next;
        }
        std::map<DuePosition, FallsDue> wanted;
        for (const auto& [id, row] : shard_.rows) {
            const std::optional<FallsDue> what = falls_due(row.state.state, row.state.is_recurring());
            const DuePosition at{row.state.due_ms, id};
            const bool is_here = queue.empty() || row.state.queue == queue;
            if (what && is_here && at.due_ms >= from_ms && at.due_ms < until_ms) wanted.emplace(at, *what);
        }
        ASSERT_EQ(found, wanted);
        ASSERT_EQ(met, wanted.size()) << "a message was counted twice";
    }

    // What becomes due in each minute, past ones too: the counts of the index, and the changes of what is newer.
    void check_due_counts(const std::string& queue) {
        std::map<DueMs, DueCounts> found;
        CountDue count{"default", queue, 0, kNever, 1 + static_cast<std::uint32_t>(moves_.random().below(3))};
        for (;;) {
            const Result<DueMinutes> due = index_->count_due(count);
            ASSERT_TRUE(due.ok());
            ASSERT_EQ(due->segment, index_->position().segment);
            ASSERT_LE(due->rows.size(), count.limit);
            for (const DueMinutes::Row& row : due->rows) {
                ASSERT_NE(row.counts, DueCounts()) << "a row for nothing";
                ASSERT_TRUE(found.emplace(row.start_ms, row.counts).second);
            }
            if (!due->next) break;
            ASSERT_GT(*due->next, count.from_ms);
            count.from_ms = *due->next;
        }
        for (const auto& [segment, changes] : recent_->due_changes()) {
            if (segment <= index_->position().segment) continue;
            for (const auto& [minute, counts] : changes.all()) {
                const bool is_here = queue.empty() || recent_->queues().name(minute.queue).queue == queue;
                if (is_here) found[minute.start_ms()].add(counts);
            }
        }
        std::erase_if(found, [](const auto& each) { return each.second == DueCounts(); });
        std::map<DueMs, DueCounts> wanted;
        for (const auto& [id, row] : shard_.rows) {
            const std::optional<FallsDue> what = falls_due(row.state.state, row.state.is_recurring());
            if (!what || (!queue.empty() && row.state.queue != queue)) continue;
            ++wanted[row.state.due_ms / 60'000 * 60'000].of(*what);
        }
        ASSERT_EQ(found, wanted);
    }

    void check_order(const std::string& queue, const std::string& order_key) {
        const auto belongs = [&](const MessageRow& row) {
            return !is_ended(row.state.state) && row.state.queue == queue && row.state.order_key == order_key;
        };
        const auto found = index_->scan_order("default", queue, order_key, {}, 100'000);
        ASSERT_TRUE(found.ok());
        const auto by_place = [](const MessageRow& left, const MessageRow& right) {
            return DuePosition{left.state.nominal_due_ms, left.id} < DuePosition{right.state.nominal_due_ms, right.id};
        };
        ASSERT_TRUE(std::is_sorted(found->rows.begin(), found->rows.end(), by_place));
        ASSERT_EQ(merged(found, belongs), modelled(belongs));
    }

    // The dead letters of a queue by (time of death, id): those in memory one after the other, as the engine scans
    // them.
    void check_dead(const std::string& queue) {
        const DueMs from_ms = moves_.random().chance(500'000) ? 0 : shard_.server_time_ms() - 100;
        std::map<DuePosition, MessageRow> found;
        const auto stretch = index_->scan_dead("default", queue, {from_ms, 0}, kNever, 100'000);
        ASSERT_TRUE(stretch.ok() && stretch->complete);
        for (const MessageRow& row : stretch->rows) {
            if (!is_recent(row.id)) found[{row.ended_ms, row.id}] = row;
        }
        const QueueNumber number = recent_->queues().find("default", queue);
        DuePosition from{from_ms, 0};
        for (;;) {
            const EntryNumber dead = recent_->first_dead(number, from.due_ms, from.id);
            if (dead == kNoEntry) break;
            const MessageRow row = recent_->row(recent_->entry(dead));
            found[{row.ended_ms, row.id}] = row;
            from = {row.ended_ms, row.id + 1};
        }
        std::map<DuePosition, MessageRow> wanted;
        for (const auto& [id, row] : shard_.rows) {
            if (row.state.state != State::dead || row.state.queue != queue || row.ended_ms < from_ms) continue;
            wanted[{row.ended_ms, id}] = row;
        }
        ASSERT_EQ(found, wanted);
    }

    Stores stores_;
    TrialShard shard_;
    TrialMoves moves_;
    Retention retention_;
    std::unique_ptr<Index> index_;
    std::unique_ptr<RecentTier> recent_;
    std::size_t applied_ = 0;  // committed records that the recent tier has seen
    std::uint64_t swept_ = 0;  // segments
};

template <class T>
class StoreConformance : public testing::Test {};

using AllStores = testing::Types<NeverSealed, OverMemory, OverRocks>;
TYPED_TEST_SUITE(StoreConformance, AllStores);

TYPED_TEST(StoreConformance, both_tiers_together_agree_with_the_log) {
    const int seeds = std::is_same_v<TypeParam, OverRocks> ? 4 : 40;
    for (int seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        TwoTiers<TypeParam> store(static_cast<std::uint64_t>(seed));
        for (int step = 0; step < 150; ++step) {
            ASSERT_NO_FATAL_FAILURE(store.step());
            ASSERT_NO_FATAL_FAILURE(store.check()) << "step " << step;
        }
        if (TypeParam::kSeals) {
            EXPECT_GT(store.sealed(), 10u) << "hardly anything was sealed";
        }
    }
}

// The rows of an index that seals every segment as soon as it is full, or now and then, or all in the end.
std::map<std::string, std::string> rows_when_sealed(std::uint64_t seed, std::uint64_t chance) {
    TrialHistory history(seed);
    Random random(seed + chance);
    for (int step = 0; step < 200; ++step) {
        history.moves.commit();
        if (step % 6 == 5) history.moves.close_segment();
        if (random.chance(chance)) history.seal();
    }
    history.seal();
    EXPECT_EQ(history.index->position().segment, 33u);
    return all_rows(history.index->rows());
}

TEST(Rebuilding, gives_the_same_rows_as_sealing_along_the_way) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto rebuilt = rows_when_sealed(seed, 0);
        EXPECT_GT(rebuilt.size(), 100u);
        EXPECT_EQ(rebuilt, rows_when_sealed(seed, 1'000'000));
        EXPECT_EQ(rebuilt, rows_when_sealed(seed, 200'000));
    }
}

// What a restart finds: everything in `due` from the load cursor on, and in each queue from its cursor on.
std::set<MessageId> reached_from_cursors(const Index& index) {
    std::set<MessageId> reached;
    auto take = [&reached](const Result<Stretch>& stretch) {
        EXPECT_TRUE(stretch.ok() && stretch->complete);
        for (const MessageRow& row : stretch->rows) reached.insert(row.id);
    };
    // Rows at which a message falls due; those at which it expires would find it too late.
    const std::string from = due_bound({index.position().load_cursor_ms, 0});
    const Status walked =
        index.rows().scan(from, due_bound({kNever, 0}), 100'000, [&](std::string_view key, std::string_view value) {
            const auto placed = decode_due_row(key, value);
            if (placed->at.due_ms == placed->row.state.due_ms) reached.insert(placed->row.id);
            return true;
        });
    EXPECT_TRUE(walked.ok());
    const auto cursors = index.queue_cursors();
    EXPECT_TRUE(cursors.ok());
    for (const Index::QueueCursor& cursor : *cursors) {
        take(index.scan_queue(cursor.queue.name_space, cursor.queue.queue, cursor.position, kNever, 100'000));
    }
    return reached;
}

TEST(Cursors, every_waiting_message_is_reached_from_them_after_each_segment) {
    for_each_history(20, [](TrialHistory& history) {
        for (int segment = 1; segment <= 30; ++segment) {
            history.write_segment(history.moves.random().below(8));
            history.seal();
            const std::set<MessageId> reached = reached_from_cursors(*history.index);
            for (const auto& [id, row] : history.shard.rows) {
                if (!is_timed(row.state.state)) continue;
                ASSERT_TRUE(reached.contains(id)) << "message " << id << " would never fire, segment " << segment;
            }
        }
    });
}

// The counts in the index are those of the rows.
TEST(NeededCounts, are_always_those_of_the_rows_that_are_there) {
    for_each_history(10, [](TrialHistory& history) {
        for (int segment = 1; segment <= 30; ++segment) {
            history.write_segment(5);
            history.seal();
            std::map<Sequence, std::uint64_t> wanted;
            for (const auto& [id, row] : history.shard.rows) {
                if (!needs_record(row.state.state)) continue;
                ++wanted[(*history.shard.catalog().find(row.log_position))->first_sequence()];
            }
            ASSERT_EQ(*history.index->needed_counts(), wanted) << "segment " << segment;
        }
    });
}

}  // namespace
}  // namespace duewheel::store_conformance_test
