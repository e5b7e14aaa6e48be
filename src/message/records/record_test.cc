#include "message/records/record.h"

#include <random>
#include <span>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/past_attempts.h"

namespace duewheel::record_test {
namespace {

// Draws values from a seed. `texts` keeps what the views point to.
class Draw {
  public:
    Draw(std::mt19937_64& random, std::vector<std::string>& texts) : random_(random), texts_(texts) {
        texts_.reserve(texts_.size() + 16);
    }

    std::uint64_t number() { return random_() >> (random_() % 64); }
    std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
    DueMs instant() { return static_cast<DueMs>(number()); }
    bool chance() { return random_() % 2 == 0; }
    std::string_view text() {
        std::string value(random_() % 20, '\0');
        for (char& c : value) c = static_cast<char>(random_());
        return texts_.emplace_back(std::move(value));
    }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

  private:
    std::mt19937_64& random_;
    std::vector<std::string>& texts_;
};

constexpr State kLive[] = {State::prepared, State::scheduled, State::retrying, State::held};

MessageState random_state(Draw& draw, bool has_ended) {
    constexpr State kEndedStates[] = {State::done, State::cancelled, State::expired, State::dead};
    MessageState state;
    state.state = has_ended ? kEndedStates[draw.below(4)] : kLive[draw.below(4)];
    state.version = draw.small();
    state.attempts = draw.small();
    state.due_ms = static_cast<DueMs>(draw.number() >> 1) * (draw.chance() ? 1 : -1);
    state.nominal_due_ms = draw.chance() ? state.due_ms : draw.instant();
    state.expires_ms = draw.chance() ? 0 : draw.instant();
    state.priority = static_cast<std::int32_t>(draw.number());
    state.maybe_delivered = draw.chance();
    if (draw.chance()) state.name_space = draw.text();
    state.queue = "q" + std::string(draw.text());
    state.order_key = draw.text();
    state.group = draw.text();
    state.key = draw.text();
    state.request_hash = draw.number();
    if (draw.chance()) state.retry = RetryRule{3, 1000, 2000, 60'000, draw.chance() ? 200u : 0u};
    if (draw.chance()) state.attempts_forgiven = draw.small();
    if (draw.chance()) state.transaction = draw.small();
    if (draw.chance()) {
        state.work.set({{draw.instant(), draw.instant(), draw.number(), std::string(draw.text())},
                        draw.chance(),
                        std::string(draw.text()),
                        std::string(draw.text()),
                        encode_past_attempts({{draw.small(), draw.instant(), draw.instant(), AttemptOutcome::held,
                                               std::string(draw.text()).substr(0, 16), std::string(draw.text())}}),
                        std::string(draw.text())});
    }
    return state;
}

MessageContent random_content(Draw& draw) {
    MessageContent content;
    content.put_ms = draw.instant();
    content.content_type = draw.text();
    content.headers = draw.text();
    if (draw.chance()) content.repeat = Repeat{{5000, 10, 2000, 3'600'000, 1, 2}, "order", 700};
    if (draw.chance()) content.transaction = TransactionRule{"check", 1000, 5, true};
    content.parent = draw.number() % kMessageIdMax;
    content.occurrence = draw.number();
    content.body = draw.text();
    return content;
}

MessageRecord random_message(Draw& draw) {
    constexpr RecordKind kKinds[] = {RecordKind::put,     RecordKind::spawn, RecordKind::change,
                                     RecordKind::attempt, RecordKind::end,   RecordKind::relocate};
    MessageRecord record;
    record.kind = kKinds[draw.below(6)];
    record.id = 1 + draw.number() % kMessageIdMax;
    record.log_position = draw.number();
    record.record_bytes = draw.small();
    record.time_ms = draw.instant();
    record.cause = static_cast<Cause>(draw.below(23));
    record.lease_attempt = draw.small();
    record.lease_incarnation = draw.number();
    record.lateness_ms = -static_cast<std::int64_t>(draw.number() >> 1);
    record.wait_ms = static_cast<std::int64_t>(draw.number() >> 1);
    record.reason = draw.text();
    record.state = random_state(draw, record.kind == RecordKind::end);
    if (draw.chance()) {
        record.previous = {kLive[draw.below(4)],
                           1 + static_cast<std::uint32_t>(draw.small() >> 1),
                           draw.instant(),
                           draw.chance() ? record.state.queue : "other",
                           draw.number(),
                           draw.chance() ? draw.instant() : 0,
                           draw.chance() ? draw.instant() : 0};
    }
    record.content = random_content(draw);
    return record;
}

template <class Of>
Of random_subject(Draw& draw, std::span<const Subject> subjects) {
    Of record;
    record.subject = subjects[draw.below(subjects.size())];
    if (draw.chance()) record.name_space = draw.text();
    record.name = "q";
    record.value = draw.text();
    record.time_ms = draw.instant();
    record.log_position = draw.number();
    record.record_bytes = draw.small();
    if (draw.chance()) {
        record.revision_before = 1 + (draw.small() >> 1);
        record.term_before = draw.number();
    }
    return record;
}

RuleRecord random_rule(Draw& draw) {
    auto record = random_subject<RuleRecord>(draw, kRuleSubjects);
    record.content = random_content(draw);
    record.next_ms = draw.instant();
    record.count = draw.number();
    record.skipped_from = draw.number();
    record.skipped_to = draw.number();
    return record;
}

// A record with every field set that its type has; half of them are of messages.
Record random_record(std::mt19937_64& random, std::vector<std::string>& texts) {
    Draw draw(random, texts);
    switch (draw.below(12)) {
        case 0:
            return random_subject<ConfRecord>(draw, kConfSubjects);
        case 1:
            return random_rule(draw);
        case 2:
            return CursorRecord{
                draw.instant(), std::string(draw.text()), std::string(draw.text()), draw.instant(), draw.number(),
                draw.chance()};
        case 3:
            return RelocationDoneRecord{draw.instant(), draw.number(), draw.number(), draw.number()};
        case 4:
            return EpochRecord{draw.instant(), draw.number()};
        case 5:
            return OutcomesRecord{draw.instant(), "rows", draw.number(), 1 + draw.small(), 1 + draw.small()};
        default:
            return random_message(draw);
    }
}

TEST(Record, comes_back_from_its_bytes_as_it_was) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        std::vector<std::string> texts;
        const Record record = random_record(random, texts);
        std::string bytes = "before";
        const std::size_t size = append_record(bytes, 42 + seed, record);
        ASSERT_EQ(size, bytes.size() - 6);
        const auto frame = read_frame(std::string_view(bytes).substr(6));
        ASSERT_TRUE(frame.ok());
        EXPECT_EQ(frame->sequence, 42 + seed);
        EXPECT_EQ(frame->frame_bytes, size);
        const auto decoded = decode_record(frame->kind, frame->body);
        ASSERT_TRUE(decoded.ok()) << decoded.error().message;
        ASSERT_EQ(*decoded, record);
        std::string again;
        append_record(again, 42 + seed, *decoded);
        EXPECT_EQ(again, bytes.substr(6));
    }
}

TEST(Record, every_flipped_bit_and_every_cut_is_seen) {
    std::mt19937_64 random(7);
    std::vector<std::string> texts;
    std::string bytes;
    append_record(bytes, 9, random_record(random, texts));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        std::string flipped = bytes;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(read_frame(flipped).ok()) << "bit " << bit;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read_frame(std::string_view(bytes).substr(0, size)).ok());
    }
}

