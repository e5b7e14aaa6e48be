#include "http_api/fields/message_rows.h"

namespace duewheel {
namespace {

constexpr std::string_view kIdSchema = R"({"$ref": "#/components/schemas/Id"})";
constexpr std::string_view kNameSchema = R"({"$ref": "#/components/schemas/Name"})";
constexpr std::string_view kCountSchema = R"({"$ref": "#/components/schemas/Count"})";
constexpr std::string_view kMsSchema = R"({"$ref": "#/components/schemas/InstantMs"})";
constexpr std::string_view kFlagSchema = R"({"type": "boolean"})";
constexpr std::string_view kKeySchema = R"({"$ref": "#/components/schemas/Key"})";
constexpr std::string_view kGroupSchema = R"({"$ref": "#/components/schemas/GroupName"})";
constexpr std::string_view kProgressSchema = R"({"$ref": "#/components/schemas/Progress"})";
constexpr std::string_view kCheckpointSchema = R"({"$ref": "#/components/schemas/Checkpoint"})";
constexpr std::string_view kCheckSchema = R"({"$ref": "#/components/schemas/Check"})";

constexpr Field as(std::string_view path, std::string_view schema, std::string_view page = {}) {
    return shown(FieldKind::by_hand, path, schema, page);
}
constexpr Field at_time(std::string_view path, std::string_view page = {}) {
    return shown(FieldKind::instant, path, {}, page);
}
constexpr Field always(Field row) {
    row.is_required = true;
    return row;
}
constexpr Field kBodyBase64 = as("body_base64", R"({"type": "string", "contentEncoding": "base64"})");
constexpr Field kJson = as("json", R"({"description": "The content as it was put, if its `content_type` is JSON."})");
constexpr Field kContentType = as("content_type", R"({"type": "string"})");
constexpr Field kHeaders = as("headers", R"({"type": "object", "additionalProperties": {"type": "string"}})");
constexpr Field kKafka = as("kafka", R"({"$ref": "#/components/schemas/RecordParts"})");

constexpr Field kShownRows[] = {
    always(as("id", kIdSchema)),
    as("namespace", kNameSchema, "unless it is `default`"),
    always(as("queue", kNameSchema)),
    always(as("state", R"({"$ref": "#/components/schemas/State"})",
              "`prepared` (in an open [transaction](#transactions)), `scheduled` (due later; also after a release with "
              "`delay`), `ready` (due and not leased; may wait for others with its order key), `leased`, `retrying` "
              "(failed, due "
              "again later), `held`; at the end `done`, `cancelled`, `expired` or `dead`")),
    always(at_time("due")),
    at_time("answer_by", "while it is prepared: the deadline for commit or rollback"),
    as("checks", kCountSchema, "while it is prepared: how many of its checks have counted"),
    as("nominal_due_ms", kMsSchema, "the requested due time, if a retry or a late commit has changed `due_ms`"),
    at_time("expires", "if it expires"),
    as("order_key", R"({"$ref": "#/components/schemas/OrderKey"})",
       "if it has one. A [recurring message](#recurring-messages) shows that of its occurrences"),
    as("group", kGroupSchema, "its [group](#groups), if it has one"),
    as("key", kKeySchema, "if it was put with one"),
    always(as("priority", R"({"$ref": "#/components/schemas/Priority"})")),
    always(as("attempts", kCountSchema, "deliveries that have started")),
    always(
        as("maybe_delivered", kFlagSchema,
           "whether a crash may hide deliveries that started in the last 0.2 s before it; after a "
           "[restore](command_line.md#backups), whether the original server may have delivered it since the backup")),
    as("next_occurrence",
       R"({"type": "integer", "minimum": 1,
            "description": "Of a recurring message: the number of the occurrence that is due at `due`."})",
       "of a [recurring message](#recurring-messages): the number of the occurrence due at `due_ms`"),
    as("blocked_by", R"({"$ref": "#/components/schemas/BlockedBy"})",
       "why the server cannot proceed, as a problem code. Of a recurring message that is due: why its occurrence "
       "cannot be created yet (`queue_full`, `namespace_full`, `too_many_puts`, `catching_up`, `store_full`). Of a "
       "prepared message: why no check can be sent (`queue_limit`: its check queue would exceed the limit of queues; "
       "`store_full`: the next check is due and waits). Of a ready message: which [limit](#limits-of-deliveries) keeps "
       "it from being delivered (`queue_leased`, `queue_rate`, `group_leased`, `group_rate`, `group_backoff`)"),
    as("retry", R"({"x-shown-of": "Retry"})", "its own retry rule, if it was put with one"),
    as("repeat", R"({"x-shown-of": "Repeat", "required": ["every_ms"]})",
       "of a [recurring message](#recurring-messages): its rule"),
    as("expires_in_ms",
       R"({"type": "integer", "minimum": 1, "description": "Of a recurring message: how long after its due time each )"
       R"(occurrence expires, in milliseconds."})",
       "of a [recurring message](#recurring-messages): how long after its due time each occurrence expires"),
    as("transaction", R"({"x-shown-of": "Transaction"})",
       "of a message that was put in a [transaction](#transactions): as put"),
    as("check", kCheckSchema, "of a check: the prepared message that it is about"),
    as("parent", kIdSchema, "of an occurrence: the id of its recurring message"),
    as("schedule", kNameSchema, "of a run: the name of its [schedule](#schedules)"),
    as("watchdog", kNameSchema, "of a message of a [watchdog](#watchdogs): its name"),
    at_time("last_fed", "of a message of a watchdog: the last feed before the message"),
    as("occurrence",
       R"({"type": "integer", "minimum": 0, "description": "Of an occurrence: its number in the recurring message )"
       R"(`parent`. Of a run: its number in `schedule`, or 0 if a request fired it. Of a message of a `watchdog`: )"
       R"(how often the watchdog had fired by then."})",
       "of an occurrence, a run or a message of a watchdog: its number; 0 for a run that was fired manually"),
    as("put_ms", kMsSchema),
    as("lease_until_ms", kMsSchema, "while it is leased"),
    as("cancel_requested", kFlagSchema,
       "`true` while it is leased and its [cancel](#cancel) was requested: unless it is acknowledged, it is cancelled "
       "when "
       "its lease ends"),
    as("delivered_ms", kMsSchema, "while it is leased: since when"),
    as("worker", R"({"$ref": "#/components/schemas/Worker"})",
       "while it is leased: the name of its worker, if the [lease](#lease) gave one"),
    as("progress", kProgressSchema, "what a worker said last about its [progress](#progress-and-checkpoints)"),
    as("checkpoint", kCheckpointSchema, "the last [checkpoint](#progress-and-checkpoints) of a worker"),
    as("timeline", R"({"type": "array", "maxItems": 11, "items": {"$ref": "#/components/schemas/Attempt"}})",
       "its last ten attempts and the one that has its lease, oldest first: [timeline](#timeline)"),
    at_time("ended",
            "after its end. Content, keys, rules and expiry are then omitted, and `priority` is 0, except for a dead "
            "letter"),
    as("reason", R"({"type": "string", "description": "Why it is a dead letter."})",
       "of a dead letter: the reason of its last failure, or `lease lost`. Before that, the reason of the last "
       "failure, until the next delivery"),
    as("result", R"({"description": "The result that its acknowledgement gave, as it was sent."})",
       "of a message that is done: the `result` of its [acknowledgement](#ack-fail-extend-release), if it had one"),
    as("body", R"({"type": "string"})",
       "the content; in `json` if it is [JSON](#put), in `body_base64` if it is not UTF-8. `content_type`, "
       "`headers`, `kafka` and `traceparent` follow as put"),
    kBodyBase64,
    kJson,
    kContentType,
    kHeaders,
    kKafka,
    as("traceparent", R"({"type": "string"})"),
};

