// The parts of a shard on a full disk: writes before the free space is measured again, and the case of no space at all.
#include <deque>
#include <functional>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "server/node/trial_owner.h"
#include "server/shard/shard_parts.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::shard_space_test {
namespace {

constexpr const char* kDirectory = "/data";
constexpr std::int64_t kHour = 3600 * 1000;
constexpr int kMessages = 160;

class ShardSpace : public testing::Test {
  protected:
    void tend() {
        const auto seen = owner.parts().maintain_spare_segments();
        ASSERT_TRUE(seen.ok()) << seen.error().message;
        owner.parts().take_space(*seen);
    }
    void maintain_and_settle() {
        tend();
        owner.settle();
    }

    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner{disk, kDirectory, log};
};

// Puts were quicker than the look at the disk that is to refuse them and began a segment of the reserve. One was then
// missing for a table of the index or for the record that lets the log's front go, and puts were refused forever.
TEST_F(ShardSpace, puts_start_no_segment_of_the_reserve_before_the_free_space_is_known) {
    owner.options.spare_segments = 1;
    owner.options.reserve_segments = 4;
    ASSERT_TRUE(owner.open(rows).ok());
    owner.put(kHour, "first");
    ASSERT_NO_FATAL_FAILURE(tend());
    ASSERT_EQ(owner.parts().journal().ready_spares(), 5u);
    disk.set_capacity(1);

    std::vector<ReplyToken> puts;
    for (int i = 0; i < kMessages; ++i) {
        PutCommand put;
        put.queue = TrialOwner::kQueue;
        put.when.delay_ms = kHour;
        put.body = std::string(300, 'x');
        puts.push_back(owner.submit(std::move(put)));
        owner.settle();
    }
    EXPECT_EQ(owner.parts().journal().ready_spares(), 4u);
    EXPECT_NE(owner.reply_to(puts.front()), nullptr);
    EXPECT_EQ(owner.reply_to(puts.back()), nullptr) << "it waits for the look";
    EXPECT_TRUE(owner.engine().counters().puts_stalled);

    ASSERT_NO_FATAL_FAILURE(tend());
    owner.settle();
    ASSERT_NE(owner.reply_to(puts.back()), nullptr);
    const auto* refused = std::get_if<Error>(owner.reply_to(puts.back()));
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(refused->code, "store_full"_code);
    EXPECT_EQ(owner.parts().journal().ready_spares(), 4u);
}

// A server whose disk was full left nothing of a wall clock that it held; the next start believed that, and messages
// went out weeks early.
TEST_F(ShardSpace, the_saved_time_uses_the_space_of_a_spare) {
    owner.options.spare_segments = 1;
    owner.options.reserve_segments = 4;
    ASSERT_TRUE(owner.open(rows).ok());
    ASSERT_NO_FATAL_FAILURE(tend());
    disk.set_capacity(disk.used_bytes());
    const ClockMark held{"a-run", 17, true};
    ASSERT_TRUE(owner.parts().save_clock_mark(held).ok());
    owner.close();
    ASSERT_TRUE(owner.open(rows).ok());
    EXPECT_EQ(owner.parts().clock_mark(), held);
}

// When the reserve was used up all the same, requests waited for an operator; a start after kill -9 did too.
TEST_F(ShardSpace, without_segments_all_requests_are_answered_also_after_a_start) {
    owner.options.spare_segments = 1;
    owner.options.reserve_segments = 1;
    ASSERT_TRUE(owner.open(rows).ok());
    std::vector<MessageId> ids;
    for (int i = 0; i < 2 * kMessages; ++i) ids.push_back(owner.put(kHour, "body"));
    ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    disk.set_capacity(1);

    std::size_t cancelled = 0;
    const auto cancel_next = [&] {
        const ReplyToken token = owner.submit(CancelCommand{"default", ids.at(cancelled)});
        owner.settle();
        const Reply* reply = owner.reply_to(token);
        EXPECT_NE(reply, nullptr) << "every request is answered";
        if (reply == nullptr) return false;
        if (const auto* error = std::get_if<Error>(reply)) {
            EXPECT_EQ(error->code, "store_full"_code);
            return false;
        }
        ++cancelled;
        return true;
    };
    while (cancel_next()) ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    EXPECT_GT(cancelled, 40u);
    EXPECT_EQ(owner.parts().log_space(), LogSpace::none);
    EXPECT_EQ(owner.parts().journal().spares_held(), 0u);
    owner.engine().close_segment();  // so that not even a start finds room for its first record
    owner.settle();
    EXPECT_EQ(owner.ask<MessageAnswer>(GetCommand{"default", ids[cancelled]}).row.state.state, State::scheduled);

    owner.close();
    ASSERT_TRUE(owner.open(rows).ok());
    EXPECT_FALSE(cancel_next());
    EXPECT_FALSE(owner.engine().is_serving());
    EXPECT_EQ(owner.ask<MessageAnswer>(GetCommand{"default", ids[cancelled]}).row.state.state, State::scheduled);

    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    EXPECT_TRUE(owner.engine().is_serving());
    EXPECT_TRUE(cancel_next());
    EXPECT_EQ(owner.engine().totals().live_count, ids.size() - cancelled);
}

// Thousands of cancels at once on a disk without a free byte were quicker than the index: they used up all of the
// reserve but one segment, which no table may take the place of while the log may need it. Nothing was pending any
// more, and puts were refused forever.
class ShardSpaceOfEnds : public ShardSpace {
  protected:
    // Fills the log, then the disk, and cancels one by one, in the order of `order`, until no end is taken any more.
    void use_up(const std::function<std::size_t(std::size_t)>& order) {
        owner.options.spare_segments = 1;
        owner.options.reserve_segments = 4;
        owner.options.free_floor_bytes = 0;
        ASSERT_TRUE(owner.open(rows).ok());
        PutBatchCommand batch;
        for (int i = 0; i < 20; ++i) {
            PutCommand& put = batch.puts.emplace_back();
            put.queue = TrialOwner::kQueue;
            put.when.delay_ms = kHour;
            put.body = std::string(300, 'x');
        }
        while (ids.size() < kCount) {
            for (const auto& each : owner.ask<PutBatchAnswer>(batch).results)
                ids.push_back(std::get<PutAnswer>(each).id);
        }
        ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
        ASSERT_EQ(owner.parts().journal().ready_spares(), 5u);
        disk.set_capacity(SimDisk::kDefaultCapacityBytes - *disk.free_bytes(kDirectory));
        rows.set_free_space([this] { return *disk.free_bytes(kDirectory); });
        ASSERT_NO_FATAL_FAILURE(tend());
        for (std::size_t i = 0; i < kCount; ++i) left.push_back(ids[order(i)]);

        owner.seals = false;
        std::optional<Error> refused;
        while (!left.empty() && !(refused = cancel(left.front()))) {
            left.pop_front();
            ASSERT_NO_FATAL_FAILURE(tend());
        }
        ASSERT_TRUE(refused) << "too few messages for this test";
        EXPECT_EQ(refused->code, "store_full"_code);
        EXPECT_NE(refused->message.find("Try again in a second"), std::string::npos) << refused->message;
        EXPECT_EQ(owner.parts().log_space(), LogSpace::cleaning);
        EXPECT_GT(kCount - left.size(), 30u);
    }