TEST(Record, a_body_that_is_cut_or_scrambled_is_an_error_never_a_crash) {
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        std::vector<std::string> texts;
        const Record record = random_record(random, texts);
        std::string bytes;
        append_record(bytes, 1, record);
        std::string body = bytes.substr(kRecordFrameBytes);
        for (int changes = 0; changes < 3 && !body.empty(); ++changes) {
            body[random() % body.size()] = static_cast<char>(random());
        }
        body.resize(random() % (body.size() + 1));
        const auto decoded = decode_record(kind_of(record), body);
        EXPECT_TRUE(decoded.ok() || !decoded.error().message.empty());
    }
}

TEST(Record, an_unknown_field_is_refused_not_skipped) {
    std::string body;
    body += '\x08';  // tag 4 (due), number
    body += '\x02';
    body += '\xe0';  // tag 112, number
    body += '\x01';
    body += '\x05';
    const auto decoded = decode_record(RecordKind::epoch, body);
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.error().code, "newer_format"_code);
}

TEST(Record, a_repeated_or_disordered_field_is_refused) {
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x02\x08\x02", 4)).ok());
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x02\x06\x02", 4)).ok());
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x82\x00", 3)).ok()) << "an overlong number";
}

TEST(Record, a_message_record_without_id_queue_or_durable_state_is_refused) {
    MessageRecord record;
    record.id = 1024;
    record.state.queue = "q";
    auto decoded = [&] {
        std::string bytes;
        append_record(bytes, 1, record);
        return decode_record(record.kind, bytes.substr(kRecordFrameBytes)).ok();
    };
    EXPECT_TRUE(decoded());
    record.id = 0;
    EXPECT_FALSE(decoded());
    record.id = 1024;
    record.state.queue.clear();
    EXPECT_FALSE(decoded());
    record.state.queue = "q";
    record.state.state = State::leased;
    EXPECT_FALSE(decoded());
    record.state.state = State::done;
    EXPECT_FALSE(decoded()) << "only an end may hold an ended state";
    record.kind = RecordKind::end;
    EXPECT_TRUE(decoded());
}