constexpr Field kDeliveryRows[] = {
    always(as("id", kIdSchema)),
    always(as("queue", kNameSchema)),
    always(as("lease", R"({"$ref": "#/components/schemas/LeaseToken"})")),
    always(as("lease_until_ms", kMsSchema)),
    as("group", kGroupSchema),
    as("key", kKeySchema),
    as("checkpoint", kCheckpointSchema),
    as("body", R"({"type": "string"})"),
    kBodyBase64,
    kJson,
    kContentType,
    kHeaders,
    kKafka,
    as("traceparent", R"({"type": "string"})"),
    as("check", kCheckSchema),
    as("parent", kIdSchema),
    as("schedule", kNameSchema),
    as("watchdog", kNameSchema),
    as("last_fed_ms", kMsSchema),
    always(as("occurrence", kCountSchema)),
    always(as("due_ms", kMsSchema)),
    always(as("delivered_ms", kMsSchema)),
    always(as("lateness_ms", R"({"$ref": "#/components/schemas/LatenessMs"})")),
    always(as("wait_ms", R"({"$ref": "#/components/schemas/WaitMs"})")),
    always(as("attempt", R"({"type": "integer", "minimum": 1})")),
    always(as("maybe_delivered", kFlagSchema)),
};

}  // namespace

template <>
const FieldTable& fields_of<MessageAnswer>() {
    static const FieldTable table("a message shows", kShownRows);
    return table;
}

template <>
const FieldTable& fields_of<Delivered>() {
    static const FieldTable table("a delivery shows", kDeliveryRows);
    return table;
}

}  // namespace duewheel
