// Records of Kafka as commands. Headers say what a record asks for; their names are compared without regard to case:
//
//     duewheel-delay    1h30m                   a message, due this long after the record's timestamp
//     duewheel-due      2027-01-01T06:00:00Z    a message, due then; in the past: due now
//     duewheel-repeat   10m, or {"every": "10m", "times": 3}    a recurring message, as `repeat` of a put over HTTP;
//                                               the first occurrence is due as said by the others, or at once
//     duewheel-cron     0 9 * * MON-FRI         a schedule, in UTC, with the name in duewheel-key
//     duewheel-topic    payments                its target topic; without it, that of the settings for the input topic
//     duewheel-key      order-17                the idempotency key of the message, in its target topic
//
// A record with a null value and duewheel-key cancels the message that has this key in the target topic; if it also has
// duewheel-cron, with any value, it removes the schedule of that name. The key of the record is never such a key:
// producers use it to choose a partition. Kafka keeps the order within a partition only, so a record and its cancel
// need the same record key.
//
// A record without any of the first four is an error, because a misspelled delay must not become a delivery now; so is
// an unknown header that begins with duewheel-. Those that Duewheel adds to records (duewheel-id, duewheel-error, ...)
// are ignored, so that a consumer may send a record back as it came.
//
// The message is in the queue with the name of the target topic. Its body is the value; its headers are RecordParts:
// key, null value, the other headers, and the source "topic/partition/offset".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/http_api.h"
#include "kafka/client/kafka.h"

namespace duewheel {

struct KafkaInput {
    std::string topic;
    std::string target;  // topic of records without duewheel-topic; empty: they need one
};

struct KafkaCommandOptions {
    std::string name_space = "kafka";
    std::vector<KafkaInput> inputs;
    // Whether a record may name this topic as its target; the settings may.
    std::function<bool(const std::string& topic)> may_be_named = [](const std::string&) { return true; };
    HttpApiOptions limits;  // sizes of bodies, headers, keys and names; and `find_zone`, called on the reader's thread
};

// All but puts are idempotent.
using KafkaCommand = std::variant<PutCommand, CancelCommand, PutScheduleCommand, ControlScheduleCommand>;

// `record` comes from one of the input topics. A delay counts from its timestamp, or from `now_ms` if that is earlier
// or the record has none, so that a record that is read again asks for the same. The errors are permanent. Codes:
// bad_cron, bad_duration, bad_instant, bad_key, bad_schedule_name, bad_topic, body_too_large, conflicting_members,
// duplicate_member, headers_too_large, missing_member, negative_duration, topic_loop, unknown_member, those of
// JsonRequest.
Result<KafkaCommand> read_kafka_record(const KafkaRecord& record, const KafkaCommandOptions& options,
                                       std::int64_t now_ms);

// "topic/partition": the name of an input, and in metrics and logs.
std::string kafka_input_name(std::string_view topic, std::int32_t partition);

}  // namespace duewheel
