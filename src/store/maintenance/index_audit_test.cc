#include "store/maintenance/index_audit.h"

#include <tuple>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "store/history_fixture.h"
#include "store/index_recovery.h"
#include "store/key_layout.h"
#include "support/memory_rows.h"

namespace duewheel::index_audit_test {
namespace {

constexpr DueMs kNow = TrialShard::kStart;

// `duewheel check` called an index whole that had lost its rows in every table but the one by id.
class IndexAudit : public testing::Test {
  protected:
    IndexAudit() {
        index_ = *Index::open(storage_, retention_);
        waits_ = shard_.put(TrialShard::state_of("mail", kNow + 500, "invoice"));
        at_once_ = shard_.put("mail", kNow);
        ended_ = shard_.put(TrialShard::state_of("mail", kNow + 500, "letter"));
        shard_.end(ended_);
        soon_ = shard_.put("mail", kNow + 10);
        MessageState ordered = TrialShard::state_of("mail", kNow + 600);
        ordered.order_key = "ann";
        ordered.group = "bob";
        ordered.expires_ms = kNow + 900;
        ordered_ = shard_.put(ordered);
        dead_ = shard_.put("mail", kNow + 700);
        shard_.end(dead_, State::dead);
        MessageState asked = TrialShard::state_of("mail", kNow - 40);
        asked.state = State::prepared;
        overdue_prepared_message_ = shard_.put(asked);
        shard_.commit(kNow);
        shard_.commit(kNow + 20, true);
        EXPECT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    }
    std::optional<std::string> disagreement() const { return *find_disagreement(*index_); }
    void expect_found(const std::string& table) const {
        const std::optional<std::string> found = disagreement();
        ASSERT_TRUE(found);
        EXPECT_NE(found->find(table), std::string::npos) << *found;
    }
    // Damages a row, and adds one with its value; the index is whole in between.
    void expect_found_changed_or_too_many(const std::string& key, const std::string& too_many,
                                          const std::string& table) {
        const std::string value = **index_->rows().get(key);
        plant(key, value + value);
        expect_found(table);
        plant(key, value);
        EXPECT_EQ(disagreement(), std::nullopt);
        plant(too_many, value);
        expect_found(table);
    }
    void plant(const std::string& key, const std::optional<std::string>& value) {
        const auto builder = index_->rows().build_table();
        value ? builder->put(key, *value) : builder->erase(key);
        ASSERT_TRUE(builder->take_in().ok());
    }
    std::string queue_key_of(MessageId id) const {
        return queue_key("default", "mail", {shard_.rows.at(id).state.due_ms, id});
    }
    std::string due_key_of(MessageId id) const { return due_key({shard_.rows.at(id).state.due_ms, id}); }
    std::string key_of(const std::string& key) const { return key_key("default", "mail", key); }