TEST(Record, settings_of_nothing_and_outcomes_from_nowhere_are_refused) {
    const auto decoded = [](const Record& record) {
        std::string bytes;
        append_record(bytes, 1, record);
        return decode_record(kind_of(record), bytes.substr(kRecordFrameBytes)).ok();
    };
    ConfRecord conf;
    conf.subject = Subject::queue;
    EXPECT_FALSE(decoded(conf));
    conf.name = "q";
    EXPECT_TRUE(decoded(conf));
    conf.subject = Subject::none;
    EXPECT_FALSE(decoded(conf));
    EXPECT_TRUE(decoded(OutcomesRecord{.rows = "rows", .segment = 1, .up_to = 1}));
    EXPECT_FALSE(decoded(OutcomesRecord{.segment = 1, .up_to = 1}));
    EXPECT_FALSE(decoded(OutcomesRecord{.rows = "rows", .up_to = 1}));
    EXPECT_FALSE(decoded(OutcomesRecord{.rows = "rows", .segment = 1}));
}

// The bytes of each type, as logs contain them since the first version.
TEST(Record, each_type_has_the_bytes_that_logs_contain) {
    const auto body = [](const Record& record) {
        std::string bytes;
        append_record(bytes, 1, record);
        return bytes.substr(kRecordFrameBytes);
    };
    ConfRecord conf;
    conf.subject = Subject::token;
    conf.name_space = "n";
    conf.name = "t";
    conf.value = "v";
    conf.time_ms = 3;
    conf.log_position = 4;
    conf.record_bytes = 5;
    conf.revision_before = 6;
    conf.term_before = 7;
    constexpr std::string_view kBefore = "\x13\x01n\x22\x04\x24\x05\x26\x06\x2a\x02\x2c\x06\x32\x07";
    EXPECT_EQ(body(conf), std::string(kBefore) + "\x8c\x01\x04\x8f\x01\x01t\x91\x01\x01v");
    RuleRecord rule;
    static_cast<SubjectRecord&>(rule) = conf;
    rule.subject = Subject::watchdog;
    rule.content.put_ms = 1;
    rule.content.body = "b";
    rule.next_ms = 2;
    rule.count = 3;
    rule.skipped_from = 4;
    rule.skipped_to = 5;
    EXPECT_EQ(body(rule), std::string(kBefore) + "\x50\x02\x7f\x01" + "b\x8c\x01\x02\x8f\x01\x01t\x91\x01\x01v" +
                              "\x92\x01\x04\x94\x01\x03\x96\x01\x04\x98\x01\x05");
    EXPECT_EQ(body(CursorRecord{1, "n", "q", 2, 3, true}),
              std::string("\x08\x04\x13\x01n\x15\x01q\x20\x03\x26\x02\x9a\x01\x01"));
    EXPECT_EQ(body(RelocationDoneRecord{1, 2, 3, 4}), "\x26\x02\xa0\x01\x02\xa2\x01\x03\xa4\x01\x04");
    EXPECT_EQ(body(EpochRecord{1, 2}), "\x26\x02\xa6\x01\x02");
    EXPECT_EQ(body(OutcomesRecord{1, "r", 2, 3, 4}), "\x26\x02\x91\x01\x01r\x94\x01\x02\xa0\x01\x04\xac\x01\x03");
}

