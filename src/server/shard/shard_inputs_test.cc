// The positions of inputs in what remains of a shard: its cleaned log, its index, a backup.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "server/node/trial_owner.h"
#include "shared/random.h"
#include "store/maintenance/backup.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::shard_inputs_test {
namespace {

constexpr std::int64_t kHour = 3600 * 1000;

std::int64_t position_of(TrialOwner& owner, const std::string& input) {
    const auto found = owner.engine().inputs().find(input);
    return found == owner.engine().inputs().end() ? kNoInputPosition : found->second.offset;
}

void take(TrialOwner& owner, const std::string& input, std::int64_t next) {
    const TakeRecordsCommand command{.input = input, .position = position_of(owner, input), .next = next};
    EXPECT_EQ(owner.ask<TakeRecordsAnswer>(command).position, next);
}

TEST(ShardInputs, positions_survive_cleaning_and_the_loss_of_the_index_and_are_in_a_backup) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, "/data", log);
    ASSERT_TRUE(owner.open(rows).ok());
    owner.cleans = true;
    take(owner, "orders.later/0", 7);
    take(owner, "orders.later/1", 9);
    const Sequence log_position = owner.engine().inputs().at("orders.later/0").log_position;
    for (int i = 0; i < 300; ++i) {
        const MessageId id = owner.put(kHour, std::string(200, 'x'));
        owner.ask<ChangeAnswer>(CancelCommand{"default", id});
    }
    ASSERT_GT(owner.parts().journal().first_sequence(), log_position) << "else this test shows nothing";
    take(owner, "orders.later/1", 10);
    for (const bool index_is_lost : {false, true, false}) {
        owner.close();
        if (index_is_lost) static_cast<void>(rows.discard());
        const Status opened = owner.open(rows);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        owner.settle();
        EXPECT_EQ(position_of(owner, "orders.later/0"), 7);
        EXPECT_EQ(position_of(owner, "orders.later/1"), 10);
    }
    ASSERT_TRUE(make_backup(disk, "/data", "/backup").ok());
    take(owner, "orders.later/1", 11);
    ASSERT_TRUE(restore_backup(disk, "/backup", "/restored", owner.now, {}).ok());
    MemoryRowStorage other_rows;
    TrialOwner again(disk, "/restored", log);
    again.now = owner.now;
    ASSERT_TRUE(again.open(other_rows).ok());
    again.settle();
    EXPECT_EQ(position_of(again, "orders.later/0"), 7);
    EXPECT_EQ(position_of(again, "orders.later/1"), 10);
}

constexpr const char* kInput = "orders.later/0";

// The record at this offset: each seventh has a delay that the engine refuses.
bool is_refused(std::int64_t offset) {
    return offset % 7 == 6;
}
PutCommand record_at(std::int64_t offset) {
    PutCommand put{.queue = TrialOwner::kQueue};
    put.when.delay_ms = is_refused(offset) ? 10'000'000 * kHour : kHour;
    put.body = std::to_string(offset) + std::string(150, 'x');
    return put;
}

// What is in the log is what stands before the position: no message is missing, and none is there twice.
void expect_all_up_to_the_position(TrialOwner& owner) {
    const std::int64_t position = std::max<std::int64_t>(position_of(owner, kInput), 0);
    std::uint64_t puts = 0;
    for (std::int64_t offset = 0; offset < position; ++offset) puts += is_refused(offset) ? 0 : 1;
    ASSERT_EQ(owner.engine().totals().live_count, puts) << "position " << position;
}

void expect_each_message_once(TrialOwner& owner) {
    std::map<std::string, int> bodies;
    ListCommand list{.queue = TrialOwner::kQueue};
    for (;;) {
        const auto page = owner.ask<ListAnswer>(list);
        for (const ListedMessage& listed : page.listed) {
            ++bodies[owner.ask<MessageAnswer>(GetCommand{"default", listed.row.id}).body];
        }
        if (!page.next) break;
        list.from = *page.next;
    }
    const std::int64_t position = position_of(owner, kInput);
    for (std::int64_t offset = 0; offset < position; ++offset) {
        ASSERT_EQ(bodies[record_at(offset).body], is_refused(offset) ? 0 : 1) << "record " << offset;
    }
}

// A reader as that of Kafka, whose server loses power in the middle of any call of the disk, again and again.
TEST(ShardInputs, over_power_cuts_each_record_is_taken_exactly_once) {
    std::uint64_t cuts = 0;
    std::uint64_t records = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        SimDisk disk(seed);
        MemoryRowStorage rows;
        RecordingLog log;
        TrialOwner owner(disk, "/data", log);
        for (int life = 0; life < 12; ++life) {
            std::uint64_t left = 1 + random.below(life % 2 == 0 ? 200 : 20);
            disk.set_hook([&](DiskOperation operation, std::string_view) {
                const bool changes = operation != DiskOperation::read && operation != DiskOperation::size;
                if (changes && left > 0 && --left == 0) disk.power_off(random);
            });
            bool is_up = owner.open(rows).ok();
            owner.cleans = true;
            std::int64_t position = kNoInputPosition;
            const auto work = [&] {
                while (is_up) {
                    const Result<bool> went_on = owner.step();
                    is_up = went_on.ok();
                    if (is_up && !*went_on && owner.engine().next_wakeup() > owner.now) return;
                }
            };
            work();
            if (is_up) position = position_of(owner, kInput);
            while (is_up) {
                TakeRecordsCommand take{.input = kInput, .position = position};
                take.next = std::max<std::int64_t>(position, 0);
                // The reader has written what was refused elsewhere, and passes it.
                if (is_refused(take.next)) ++take.next;
                for (std::uint64_t count = random.below(30); count > 0; --count, ++take.next) {
                    take.puts.push_back(record_at(take.next));
                    take.offsets.push_back(take.next);
                }
                const ReplyToken token = owner.submit(std::move(take));
                work();
                if (!is_up || owner.reply_to(token) == nullptr) break;
                const auto* answer = std::get_if<TakeRecordsAnswer>(owner.reply_to(token));
                ASSERT_NE(answer, nullptr);
                ASSERT_EQ(position_of(owner, kInput), answer->position);
                records += answer->taken;
                position = answer->position;
                ASSERT_NO_FATAL_FAILURE(expect_all_up_to_the_position(owner));
            }
            owner.close();
            disk.set_hook({});
            if (left == 0) disk.power_on();
            cuts += left == 0 ? 1 : 0;
            const Status opened = owner.open(rows);
            ASSERT_TRUE(opened.ok()) << opened.error().message;
            owner.settle();
            ASSERT_GE(position_of(owner, kInput), position) << "an answer was forgotten";
            ASSERT_NO_FATAL_FAILURE(expect_all_up_to_the_position(owner));
            ASSERT_NO_FATAL_FAILURE(expect_each_message_once(owner));
            owner.close();
        }
    }
    EXPECT_GT(cuts, 200u);
    EXPECT_GT(records, 1'000u);
}

}  // namespace
}  // namespace duewheel::shard_inputs_test
