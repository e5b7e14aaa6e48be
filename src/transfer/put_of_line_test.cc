#include "transfer/put_of_line.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

#include "http_api/fields/put_rows.h"
#include "http_api/requests/put_request.h"
#include "transfer/random_line.h"

namespace duewheel::put_of_line_test {
namespace {

constexpr std::string_view kInstance = "0123456789abcdef0123456789abcdef";

std::string put_of(const MessageLine& line, Losses& losses) {
    std::string text;
    write_put_of_line(text, line, kInstance, losses);
    return text;
}
std::string put_of(const MessageLine& line) {
    Losses unused;
    return put_of(line, unused);
}

TEST(PutsOfLines, are_accepted_by_a_server_and_match_the_line) {
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        Random random(seed);
        const MessageLine line = random_line(random);
        const std::string text = put_of(line);
        ASSERT_EQ(text, put_of(line)) << "a repeated put is another";
        ASSERT_EQ(text.find('\n'), std::string::npos);
        const Result<PutCommand> put = read_json_put(text, HttpApiOptions{}, {});
        ASSERT_TRUE(put.ok()) << "seed " << seed << ": " << put.error().message << "\n" << text;
        ASSERT_EQ(put->body, line.body);
        ASSERT_EQ(put->headers, line.headers);
        ASSERT_EQ(put->content_type, line.content_type);
        const bool is_dead = line.state == State::dead;
        ASSERT_EQ(put->order_key, is_dead ? "" : line.order_key);
        ASSERT_EQ(put->group, line.group);
        ASSERT_EQ(put->priority, line.priority);
        ASSERT_EQ(put->retry, line.retry);
        ASSERT_EQ(put->key, line.key.empty() ? std::string(kInstance) + ":" + std::to_string(line.id) : line.key);
        ASSERT_EQ(put->transaction, line.transaction);
        ASSERT_EQ(put->is_held, line.state == State::held || line.state == State::dead);
        ASSERT_TRUE(put->when.at_ms == line.due_ms || put->when.at_ms == line.nominal_due_ms);
        ASSERT_EQ(put->expires.has_value(), !is_dead && (line.expires_ms != 0 || line.expires_in_ms != 0));
        ASSERT_EQ(put->expires ? put->expires->at_ms.value_or(0) : 0, is_dead ? 0 : line.expires_ms);
        ASSERT_EQ(put->expires ? put->expires->delay_ms : 0, line.expires_in_ms);
        const bool has_history = !line.repeat && !line.transaction;
        ASSERT_EQ(put->imported->attempts, has_history ? line.attempts : 0);
        ASSERT_EQ(put->imported->checkpoint, has_history ? line.checkpoint : "");
        ASSERT_EQ(put->imported->past_attempts, has_history ? line.past_attempts : "");
    }
}

// Members of a put that no line has, each with the reason. Any other member must be exported: an import would lose it.
const std::map<std::string_view, std::string_view> kNotInLines = {
    {"json", "a line has the content as `body`, a string"},
    {"delay", "a line has `due`"},
    {"delay_ms", "a line has `due`"},
    {"held", "a line has `state`"},
    {"imported", "a line has its members"},
    {"on_key", "what a put does when it meets another one"},
    {"within", "each put that joins others gives its own, and the message keeps none"},
    {"within_ms", "each put that joins others gives its own, and the message keeps none"},
};

TEST(PutsOfLines, have_all_members_of_a_put) {
    const auto in_lines = message_line_members();
    const auto in_puts = fields_of<PutCommand>().members_of({});
    for (const std::string_view member : in_puts) {
        const bool is_in_lines = std::find(in_lines.begin(), in_lines.end(), member) != in_lines.end();
        EXPECT_NE(is_in_lines, kNotInLines.contains(member)) << member << ": see `Adding a member` in CONTRIBUTING.md";
    }
    for (const auto& [member, reason] : kNotInLines) {
        EXPECT_NE(std::find(in_puts.begin(), in_puts.end(), member), in_puts.end()) << "no put has " << member;
    }
}

// A recurring message in progress comes at the times at which it would have come; where its rest grows, to the
// millisecond that rests are cut to.
TEST(PutsOfLines, of_a_recurring_message_continue_with_its_times) {
    for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
        Random random(seed);
        MessageLine line;
        line.id = 1024;
        line.queue = "rounds";
        line.due_ms = kLineNow;
        make_recurring(random, line);
        const Result<PutCommand> put = read_json_put(put_of(line), HttpApiOptions{}, {});
        ASSERT_TRUE(put.ok()) << "seed " << seed << ": " << put.error().message;
        const Result<RepeatRule> rule = chosen_repeat(*put->repeat, *put->when.at_ms, 1'000'000);
        ASSERT_TRUE(rule.ok()) << "seed " << seed << ": " << rule.error().message;
        const bool grows = line.repeat->factor_permille > 1000;
        std::optional<std::int64_t> at = line.due_ms;
        std::optional<std::int64_t> here = at;
        for (std::uint64_t number = 1; number <= 8; ++number) {
            const std::int64_t rest = interval_after_occurrence_ms(*line.repeat, line.next_occurrence + number - 1);
            at = next_occurrence_ms(*line.repeat, line.next_occurrence + number - 1, *at);
            here = next_occurrence_ms(*rule, number, *here);
            const bool may_end_earlier = grows && line.repeat->end_ms != 0;
            if (may_end_earlier && at.has_value() != here.has_value()) break;
            ASSERT_EQ(at.has_value(), here.has_value()) << "seed " << seed << ", occurrence " << number;
            if (!at) break;
            const std::int64_t apart = *at < *here ? *here - *at : *at - *here;
            if (!grows || line.repeat->every_ms > 1000) {
                ASSERT_LE(apart, grows ? rest / 100 : 0) << "seed " << seed << ", occurrence " << number;
            }
        }
    }
}

