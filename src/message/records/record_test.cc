#include "message/records/record.h"

#include <random>

#include <gtest/gtest.h>

namespace duewheel::record_test {
namespace {

// A record with every field set that its kind may carry, drawn from a seed. `texts` keeps what the views point to.
Record random_record(std::mt19937_64& random, std::vector<std::string>& texts) {
    auto number = [&] { return random() >> (random() % 64); };
    auto chance = [&] { return random() % 2 == 0; };
    texts.reserve(texts.size() + 16);
    auto text = [&]() -> std::string_view {
        std::string value(random() % 20, '\0');
        for (char& c : value) c = static_cast<char>(random());
        return texts.emplace_back(std::move(value));
    };
    Record record;
    record.kind = static_cast<RecordKind>(1 + random() % 11);
    record.id = 1 + number() % kMessageIdMax;
    record.log_position = number();
    record.record_bytes = static_cast<std::uint32_t>(number());
    record.time_ms = static_cast<DueMs>(number());
    record.cause = static_cast<Cause>(random() % 23);
    record.lease_attempt = static_cast<std::uint32_t>(number());
    record.lease_incarnation = number();
    record.lateness_ms = -static_cast<std::int64_t>(number() >> 1);
    record.wait_ms = static_cast<std::int64_t>(number() >> 1);
    record.reason = text();
    MessageState& state = record.state;
    constexpr State kLive[] = {State::prepared, State::scheduled, State::retrying, State::held};
    constexpr State kEndedStates[] = {State::done, State::cancelled, State::expired, State::dead};
    state.state = record.kind == RecordKind::end ? kEndedStates[random() % 4] : kLive[random() % 4];
    state.version = static_cast<std::uint32_t>(number());
    state.attempts = static_cast<std::uint32_t>(number());
    state.due_ms = static_cast<DueMs>(number() >> 1) * (chance() ? 1 : -1);
    state.nominal_due_ms = chance() ? state.due_ms : static_cast<DueMs>(number());
    state.expires_ms = chance() ? 0 : static_cast<DueMs>(number());
    state.priority = static_cast<std::int32_t>(random());
    state.maybe_delivered = chance();
    if (chance()) state.name_space = text();
    state.queue = "q" + std::string(text());
    state.order_key = text();
    state.key = text();
    state.request_hash = number();
    if (chance()) state.retry = RetryRule{3, 1000, 2000, 60'000, chance() ? 200u : 0u};
    if (chance()) state.attempts_forgiven = static_cast<std::uint32_t>(number());
    if (chance()) state.transaction = static_cast<std::uint32_t>(number());
    if (chance()) {
        record.previous = {kLive[random() % 4],
                           1 + static_cast<std::uint32_t>(number() >> 1),
                           static_cast<DueMs>(number()),
                           chance() ? state.queue : "other",
                           random(),
                           chance() ? static_cast<DueMs>(number()) : 0,
                           chance() ? static_cast<DueMs>(number()) : 0};
    }
    MessageContent& content = record.content;
    content.put_ms = static_cast<DueMs>(number());
    content.content_type = text();
    content.headers = text();
    content.target = text();
    if (chance()) content.repeat = Repeat{{5000, 10, 2000, 3'600'000, 1, 2}, "order", 700};
    if (chance()) content.transaction = TransactionRule{"check", "", 1000, 5, true};
    content.parent = number() % kMessageIdMax;
    content.occurrence = number();
    content.body = text();
    record.name = text();
    if (record.kind == RecordKind::conf || record.kind == RecordKind::rule) {  // of something
        const bool of_rule = record.kind == RecordKind::rule;
        record.subject = *subject_of(of_rule, 1 + static_cast<std::uint32_t>(random() % (of_rule ? 2 : 4)));
        record.name = "q";
    }
    record.value = text();
    record.removed = chance();
    record.up_to = number();
    record.digest = random();
    record.incarnation = number();
    return record;
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
        const auto decoded = decode_record(record.kind, body);
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
    EXPECT_EQ(decoded.error().code, "newer_format");
}

TEST(Record, a_repeated_or_disordered_field_is_refused) {
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x02\x08\x02", 4)).ok());
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x02\x06\x02", 4)).ok());
    EXPECT_FALSE(decode_record(RecordKind::epoch, std::string("\x08\x82\x00", 3)).ok()) << "an overlong number";
}

TEST(Record, a_message_record_without_id_queue_or_durable_state_is_refused) {
    Record record;
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

TEST(Record, a_plain_put_costs_few_bytes_beside_its_body) {
    Record record;
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
    EXPECT_TRUE(changed([](MessageState& s) { s.key = "k"; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.request_hash = 1; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.retry = RetryRule{1, 0, 1000, 0, 0}; }));
    EXPECT_TRUE(changed([](MessageState& s) { s.attempts_forgiven = 1; }));
}

TEST(Row, comes_back_from_its_bytes_as_it_was) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::string> texts;
        const Record record = random_record(random, texts);
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
