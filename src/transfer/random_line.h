// Random messages of every kind, generated from a seed, for the tests of this folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "message/records/past_attempts.h"
#include "message/records/record_parts.h"
#include "shared/random.h"
#include "transfer/message_line.h"

namespace duewheel {

inline constexpr DueMs kLineNow = 1'700'000'000'000;

// In two steps: which of several draws comes first must not depend on the compiler.
inline std::uint64_t drawn(Random& random, std::uint64_t below) {
    return random.below(below);
}

inline std::string random_name(Random& random) {
    static constexpr std::string_view kLetters = "abcXYZ019._+/;$()-";
    std::string name = "q";
    for (std::uint64_t left = drawn(random, 12); left > 0; --left) name += kLetters[drawn(random, kLetters.size())];
    return name;
}

// UTF-8 with all that JSON has to escape, or without control characters.
inline std::string random_text(Random& random, bool with_controls) {
    static constexpr std::string_view kPieces[] = {"a", "é", "\"", "\\", "/",    "日",  "😀",
                                                   " ", "{", "\n", "\t", "\x01", "\x7f"};
    const std::uint64_t kinds = with_controls ? 13 : 9;
    std::string text;
    for (std::uint64_t left = drawn(random, 20); left > 0; --left) text += kPieces[drawn(random, kinds)];
    if (with_controls && drawn(random, 20) == 0) text += '\0';
    return text;
}

inline std::string random_bytes(Random& random) {
    std::string bytes(drawn(random, 40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(drawn(random, 256));
    return bytes;
}

inline std::string random_headers(Random& random) {
    std::string headers;
    JsonWriter json(headers);
    json.open();
    const std::uint64_t count = drawn(random, 4);
    for (std::uint64_t i = 0; i < count; ++i) json.text("h" + std::to_string(i), random_text(random, false));
    json.close();
    return count == 0 ? "" : headers;
}

inline std::string random_record_parts(Random& random) {
    RecordParts parts;
    parts.source = "topic/0/" + std::to_string(drawn(random, 1'000));
    if (drawn(random, 2) == 0) parts.key = random_bytes(random);
    for (std::uint64_t left = drawn(random, 4); left > 0; --left) {
        auto& header = parts.headers.emplace_back(random_text(random, true), std::nullopt);
        if (drawn(random, 3) != 0) header.second = random_bytes(random);
    }
    return encode_record_parts(parts);
}

inline DueMs random_instant(Random& random) {
    return kLineNow - 1'000'000 + static_cast<DueMs>(drawn(random, 100'000'000));
}

inline RepeatRule random_repeat(Random& random, DueMs start_ms, std::uint64_t next_occurrence) {
    RepeatChoice choice;
    choice.every_ms = 1 + static_cast<std::int64_t>(drawn(random, 1'000'000));
    if (drawn(random, 2) == 0) choice.times = static_cast<std::int64_t>(next_occurrence + drawn(random, 10));
    if (drawn(random, 2) == 0) choice.factor_permille = 1001 + static_cast<std::int64_t>(drawn(random, 5000));
    if (choice.factor_permille && drawn(random, 2) == 0) {
        choice.max_ms = choice.every_ms + static_cast<std::int64_t>(drawn(random, 1'000'000));
    }
    if (drawn(random, 2) == 0) choice.until_ms = start_ms + static_cast<std::int64_t>(drawn(random, 1'000'000'000));
    return *chosen_repeat(choice, start_ms, 1'000'000);
}

inline void make_recurring(Random& random, MessageLine& line) {
    line.next_occurrence = 1 + drawn(random, 5);
    line.repeat = random_repeat(random, line.due_ms, line.next_occurrence);
    line.state = drawn(random, 4) == 0 ? State::held : State::scheduled;
    if (drawn(random, 2) == 0) line.expires_in_ms = 1 + static_cast<std::int64_t>(drawn(random, 1'000'000));
}

inline void make_prepared(Random& random, MessageLine& line) {
    line.state = State::prepared;
    TransactionRule& rule = line.transaction.emplace();
    rule.check_after_ms = 1 + static_cast<std::int64_t>(drawn(random, 1'000'000));
    if (drawn(random, 2) == 0) {
        rule.check_queue = random_name(random);
        rule.check_times = 1 + static_cast<std::uint32_t>(drawn(random, 100));
    }
    rule.otherwise_commit = drawn(random, 2) == 0;
    line.answer_by_ms = random_instant(random);
    line.checks = static_cast<std::uint32_t>(drawn(random, 3));
}

inline void make_origin(Random& random, MessageLine& line) {
    const std::uint64_t kind = drawn(random, 4);
    if (kind == 0) line.schedule = random_name(random);
    if (kind == 1) line.watchdog = random_name(random);
    if (kind == 1) line.last_fed_ms = random_instant(random);
    if (kind == 2) line.check_of = 1 + drawn(random, 1u << 30);
    if (kind == 3) line.parent = 1 + drawn(random, 1u << 30);
    line.occurrence = drawn(random, 5);
}

inline void make_history(Random& random, WorkHistory& history) {
    history.attempts = 1 + static_cast<std::uint32_t>(drawn(random, 10));
    history.attempts_counted = static_cast<std::uint32_t>(drawn(random, history.attempts + 1));
    history.maybe_delivered = drawn(random, 2) == 0;
    if (drawn(random, 2) == 0) history.progress = drawn(random, 2) == 0 ? "0.25" : R"({"page": [1, null]})";
    if (drawn(random, 2) == 0) history.checkpoint = R"({"at": "a b", "seen": [1, {"x": 1.50}]})";
    std::vector<PastAttempt> attempts;
    for (std::uint64_t left = drawn(random, kPastAttemptsMax + 1); left > 0; --left) {
        PastAttempt& attempt = attempts.emplace_back();
        attempt.attempt = 1 + static_cast<std::uint32_t>(drawn(random, history.attempts));
        if (drawn(random, 4) != 0) attempt.started_ms = random_instant(random);
        attempt.ended_ms = std::max(attempt.started_ms, random_instant(random));
        attempt.outcome = static_cast<AttemptOutcome>(1 + drawn(random, 7));
        if (drawn(random, 2) == 0) attempt.reason = random_text(random, true);
        if (drawn(random, 2) == 0) attempt.worker = random_name(random);
    }
    history.past_attempts = encode_past_attempts(attempts);
}

inline MessageLine random_line(Random& random) {
    MessageLine line;
    line.id = 1 + drawn(random, kMessageIdMax);
    if (drawn(random, 3) == 0) line.name_space = random_name(random);
    line.queue = random_name(random);
    line.due_ms = random_instant(random);
    static constexpr State kStates[] = {State::scheduled, State::ready, State::retrying, State::held, State::dead};
    const std::uint64_t kind = drawn(random, 10);
    if (kind == 0) {
        make_recurring(random, line);
    } else if (kind == 1) {
        make_prepared(random, line);
    } else {
        line.state = kStates[drawn(random, 5)];
        if (kind == 2) make_origin(random, line);
        if (drawn(random, 3) == 0) line.nominal_due_ms = random_instant(random);
    }
    if (!line.repeat && drawn(random, 3) == 0) line.expires_ms = random_instant(random);
    if (drawn(random, 3) == 0) line.priority = static_cast<std::int32_t>(drawn(random, 1ull << 32) - (1ull << 31));
    if (drawn(random, 3) == 0) line.order_key = "o" + random_text(random, false);
    if (drawn(random, 3) == 0) line.group = "g" + random_text(random, false);
    if (drawn(random, 3) == 0) line.key = "k" + random_text(random, false);
    if (drawn(random, 3) == 0) line.retry = {5, 1000, 1500, 60'000, 200};
    if (drawn(random, 6) == 0) line.retry.attempts.reset();
    if (drawn(random, 3) == 0) make_history(random, line);
    line.put_ms = random_instant(random);
    if (!line.key.empty()) line.first_put_ms = random_instant(random);
    if (line.state == State::dead) line.ended_ms = random_instant(random);
    if (drawn(random, 4) == 0) line.reason = random_text(random, true);
    line.body = drawn(random, 2) == 0 ? random_text(random, true) : random_bytes(random);
    if (drawn(random, 3) == 0) line.content_type = "text/plain; charset=utf-8";
    if (drawn(random, 3) == 0) line.headers = random_headers(random);
    if (drawn(random, 5) == 0) line.headers = random_record_parts(random);
    if (drawn(random, 5) == 0) line.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    return line;
}

}  // namespace duewheel