// Fields that no version ever set: read and dropped.
TEST(Record, retired_texts_are_dropped) {
    MessageRecord record;
    record.id = 1024;
    record.state.queue = "q";
    std::string bytes;
    append_record(bytes, 1, record);
    const std::string body = bytes.substr(kRecordFrameBytes);
    const auto decoded = decode_message(RecordKind::put, body + "\x59\x06target\x73\x07webhook");
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    MessageRecord expected = record;
    expected.content.transaction.emplace();
    EXPECT_EQ(*decoded, expected);
}

TEST(Record, a_plain_put_costs_few_bytes_beside_its_body) {
    MessageRecord record;
    record.id = 1'000'000 * kShardsMax;
    record.state.queue = "orders";
    record.state.due_ms = record.state.nominal_due_ms = 1'800'000'000'000;
    record.content.put_ms = 1'799'999'000'000;
    const std::string body(200, 'x');
    record.content.body = body;
    std::string bytes;
    EXPECT_LE(append_record(bytes, 1'000'000, record), 200u + 52u);
}

TEST(Record, the_digest_sees_every_changeable_field_and_the_id) {
    MessageState state;
    state.queue = "q";
    const std::uint64_t before = digest_term(1, state);
    EXPECT_NE(before, digest_term(2, state));
    auto changed = [&](auto change) {
        MessageState other = state;
        change(other);
        return digest_term(1, other) != before;
    };
    EXPECT_TRUE(changed([](MessageState& s) { s.state = State::held; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.version = 2; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.attempts = 1; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.due_ms = s.nominal_due_ms = 5; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.nominal_due_ms = 5; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.expires_ms = 5; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.priority = 5; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.maybe_delivered = true; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.name_space = "n"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.queue = "p"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.order_key = "o"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.group = "g"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.key = "k"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.request_hash = 1; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.retry = RetryRule{1, 0, 1000, 0, 0}; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.attempts_forgiven = 1; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.work.edit([](WorkState& work) { work.checkpoint = "1"; }); }));
}

TEST(Row, comes_back_from_its_bytes_as_it_was) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::string> texts;
        Draw draw(random, texts);
        const MessageRecord record = random_message(draw);
        MessageRow row{record.id, record.log_position, record.record_bytes, record.state, record.time_ms, 3, 4,
                       "because"};
        std::string bytes;
        encode_row(bytes, row);
        const auto decoded = decode_row(bytes);
        ASSERT_TRUE(decoded.ok());
        ASSERT_EQ(*decoded, row) << seed;
    }
}

}  // namespace
}  // namespace duewheel::record_test
