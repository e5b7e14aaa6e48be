// Rows of the members that set the content and the delivery of a message: of a put, a schedule and a watchdog. They are
// read together (http_api/fields/content_members.h).
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "message/message_template.h"
#include "resource/field.h"
#include "resource/retry_fields.h"

namespace duewheel::content_rows {

inline constexpr Field kBody =
    by_hand(FieldKind::text, "body", "Up to `limits.body_max` bytes",
            {.page = "the content, a string. One of `body`, `json` and `body_base64` is required; an empty message has "
                     "`\"body\": \"\"`",
             .option = "-"});
inline constexpr Field kBodyBase64 = by_hand(
    FieldKind::text, "body_base64", "Standard base64 with padding",
    {.page = "the content, bytes in standard base64", .schema = R"({"contentEncoding": "base64"})", .option = "-"});
inline constexpr Field kJson = by_hand(
    "json", "Any JSON value, nested up to 31 levels deep. It is stored as written, with the type application/json",
    {.page = "the content, any JSON value"});
inline constexpr Field kHeaders =
    by_hand("headers", {},
            {.page = "an object of strings, delivered with the message. Names are HTTP tokens that differ in more than "
                     "case; values have no control characters",
             .schema = R"({"$ref": "#/components/schemas/Headers"})"});
inline constexpr Field kKafka =
    by_hand("kafka", {},
            {.page = "what it has of a [Kafka record](#parts-of-a-kafka-record), such as its key",
             .schema = R"({"$ref": "#/components/schemas/RecordParts"})"});
inline constexpr Field kContentType = by_hand(FieldKind::text, "content_type", {},
                                              {.page = "the media type of the content, delivered with the message",
                                               .limit = "limits.content_type_max",
                                               .option = "-"});
inline constexpr Field kOrderKey =
    by_hand(FieldKind::text, "order_key", "Messages with the same order key are delivered one after the other",
            {.page = "1 to 256 bytes without control characters: messages with the same key are delivered [one after "
                     "the other](#expiry-and-order-keys)",
             .schema = R"({"$ref": "#/components/schemas/OrderKey"})",
             .option = "--order-key KEY"});
inline constexpr Field kGroup =
    by_hand(FieldKind::text, "group", "Groups of a queue are served in turns, within the limits that each has",
            {.page = "1 to 256 bytes without control characters, such as the name of a customer: the [groups](#groups) "
                     "of a queue are served in turns, within the limits that each has",
             .schema = R"({"$ref": "#/components/schemas/GroupName"})"});
inline constexpr Field kPriority =
    by_hand(FieldKind::count, "priority", "Due messages with smaller values are delivered first",
            {.page = "a 32-bit integer, 0 by default; due messages with smaller values are delivered first",
             .min = std::numeric_limits<std::int32_t>::min(),
             .max = std::numeric_limits<std::int32_t>::max(),
             .when_absent = "0",
             .schema = R"({"$ref": "#/components/schemas/Priority"})"});
inline constexpr Field kRetry =
    by_hand("retry", {},
            {.page = "the number of attempts and the backoff between them: see [retries](#retries-and-dead-letters)",
             .schema = R"({"$ref": "#/components/schemas/Retry"})"});

// The row in the table of a rule that creates messages.
constexpr Field of_rule(Field row) {
    row.page = "of its messages, as in a [put](#put)";
    return row;
}

// Rows of a schedule and of a watchdog, whose base is MessageTemplate.
template <class Rule>
inline constexpr Field kQueueOfRule =
    read_by_hand(text<inherited<Rule, &Rule::queue>>(0, "queue", {},
                                                     {.page = "required: the queue of its messages",
                                                      .is_required = true,
                                                      .schema = R"({"$ref": "#/components/schemas/Name"})",
                                                      .option = "-"}));
template <class Rule>
inline constexpr Field kPriorityOfRule = of_rule(with_value<inherited<Rule, &Rule::priority>>(kPriority));
template <class Rule>
inline constexpr Field kOrderKeyOfRule = of_rule(with_value<inherited<Rule, &Rule::order_key>>(kOrderKey));
template <class Rule>
inline constexpr Field kGroupOfRule = of_rule(with_value<inherited<Rule, &Rule::group>>(kGroup));
template <class Rule>
inline constexpr Field kExpiryOfRule = duration<inherited<Rule, &Rule::expires_after_ms>>(
    0, "expires_in", "A message expires if it has not been leased within this time",
    {.page = "of its messages, as in a [put](#put), counted from when they are due",
     .min = 1,
     .when_absent = "messages that do not expire"});
template <class Rule>
inline constexpr Field kRetryOfRule = of_rule(read_by_hand(object<inherited<Rule, &Rule::retry>>(0, "retry", {})));

}  // namespace duewheel::content_rows
