#include "transfer/message_line.h"

#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "transfer/random_line.h"

namespace duewheel::message_line_test {
namespace {

std::string written(const MessageLine& line) {
    std::string text;
    write_message_line(text, line);
    return text;
}

Result<MessageLine> read(std::string_view text) {
    const Result<JsonRequest> json = JsonRequest::parse(text);
    if (!json) return json.error();
    return read_message_line(*json);
}

TEST(MessageLines, are_read_as_they_were_written) {
    std::set<State> states;
    std::uint64_t loops = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        Random random(seed);
        const MessageLine line = random_line(random);
        const std::string text = written(line);
        ASSERT_EQ(text.find('\n'), std::string::npos) << "seed " << seed;
        const Result<MessageLine> again = read(text);
        ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.error().message << "\n" << text;
        ASSERT_EQ(*again, line) << "seed " << seed << ": " << text << "\n" << written(*again);
        states.insert(line.state);
        loops += line.repeat.has_value();
    }
    EXPECT_EQ(states.size(), 6u);
    EXPECT_GT(loops, 100u);
}

// Whatever byte is another: the line is refused, or is a line that is written again.
TEST(MessageLines, that_were_changed_are_refused_or_other_lines) {
    std::uint64_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        Random random(seed);
        std::string text = written(random_line(random));
        const std::size_t at = drawn(random, text.size());
        text[at] = static_cast<char>(drawn(random, 256));
        const Result<MessageLine> changed = read(text);
        refused += !changed.ok();
        if (!changed) {
            ASSERT_FALSE(changed.error().message.empty());
            continue;
        }
        const Result<MessageLine> again = read(written(*changed));
        ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.error().message << "\n" << text;
        ASSERT_EQ(*again, *changed) << "seed " << seed << ": " << text;
    }
    EXPECT_GT(refused, 5'000u);
}

TEST(MessageLines, name_the_member_that_is_wrong) {
    const std::string whole =
        R"({"kind":"message","id":"1024","queue":"mail","state":"ready","due":"2027-01-01T06:00:00Z")";
    ASSERT_TRUE(read(whole + "}").ok());
    struct Case {
        std::string text;
        std::string_view code;
        std::string_view field;
    };
    const Case cases[] = {
        {whole + R"(,"dleay":"1h"})", "unknown_member", "dleay"},
        {whole + R"(,"body":5})", "wrong_type", "body"},
        {whole + R"(,"body_base64":"%"})", "bad_base64", "body_base64"},
        {whole + R"(,"attempts":-1})", "out_of_range", "attempts"},
        {whole + R"(,"attempts":4294967296})", "out_of_range", "attempts"},
        {whole + R"(,"attempts":1,"attempts_counted":2})", "out_of_range", "attempts_counted"},
        {whole + R"(,"retrying":true})", "unknown_member", "retrying"},
        {whole + R"(,"progress":1.01})", "out_of_range", "progress"},
        {whole + R"(,"attempts":1,"timeline":[{"attempt":2,"ended_ms":9,"outcome":"done"}]})", "out_of_range",
         "timeline[0].attempt"},
        {whole + R"(,"expires_in":"1h"})", "conflicting_members", "expires_in"},
        {whole + R"(,"transaction":{"check_back":{"after":"1m"}}})", "bad_state", "state"},
        {whole + R"(,"repeat":{"every":"1h"}})", "missing_member", "next_occurrence"},
        {whole + R"(,"traceparent":"x"})", "bad_traceparent", "traceparent"},
        {whole + R"(,"namespace":"a b"})", "bad_queue_name", "namespace"},
        {whole + R"(,"id":"1"})", "duplicate_member", "id"},
        {R"({"kind":"message","id":"1024","queue":"mail","state":"leased","due":"2027-01-01T06:00:00Z"})", "bad_state",
         "state"},
        {R"({"kind":"message","id":"1024","queue":"mail","state":"prepared","due":"2027-01-01T06:00:00Z"})",
         "missing_member", "transaction"},
        {R"({"kind":"message","id":"x","queue":"mail","state":"ready","due":"2027-01-01T06:00:00Z"})", "bad_id", "id"},
        {R"({"kind":"message","queue":"mail","state":"ready","due":"2027-01-01T06:00:00Z"})", "missing_member", "id"},
        {R"({"kind":"message","id":"1","state":"ready","due":"2027-01-01T06:00:00Z"})", "missing_member", "queue"},
        {R"({"kind":"message","id":"1","queue":"mail","due":"2027-01-01T06:00:00Z"})", "missing_member", "state"},
        {R"({"kind":"message","id":"1","queue":"mail","state":"ready"})", "missing_member", "due"},
        {R"({"kind":"message","id":"1","queue":"mail","state":"ready","due":"soon"})", "bad_instant", "due"},
    };
    for (const Case& one : cases) {
        const Result<MessageLine> line = read(one.text);
        ASSERT_FALSE(line.ok()) << one.text;
        EXPECT_EQ(name_of(line.error().code), one.code) << one.text << ": " << line.error().message;
        EXPECT_EQ(line.error().field, one.field) << one.text << ": " << line.error().message;
    }
}

TEST(MessageLines, have_no_member_that_is_not_documented) {
    std::ifstream file(DUEWHEEL_SOURCE_DIR "/docs/export_format.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (const std::string_view member : message_line_members()) {
        EXPECT_NE(page.find("`" + std::string(member) + "`"), std::string::npos) << member;
    }
}

// An export of a running server contains leases that go on; the importing server has none of them.
TEST(MessageLines, end_the_attempt_of_a_lease_without_counting_it) {
    MessageRow row;
    row.id = 1024;
    row.state.queue = "mail";
    row.state.due_ms = row.state.nominal_due_ms = kLineNow - 500;
    row.state.attempts = 3;
    row.state.attempts_forgiven = 1;
    WorkState work;
    work.lease = {.until_ms = kLineNow + 60'000, .began_ms = kLineNow - 400, .incarnation = 7, .worker = "host-7"};
    row.state.work.set(work);
    const MessageLine line = line_of(row, {}, kLineNow);
    EXPECT_EQ(line.attempts, 3u);
    EXPECT_EQ(line.attempts_counted, 1u);
    const auto attempts = decode_past_attempts(line.past_attempts);
    ASSERT_TRUE(attempts && attempts->size() == 1);
    EXPECT_EQ(attempts->front(),
              (PastAttempt{3, kLineNow - 400, kLineNow + 60'000, AttemptOutcome::lease_lost, {}, "host-7"}));
}

TEST(MessageLines, list_due_messages_as_ready) {
    MessageRow row;
    row.id = 1024;
    row.state.queue = "mail";
    row.state.due_ms = row.state.nominal_due_ms = kLineNow;
    EXPECT_EQ(line_of(row, {}, kLineNow - 1).state, State::scheduled);
    EXPECT_EQ(line_of(row, {}, kLineNow).state, State::ready);
    row.state.state = State::retrying;
    row.state.nominal_due_ms = kLineNow - 500;
    EXPECT_EQ(line_of(row, {}, kLineNow - 1).state, State::retrying);
    EXPECT_EQ(line_of(row, {}, kLineNow).state, State::ready);
    EXPECT_EQ(line_of(row, {}, kLineNow).nominal_due_ms, kLineNow - 500);
    row.state.state = State::held;
    EXPECT_EQ(line_of(row, {}, kLineNow).state, State::held);
}

}  // namespace
}  // namespace duewheel::message_line_test
