#include "http_api/fields/put_rows.h"

#include "message/failure_reason.h"
#include "resource/content_rows.h"
#include "resource/repeat_fields.h"
#include "resource/transaction_fields.h"

namespace duewheel {
namespace {

constexpr Field kPutRows[] = {
    content_rows::kBody,
    content_rows::kBodyBase64,
    content_rows::kJson,
    by_hand(FieldKind::duration, "delay", {},
            {.page = "when the message is due, counted from the put; now by default", .option = "-"}),
    by_hand(FieldKind::instant, "due", {}, {.page = "the same as an instant; not with `delay`", .option = "-"}),
    by_hand(FieldKind::duration, "expires_in", "Expires if it has not been leased within this time: 250ms, 10m, PT1H",
            {.page = "a message that has not been leased by then, counted from the put, "
                     "[expires](#expiry-and-order-keys)"}),
    by_hand(FieldKind::instant, "expires",
            "Expires if it has not been leased by this time; format and time zone as for --due",
            {.page = "the same as an instant; not with `expires_in`", .option = "--expires TIME"}),
    content_rows::kOrderKey,
    content_rows::kGroup,
    content_rows::kPriority,
    object<&PutCommand::repeat>(0, "repeat", {}, {.page = "makes it a [recurring message](#recurring-messages)"}),
    content_rows::kRetry,
    read_by_hand(object<&PutCommand::transaction>(
        0, "transaction", {}, {.page = "it is not delivered before it is [committed](#transactions)"})),
    flag<&PutCommand::is_held>(0, "held", "Hold the message at once: it is not delivered until `kick`",
                               {.page = "`true` holds it at once: it is not delivered before it is "
                                        "[kicked](#hold-and-kick). Not with `transaction`"}),
    content_rows::kHeaders,
    content_rows::kKafka,
    content_rows::kContentType,
    by_hand(FieldKind::text, "key", "Idempotency key: repeating the same request with the same key puts one message",
            {.page = "an [idempotency key](#idempotency-keys), which makes the put safe to repeat",
             .schema = R"({"$ref": "#/components/schemas/Key"})"}),
    word<&PutCommand::on_key>(
        0, "on_key",
        "What happens if the queue has an unfinished message with the key: `once` reports a repeated put, "
        "and refuses another one; `keep` leaves the message as it is; `replace` puts this one in its place",
        kOnKeyWords,
        {.page = "what happens if the queue has a message with this `key`: `once` (default), `keep` or `replace`, see "
                 "[idempotency keys](#idempotency-keys)",
         .when_absent = "once"}),
    duration<&PutCommand::within_ms>(
        0, "within", "With `replace`: it is due at the latest this long after the first of the puts that it joins",
        {.page =
             "with `replace`, the message is due at the latest this long after the first of the puts that it joins, "
             "`\"1ms\"` to `\"365d\"`: [debounce](#debounce)",
         .min = 1,
         .max = kWithinMaxMs,
         .when_absent = "no limit"}),
    by_hand("imported", {},
            {.page = "what an [import](export_format.md#from-a-line-to-a-put) restores of a message of another server: "
                     "its attempts, and what its workers said. Not with `repeat`, `transaction`, or `on_key`, "
                     "`\"replace\"`",
             .schema = R"({"$ref": "#/components/schemas/Imported"})",
             .option = "-"}),
};

constexpr Field kHistoryRows[] = {
    count<&WorkHistory::attempts>(0, "attempts", "Number of deliveries begun", {.max = kAttemptsKeptMax}),
    count<&WorkHistory::attempts_counted>(0, "attempts_counted", "How many of them count against its retry rule",
                                          {.max = kAttemptsKeptMax}),
    flag<&WorkHistory::maybe_delivered>(0, "maybe_delivered", "It may have been delivered more often than that"),
    by_hand("nominal_due_ms", "The requested due time, if a retry or a commit has changed it",
            {.schema = R"({"$ref": "#/components/schemas/InstantMs"})"}),
    flag<&WorkHistory::is_retrying>(0, "retrying", "Its last attempt has failed, and it is in backoff until it is due"),
    text<&WorkHistory::reason>(0, "reason", "Why that attempt failed", {.max = kReasonBytesMax}),
    json_text<&WorkHistory::progress>(
        0, "progress", {}, {.max = kProgressBytesMax, .schema = R"({"$ref": "#/components/schemas/Progress"})"}),
    json_text<&WorkHistory::checkpoint>(
        0, "checkpoint", {}, {.max = kCheckpointBytesMax, .schema = R"({"$ref": "#/components/schemas/Checkpoint"})"}),
    by_hand("timeline", "Its last attempts, oldest first",
            {.schema = R"({"type": "array", "maxItems": 10, "items": {"$ref": "#/components/schemas/PastAttempt"}})"}),
};

}  // namespace

template <>
const FieldTable& fields_of<PutCommand>() {
    static const FieldTable table("a put holds", kPutRows);
    return table;
}

template <>
const FieldTable& fields_of<WorkHistory>() {
    static const FieldTable table("a history holds", kHistoryRows);
    return table;
}

}  // namespace duewheel