    TrialShard shard_;
    Retention retention_;
    MemoryRowStorage storage_;
    std::unique_ptr<Index> index_;
    MessageId waits_ = 0;
    MessageId at_once_ = 0;
    MessageId ended_ = 0;
    MessageId soon_ = 0;
    MessageId ordered_ = 0;
    MessageId dead_ = 0;
    MessageId overdue_prepared_message_ = 0;
};

TEST_F(IndexAudit, tables_that_were_built_together_agree) {
    EXPECT_EQ(disagreement(), std::nullopt);
}

TEST_F(IndexAudit, a_queue_row_that_is_missing_changed_or_too_many_is_found) {
    const std::string key = queue_key_of(waits_);
    const std::string value = **index_->rows().get(key);
    plant(key, std::nullopt);
    expect_found("by queue");
    MessageRow changed = shard_.rows.at(waits_);
    changed.state.priority += 1;
    std::string other;
    encode_queue_value(other, changed);
    plant(key, other);
    expect_found("by queue");
    plant(key, value);
    EXPECT_EQ(disagreement(), std::nullopt);
    plant(queue_key("default", "mail", {kNow + 500, ended_}), value);
    expect_found("by queue");
}

TEST_F(IndexAudit, a_due_row_that_is_missing_changed_or_too_many_is_found) {
    const std::string key = due_key_of(waits_);
    const std::string value = **index_->rows().get(key);
    plant(key, std::nullopt);
    expect_found("by due");
    plant(key, value);
    expect_found_changed_or_too_many(key, due_key({kNow + 500, ended_}), "by due");
}

TEST_F(IndexAudit, a_due_row_of_the_past_may_be_missing_and_must_be_of_its_message) {
    ASSERT_FALSE(*index_->rows().get(due_key_of(at_once_))) << "it was due at once";
    expect_found_changed_or_too_many(due_key_of(soon_), due_key({kNow + 5, ended_}), "by past due");
}

TEST_F(IndexAudit, a_due_row_of_a_prepared_message_must_exist_once_its_answer_is_overdue) {
    plant(due_key_of(overdue_prepared_message_), std::nullopt);
    expect_found("by due");
}

TEST_F(IndexAudit, a_row_at_an_expiry_of_an_order_key_or_of_a_dead_message_that_is_missing_or_too_many_is_found) {
    const DuePosition died{shard_.rows.at(dead_).ended_ms, dead_};
    const std::tuple<std::string, std::string, std::string> rows[] = {
        {"by expiry", expire_key({kNow + 900, ordered_}), expire_key({kNow + 900, ended_})},
        {"by order key", order_row_key("default", "mail", "ann", {kNow + 600, ordered_}),
         order_row_key("default", "mail", "ann", {kNow + 600, ended_})},
        {"by group", group_row_key("default", "mail", "bob", {kNow + 600, ordered_}),
         group_row_key("default", "mail", "bob", {kNow + 600, ended_})},
        {"by death", dead_key("default", "mail", died), dead_key("default", "mail", {died.due_ms, ended_})},
    };
    for (const auto& [table, key, other] : rows) {
        const auto value = *index_->rows().get(key);
        ASSERT_TRUE(value) << table;
        plant(key, std::nullopt);
        expect_found(table);
        plant(key, *value + *value);
        expect_found(table);
        plant(key, value);
        EXPECT_EQ(disagreement(), std::nullopt);
        plant(other, value);
        expect_found(table);
        plant(other, std::nullopt);
        EXPECT_EQ(disagreement(), std::nullopt);
    }
}

// A server of an earlier version may have run in between.
TEST_F(IndexAudit, rows_of_leases_may_be_missing_or_too_many_and_must_be_readable) {
    plant(lease_key({kNow + 60'000, ended_}), "");
    EXPECT_EQ(disagreement(), std::nullopt);
    plant(std::string("l"), "");
    EXPECT_EQ(find_disagreement(*index_).error().code, "damaged_index"_code);
}

TEST_F(IndexAudit, a_key_that_is_missing_or_anothers_is_found) {
    const std::string key = key_of("invoice");
    const std::string value = **index_->rows().get(key);
    plant(key, std::nullopt);
    expect_found("by key");
    KeyHolder holder = *decode_key_value(value);
    holder.id = soon_;
    std::string other;
    encode_key_value(other, holder);
    plant(key, other);
    expect_found("by key");
    plant(key, value);
    EXPECT_EQ(disagreement(), std::nullopt);
    plant(key_of("none"), value);
    expect_found("by key");
}

TEST_F(IndexAudit, a_key_that_says_ended_of_a_message_that_has_not_is_found) {
    KeyHolder holder = *decode_key_value(**index_->rows().get(key_of("letter")));
    ASSERT_NE(holder.ended_ms, 0);
    holder.id = soon_;
    std::string value;
    encode_key_value(value, holder);
    plant(key_of("letter"), value);
    expect_found("a key tells");
}

TEST_F(IndexAudit, rows_of_meta_that_cannot_be_read_are_an_error) {
    plant(needed_key(1), "x");
    EXPECT_EQ(find_disagreement(*index_).error().code, "damaged_index"_code);
}

TEST_F(IndexAudit, a_count_of_a_minute_that_is_missing_changed_or_too_many_is_found) {
    for (const std::string queue : {"mail", ""}) {
        const std::string key = due_counts_key("default", queue, kNow / 60'000 * 60'000);
        const std::optional<std::string> value = *index_->rows().get(key);
        ASSERT_TRUE(value);
        for (const std::uint32_t scheduled : {0u, 1u, 5u}) {
            std::string other;
            encode_due_counts(other, {{scheduled, 0, 0}});
            ASSERT_NE(other, *value);
            plant(key, other);
            expect_found("in a minute");
        }
        plant(key, std::nullopt);
        expect_found("in a minute");
        plant(key, value);
        EXPECT_EQ(disagreement(), std::nullopt);
        std::string empty;
        encode_due_counts(empty, {});
        for (const std::string& more : {*value, empty}) {
            plant(due_counts_key("default", queue, kNow / 60'000 * 60'000 + 60'000), more);
            expect_found("in a minute");
        }
        plant(due_counts_key("default", queue, kNow / 60'000 * 60'000 + 60'000), std::nullopt);
    }
}

TEST_F(IndexAudit, holds_for_any_history) {
    for_each_history(20, [](TrialHistory& history) {
        for (int segment = 0; segment < 8; ++segment) {
            history.write_segment(6);
            history.seal();
            ASSERT_EQ(*find_disagreement(*history.index), std::nullopt);
        }
    });
}

}  // namespace
}  // namespace duewheel::index_audit_test