    // The index, compaction and cancels continue.
    void goes_on_to_the_end() {
        owner.seals = owner.cleans = true;
        for (int steps = 0; !left.empty() || owner.parts().log_space() != LogSpace::enough; ++steps) {
            ASSERT_LT(steps, 100'000) << "it stands still with " << left.size() << " of " << kCount << " left";
            const bool went_on = step();
            ASSERT_NO_FATAL_FAILURE(tend());
            if (went_on) continue;
            if (!left.empty() && !cancel(left.front())) left.pop_front();
        }
        EXPECT_EQ(owner.engine().totals().live_count, 0u);
        EXPECT_NE(owner.put(kHour, "again"), 0u);
    }

    // A table that waits for space is no end of the process.
    bool step() {
        const auto went_on = owner.step();
        EXPECT_TRUE(went_on.ok() || went_on.error().code == "no_space"_code) << went_on.error().message;
        return went_on.ok() && *went_on;
    }
    std::optional<Error> cancel(MessageId id) {
        const ReplyToken token = owner.submit(CancelCommand{"default", id});
        for (int steps = 0; owner.reply_to(token) == nullptr && steps < 100; ++steps) step();
        const Reply* reply = owner.reply_to(token);
        if (reply == nullptr) return Error{"internal"_code, "every request is answered"};
        if (const auto* error = std::get_if<Error>(reply)) return *error;
        return std::nullopt;
    }

    static constexpr std::size_t kCount = 10 * kMessages;
    std::vector<MessageId> ids;
    std::deque<MessageId> left;
};

TEST_F(ShardSpaceOfEnds, faster_than_the_index_leave_it_the_space_that_frees_space) {
    ASSERT_NO_FATAL_FAILURE(use_up([](std::size_t i) { return i; }));
    goes_on_to_the_end();
}

// What stands in front is still needed, and has to be relocated before anything is gained.
TEST_F(ShardSpaceOfEnds, of_the_newest_messages_leave_the_space_to_relocate_the_oldest) {
    ASSERT_NO_FATAL_FAILURE(use_up([](std::size_t i) { return kCount - 1 - i; }));
    goes_on_to_the_end();
}

TEST_F(ShardSpaceOfEnds, of_every_other_message_leave_the_space_to_relocate_the_rest) {
    ASSERT_NO_FATAL_FAILURE(use_up([](std::size_t i) { return i < kCount / 2 ? 2 * i : 2 * (i - kCount / 2) + 1; }));
    goes_on_to_the_end();
}

// A start with no more than that goes on like the run before it.
TEST_F(ShardSpaceOfEnds, are_accepted_again_after_a_start_with_only_the_space_kept_for_compaction) {
    ASSERT_NO_FATAL_FAILURE(use_up([](std::size_t i) { return i; }));
    owner.close();
    ASSERT_TRUE(owner.open(rows).ok());
    goes_on_to_the_end();
}

// Each start of a server writes a record by which it begins to serve, and confirms it. In a segment of cleaning they
// were written without a look at its room, beyond its end (seed 7497 of the simulator).
TEST_F(ShardSpace, starts_on_a_full_disk_start_no_segment_and_overfill_none) {
    owner.options.spare_segments = 0;
    owner.options.reserve_segments = 4;
    owner.options.free_floor_bytes = 0;
    ASSERT_TRUE(owner.open(rows).ok());
    ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    const MessageId id = owner.put(kHour, "body");
    disk.set_capacity(1);
    bool serves = true;
    for (int starts = 0; starts < 100; ++starts) {
        owner.close();
        ASSERT_TRUE(owner.open(rows).ok());
        ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
        EXPECT_EQ(owner.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::scheduled);
        EXPECT_TRUE(serves || !owner.engine().is_serving());
        serves = owner.engine().is_serving();
        owner.now += owner.options.engine.confirm_after_ms;
        owner.settle();
    }
    EXPECT_FALSE(serves) << "too few starts for this test";
}

// A pass that had to carry nearly everything made it rest until the log had grown. All messages ended then, nothing
// came any more to make it grow, and the log stayed as long as it was: on a full disk, where puts wait for it, for
// ever.
TEST_F(ShardSpace, compaction_continues_when_the_records_it_had_to_relocate_have_ended) {
    owner.options.spare_segments = 2;
    ASSERT_TRUE(owner.open(rows).ok());
    PutCommand put;
    put.when.delay_ms = kHour;
    put.body = std::string(900, 'x');
    for (int i = 0; i < 4000; ++i) {
        put.queue = i % 14 < 3 ? "some" : "most";
        owner.ask<PutAnswer>(put);
    }
    const auto purge = [&](const char* queue) {
        owner.ask<QueueAnswer>(ConfigureQueueCommand{"default", queue, ConfigureQueueCommand::What::purge, {}});
        for (int tends = 0; tends < 50; ++tends) ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    };
    disk.set_capacity(owner.options.free_floor_bytes);  // it is full, so that less than half is worth a pass
    ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    owner.cleans = true;
    ASSERT_NO_FATAL_FAILURE(purge("some"));
    ASSERT_TRUE(owner.cleaning().is_backing_off());
    const std::uint64_t before = owner.parts().journal().catalog().bytes();
    ASSERT_NO_FATAL_FAILURE(purge("most"));
    EXPECT_LT(owner.parts().journal().catalog().bytes(), before / 2);
}

// A disk that had been full once was taken for full from then on: no pass began when it was full again.
TEST_F(ShardSpace, a_disk_that_is_full_a_second_time_is_cleaned_for_a_second_time) {
    owner.options.spare_segments = 2;
    owner.options.engine.segment_bytes = 64 << 10;
    ASSERT_TRUE(owner.open(rows).ok());
    owner.cleans = true;
    PutBatchCommand batch;
    for (int i = 0; i < 20; ++i) {
        PutCommand& put = batch.puts.emplace_back();
        put.queue = i % 4 == 0 ? "some" : "most";
        put.when.delay_ms = kHour;
        put.body = std::string(900, 'x');
    }
    for (const char* time : {"first", "second"}) {
        for (int i = 0; i < 200; ++i) {
            owner.ask<PutBatchAnswer>(batch);
            ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
        }
        owner.ask<QueueAnswer>(ConfigureQueueCommand{"default", "some", ConfigureQueueCommand::What::purge, {}});
        for (int tends = 0; tends < 50; ++tends) ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
        const std::uint64_t dropped = owner.cleaning().segments_dropped();
        disk.set_capacity(owner.options.free_floor_bytes);
        for (int tends = 0; tends < 50; ++tends) ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
        EXPECT_GT(owner.cleaning().segments_dropped(), dropped + 40) << "the disk was full for the " << time << " time";
        disk.set_capacity(SimDisk::kDefaultCapacityBytes);
        ASSERT_NO_FATAL_FAILURE(maintain_and_settle());
    }
}

}  // namespace
}  // namespace duewheel::shard_space_test