TEST(PutsOfLines, keep_the_position_of_a_retry_among_its_order_key) {
    MessageLine line;
    line.id = 1024;
    line.queue = "mail";
    line.state = State::retrying;
    line.due_ms = kLineNow + 60'000;
    line.nominal_due_ms = kLineNow;
    Losses losses;
    const auto due = [&] { return *read_json_put(put_of(line, losses), HttpApiOptions{}, {})->when.at_ms; };
    EXPECT_EQ(due(), kLineNow + 60'000);
    EXPECT_EQ(losses.of(Loss::rest), 0u);
    line.expires_ms = kLineNow + 60'000;
    EXPECT_EQ(due(), kLineNow) << "no server takes a message that expires before it is due";
    line.expires_ms = 0;
    line.order_key = "ann";
    EXPECT_EQ(due(), kLineNow);
    EXPECT_EQ(losses.of(Loss::rest), 2u);
}

TEST(PutsOfLines, count_members_they_cannot_express) {
    MessageLine line;
    line.id = 1024;
    line.queue = "mail";
    line.due_ms = kLineNow;
    Losses losses;
    static_cast<void>(put_of(line, losses));
    EXPECT_EQ(losses.of(Loss::key_added), 1u);
    line.key = "mine";
    line.schedule = "nightly";
    line.state = State::dead;
    line.reason = "no route";
    static_cast<void>(put_of(line, losses));
    for (const Loss loss : {Loss::origin, Loss::reason, Loss::key_added}) {
        EXPECT_EQ(losses.of(loss), 1u) << loss_name(loss);
    }
    for (const Loss loss : {Loss::rest, Loss::occurrence, Loss::growth, Loss::checks, Loss::order}) {
        EXPECT_EQ(losses.of(loss), 0u);
    }
    line.state = State::scheduled;
    line.repeat = RepeatRule{.every_ms = 10, .times = 0, .factor_permille = 1'010, .max_ms = 1'000};
    line.next_occurrence = 78;
    static_cast<void>(put_of(line, losses));
    EXPECT_EQ(losses.of(Loss::growth), 1u);
    line.repeat->factor_permille = 1'000;
    static_cast<void>(put_of(line, losses));
    EXPECT_EQ(losses.of(Loss::growth), 1u) << "a rest that is always the same goes on exactly";
    EXPECT_EQ(losses.of(Loss::occurrence), 2u);
}

}  // namespace
}  // namespace duewheel::put_of_line_test
