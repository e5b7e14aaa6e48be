#include "store/key_layout.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"
#include "shared/random.h"

namespace duewheel::key_layout_test {
namespace {

constexpr DueMs kNow = 1'700'000'000'000;

std::string random_text(Random& random, std::uint64_t longest) {
    std::string text(random.below(longest + 1), '\0');
    for (char& byte : text) byte = static_cast<char>(random.below(4) * 85);
    return text;
}

DueMs random_instant(Random& random) {
    switch (random.below(4)) {
        case 0:
            return static_cast<DueMs>(random.next());
        case 1:
            return random.between(-3, 3);
        default:
            return kNow + random.between(-300, 300);
    }
}

MessageRow random_row(Random& random) {
    MessageRow row;
    row.id = 1 + random.below(kMessageIdMax);
    row.log_position = random.next() >> random.below(64);
    row.record_bytes = static_cast<std::uint32_t>(random.next());
    row.state.state = static_cast<State>(1 + random.below(kStateCount));
    row.state.version = static_cast<std::uint32_t>(random.next());
    row.state.attempts = static_cast<std::uint32_t>(random.below(3));
    row.state.due_ms = random_instant(random);
    row.state.nominal_due_ms = random.chance(500'000) ? row.state.due_ms : random_instant(random);
    row.state.expires_ms = random.chance(500'000) ? 0 : random_instant(random);
    row.state.priority = static_cast<std::int32_t>(random.between(-5, 5));
    row.state.maybe_delivered = random.chance(500'000);
    row.state.name_space = random.chance(500'000) ? std::string(kDefaultNamespace) : random_text(random, 5);
    row.state.queue = random_text(random, 200);
    row.state.order_key = random_text(random, 3);
    row.state.group = random_text(random, 3);
    row.state.key = random_text(random, 3);
    row.state.request_hash = random.next();
    if (is_ended(row.state.state)) {
        row.ended_ms = random_instant(random);
        row.lease_attempt = static_cast<std::uint32_t>(random.below(3));
        row.lease_incarnation = random.next();
    }
    return row;
}

template <class Check>
void for_random_rows(std::uint64_t seed, int rounds, Check check) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (int round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) check(random_row(random));
}

TEST(KeyLayout, due_keys_order_like_due_and_id) {
    SCOPED_TRACE("seed 11");
    Random random(11);
    for (int round = 0; round < 20'000; ++round) {
        const DuePosition left{random_instant(random), random.below(4)};
        const DuePosition right{random_instant(random), random.below(4)};
        ASSERT_EQ(left < right, due_key(left) < due_key(right)) << left.due_ms << " " << right.due_ms;
        ASSERT_EQ(left <= right, due_bound(left) < due_key(right));
    }
    EXPECT_LT(due_key({std::numeric_limits<DueMs>::min(), 1}), due_key({-1, 1}));
    EXPECT_LT(due_key({-1, 1}), due_key({0, 1}));
    EXPECT_LT(due_key({0, 1}), due_key({std::numeric_limits<DueMs>::max(), 1}));
}

TEST(KeyLayout, queue_keys_group_by_queue_and_order_by_due_and_id_inside) {
    SCOPED_TRACE("seed 12");
    Random random(12);
    for (int round = 0; round < 20'000; ++round) {
        auto draw = [&random] {
            const std::string name_space = random_text(random, 2);
            const std::string queue = random_text(random, 3);
            const DuePosition at{random_instant(random), random.below(4)};
            return std::tuple(name_space.size(), name_space, queue.size(), queue, at);
        };
        const auto left = draw();
        const auto right = draw();
        ASSERT_EQ(left < right, queue_key(std::get<1>(left), std::get<3>(left), std::get<4>(left)) <
                                    queue_key(std::get<1>(right), std::get<3>(right), std::get<4>(right)));
    }
}

TEST(KeyLayout, order_rows_of_one_key_stand_together_by_nominal_due_and_id) {
    const std::string first = order_row_key("n", "q", "k", {5, 9});
    EXPECT_LT(first, order_row_key("n", "q", "k", {6, 1}));
    EXPECT_LT(first, order_row_key("n", "q", "k", {5, 10}));
    EXPECT_LT(order_row_key("n", "q", "k", {kNow, 1}), order_row_key("n", "q", "l", {0, 0}));
    EXPECT_NE(order_row_key("n", "qk", "", {5, 9}), order_row_key("n", "q", "k", {5, 9}));
}

TEST(KeyLayout, rows_of_one_group_stand_together_by_due_and_id_before_its_end) {
    const std::string first = group_row_key("n", "q", "g", {5, 9});
    EXPECT_LT(first, group_row_key("n", "q", "g", {6, 1}));
    EXPECT_LT(group_row_key("n", "q", "g", {std::numeric_limits<DueMs>::max(), std::numeric_limits<MessageId>::max()}),
              group_end("n", "q", "g"));
    EXPECT_LT(group_end("n", "q", "g"), group_row_key("n", "q", "h", {0, 0}));
    EXPECT_LT(group_end("n", "q", "h"), group_row_key("n", "q", "aa", {0, 0}));  // by length first
    EXPECT_LT(group_end("n", "q", "aa"), group_bound("n", "q", true));
    EXPECT_GT(first, group_bound("n", "q", false));
}

TEST(KeyLayout, no_two_idempotency_keys_share_a_row) {
    EXPECT_NE(key_key("a", "b", "cd"), key_key("a", "bc", "d"));
    EXPECT_NE(key_key("a", "b", "cd"), key_key("ab", "", "cd"));
    EXPECT_NE(queue_cursor_key("a", "bc"), queue_cursor_key("ab", "c"));
}

TEST(KeyLayout, every_row_comes_back_from_each_table) {
    std::string value;
    for_random_rows(13, 5'000, [&](const MessageRow& row) {
        const DuePosition at{row.state.due_ms, row.id};
        encode_due_value(value, row);
        const auto of_due = decode_due_row(due_key(at), value);
        ASSERT_TRUE(of_due.ok());
        ASSERT_EQ(of_due->row, row);
        ASSERT_EQ(of_due->at, at);
        encode_expire_value(value, row);
        const auto of_expiry = decode_due_row(expire_key({row.state.expires_ms, row.id}), value);
        ASSERT_TRUE(of_expiry.ok());
        ASSERT_EQ(of_expiry->row, row);
        ASSERT_EQ(of_expiry->at, (DuePosition{row.state.expires_ms, row.id}));
        encode_order_value(value, row);
        const DuePosition position{row.state.nominal_due_ms, row.id};
        const auto of_order = decode_order_row(
            order_row_key(row.state.name_space, row.state.queue, row.state.order_key, position), value);
        ASSERT_TRUE(of_order.ok());
        ASSERT_EQ(of_order->row, row);
        ASSERT_EQ(of_order->at, position);
        encode_group_value(value, row);
        const auto of_group =
            decode_group_row(group_row_key(row.state.name_space, row.state.queue, row.state.group, at), value);
        ASSERT_TRUE(of_group.ok());
        ASSERT_EQ(of_group->row, row);
        ASSERT_EQ(of_group->at, at);
        encode_queue_value(value, row);
        const auto of_queue = decode_queue_row(queue_key(row.state.name_space, row.state.queue, at), value);
        ASSERT_TRUE(of_queue.ok());
        ASSERT_EQ(of_queue->row, row);
        encode_id_value(value, row);
        const auto of_id = decode_id_row(id_key(row.id), value);
        ASSERT_TRUE(of_id.ok());
        ASSERT_EQ(*of_id, row);
        MessageRow dead = row;
        dead.state.state = State::dead;
        dead.reason = "because";
        encode_dead_value(value, dead);
        const DuePosition died{dead.ended_ms, dead.id};
        const auto of_dead = decode_dead_row(dead_key(dead.state.name_space, dead.state.queue, died), value);
        ASSERT_TRUE(of_dead.ok());
        ASSERT_EQ(of_dead->row, dead);
        ASSERT_EQ(of_dead->at, died);
    });
}

TEST(KeyLayout, a_plain_message_takes_few_bytes) {
    MessageRow row;
    row.id = 5 << 10;
    row.log_position = 1'000'000;
    row.record_bytes = 250;
    row.state.due_ms = row.state.nominal_due_ms = kNow;
    row.state.queue = "mail";
    std::string value;
    encode_due_value(value, row);
    EXPECT_EQ(value.size(), 13u);  // queue 6, place 4, record bytes 3
    encode_queue_value(value, row);
    EXPECT_EQ(value.size(), 7u);
    encode_id_value(value, row);
    EXPECT_EQ(value.size(), 21u);  // 1, due 7, and as above
}

TEST(KeyLayout, the_position_comes_back_and_a_newer_one_is_refused) {
    IndexPosition position;
    position.segment = 3;
    position.first_segment = 2;
    position.load_cursor_ms = kNow;
    position.totals = {1, 2, 3, 4, 5, 6, kNow + 1};
    position.relocated_up_to = 77;
    position.outcomes_relocated_up_to = 78;
    position.is_proven = true;
    std::string value;
    encode_position(value, position);
    EXPECT_EQ(*decode_position(value), position);
    std::string cut = value.substr(0, value.size() - 1);
    EXPECT_EQ(decode_position(cut).error().code, "damaged_index"_code);
    ++value[3];
    EXPECT_EQ(decode_position(value).error().code, "newer_format"_code);
    value[3] = 1;
    EXPECT_EQ(decode_position(value).error().code, "damaged_index"_code) << "an older one is built again";
}

TEST(KeyLayout, counts_cursors_and_key_holders_come_back) {
    std::string value;
    encode_needed(value, 77);
    EXPECT_EQ(*decode_needed(value), 77u);
    EXPECT_EQ(*decode_needed_key(needed_key(123)), 123u);
    EXPECT_LT(needed_bound(false), needed_key(0));
    EXPECT_GT(needed_bound(true), needed_key(~Sequence{0}));
    encode_queue_cursor(value, {kNow, 9});
    EXPECT_EQ(*decode_queue_cursor(value), (DuePosition{kNow, 9}));
    const std::string key = queue_cursor_key("space", "queue");
    EXPECT_EQ(decode_queue_cursor_key(key)->name_space, "space");
    EXPECT_EQ(decode_queue_cursor_key(key)->queue, "queue");
    EXPECT_LT(queue_cursor_bound(false), key);
    EXPECT_GT(queue_cursor_bound(true), key);
    encode_key_value(value, {5, 6, kNow + 7, kNow});
    const auto holder = decode_key_value(value);
    EXPECT_EQ(std::tuple(holder->id, holder->request_hash, holder->due_ms, holder->ended_ms),
              std::tuple(5u, 6u, kNow + 7, kNow));
}

TEST(KeyLayout, settings_of_each_subject_are_apart_and_within_their_bounds) {
    const std::string queue = settings_key(Subject::queue, "n", "n");
    const std::string space = settings_key(Subject::name_space, "n", "n");
    EXPECT_LT(queue, space);
    for (const Subject subject : kConfSubjects) {
        const std::string key = settings_key(subject, "n", "n");
        EXPECT_GE(key, conf_bound(false));
        EXPECT_LT(key, conf_bound(true));
        const Result<SubjectOfKey> of = decode_settings_key(key);
        ASSERT_TRUE(of);
        EXPECT_EQ(of->subject, subject);
        EXPECT_EQ(of->name_space, "n");
        EXPECT_EQ(of->name, "n");
    }
    std::string unknown = queue;
    unknown[1] = static_cast<char>(kConfSubjects.size() + 1);
    EXPECT_EQ(decode_settings_key(unknown).error().code, "damaged_index"_code);
}

TEST(KeyLayout, only_outcomes_and_keys_of_ended_messages_have_an_end) {
    std::string value;
    for_random_rows(14, 2'000, [&](const MessageRow& row) {
        const bool expires = is_ended(row.state.state) && row.state.state != State::dead;
        encode_id_value(value, row);
        ASSERT_EQ(ended_ms_of_row(id_key(row.id), value), expires ? row.ended_ms : 0);
        encode_queue_value(value, row);
        ASSERT_EQ(ended_ms_of_row(queue_key("", "q", {}), value), 0);
    });
    encode_key_value(value, {1, 2, kNow + 5, kNow});
    EXPECT_EQ(ended_ms_of_row(key_key("n", "q", "k"), value), kNow);
}

TEST(KeyLayout, cut_keys_and_values_are_damage) {
    SCOPED_TRACE("seed 15");
    Random random(15);
    MessageRow row = random_row(random);
    row.state.state = State::done;
    const std::string key = id_key(row.id);
    std::string value;
    encode_id_value(value, row);
    for (std::size_t size = 0; size < 9; ++size) {
        EXPECT_FALSE(decode_id_row(key.substr(0, size), value).ok());
        EXPECT_FALSE(decode_id_row(key, std::string_view(value).substr(0, size)).ok());
    }
    encode_due_value(value, row);
    EXPECT_FALSE(decode_due_row(due_bound({1, 2}), value).ok());
    EXPECT_FALSE(decode_due_row(due_key({1, 2}) + "x", value).ok());
    EXPECT_FALSE(decode_queue_row(queue_key("n", "q", {1, 2}).substr(0, 20), value).ok());
    EXPECT_FALSE(decode_order_row(order_row_key("n", "q", "k", {1, 2}).substr(0, 20), value).ok());
    EXPECT_FALSE(decode_dead_row(queue_key("n", "q", {1, 2}), value).ok()) << "a key of another table";
}

}  // namespace
}  // namespace duewheel::key_layout_test
