// A message as one line of an export: a JSON object with the member names of the HTTP API, so that a line resembles the
// put that would create the message again. docs/export_format.md describes it for readers.
//
// A line describes the message, independent of the exporting and importing server. Reading a written line gives the
// same values; a line with unknown members, or of an impossible message, is refused with the name of the member.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/message.h"
#include "message/records/content.h"
#include "message/records/record.h"
#include "message/repeat_rule.h"
#include "message/retry_rule.h"
#include "message/work_history.h"

namespace duewheel {

// The headers of its content are one JSON object of strings, as stored. `state` says whether it is in backoff; the
// reason is that of a dead letter or of a message in backoff.
struct MessageLine : Content, WorkHistory {
    MessageId id = 0;  // its id on the exported server
    std::string name_space{kDefaultNamespace};
    std::string queue;
    State state = State::scheduled;  // not `leased`, which only the server knows
    DueMs due_ms = 0;                // of a recurring message: that of its next occurrence
    DueMs expires_ms = 0;
    std::int64_t expires_in_ms = 0;  // of a recurring message: of each occurrence
    std::int32_t priority = 0;
    std::string order_key;
    std::string group;
    std::string key;
    RetryChoice retry;
    DueMs put_ms = 0;
    DueMs first_put_ms = 0;  // of one with a key, if puts have replaced it since
    // Members of a recurring message. The remaining occurrences start at `due_ms`, which is the rule's `start_ms`.
    std::optional<RepeatRule> repeat;
    std::uint64_t next_occurrence = 0;
    // Members of a prepared message.
    std::optional<TransactionRule> transaction;
    DueMs answer_by_ms = 0;
    std::uint32_t checks = 0;
    // Its origin: a recurring message, a schedule or a watchdog; or the prepared message of a check.
    MessageId parent = 0;
    std::string schedule;
    std::string watchdog;
    DueMs last_fed_ms = 0;
    std::uint64_t occurrence = 0;
    MessageId check_of = 0;
    DueMs ended_ms = 0;  // of a dead letter

    bool operator==(const MessageLine&) const = default;
};

// All possible members of a line.
std::span<const std::string_view> message_line_members();

// The exported line of a message at `now_ms`; a due one is `ready`.
MessageLine line_of(const MessageRow& row, const MessageContent& content, DueMs now_ms);

// Appends the object, without a line feed.
void write_message_line(std::string& out, const MessageLine& line);

// Codes: those of a put (http_api/requests/put_request.h), and bad_id, bad_state, missing_member, out_of_range.
Result<MessageLine> read_message_line(const JsonRequest& json);

}  // namespace duewheel
