// A message as one line of an export: a JSON object whose members have the names that the HTTP API gives them, so that
// a line is close to the put that would make the message again. docs/export_format.md describes it for its readers.
//
// A line says what the message is, and nothing about who exports or imports it. What is written is read back equal; a
// line that holds what is not known here, or is no message that could be, is refused with the member's name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ingress/json_request.h"
#include "message/message.h"
#include "message/record.h"
#include "message/repeat_rule.h"
#include "message/retry_rule.h"

namespace duewheel {

struct MessageLine {
    MessageId id = 0;  // where it was exported
    std::string name_space{kDefaultNamespace};
    std::string queue;
    State state = State::scheduled;  // not `leased`, which only the server knows
    DueMs due_ms = 0;                // of a loop: that of its next occurrence
    DueMs nominal_due_ms = 0;        // where a retry has moved the due time: what was asked for; 0: `due_ms`
    DueMs expires_ms = 0;
    std::int64_t expires_in_ms = 0;  // of a loop: of each occurrence
    std::int32_t priority = 0;
    std::string order_key;
    std::string key;
    RetryChoice retry;
    std::uint32_t attempts = 0;
    bool maybe_delivered = false;
    DueMs put_ms = 0;
    // Of a loop. What is left of it begins with an occurrence at `due_ms`, which is the rule's `start_ms`.
    std::optional<RepeatRule> repeat;
    std::uint64_t next_occurrence = 0;
    // Of a half that waits for commit or rollback.
    std::optional<TransactionRule> transaction;
    DueMs answer_by_ms = 0;
    std::uint32_t checks = 0;
    // Who made it: a loop, a schedule or a watchdog; or the half that a check asks for.
    MessageId parent = 0;
    std::string schedule;
    std::string watchdog;
    DueMs last_fed_ms = 0;
    std::uint64_t occurrence = 0;
    MessageId check_of = 0;
    // Of a dead one; the reason of one that rests after a failure too.
    DueMs ended_ms = 0;
    std::string reason;
    // What it holds. `headers` is one JSON object of texts, as it is kept.
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;

    bool operator==(const MessageLine&) const = default;
};

// Every member that a line may have.
std::span<const std::string_view> message_line_members();

// The line that an export has for a message at `now_ms`; a due one is `ready`.
MessageLine line_of(const MessageRow& row, const MessageContent& content, DueMs now_ms);

// Appends the object, without a line feed.
void write_message_line(std::string& out, const MessageLine& line);

// Codes: those of a put (ingress/put_request.h), and bad_id, bad_state, missing_member, out_of_range.
Result<MessageLine> read_message_line(const JsonRequest& json);

}  // namespace duewheel
