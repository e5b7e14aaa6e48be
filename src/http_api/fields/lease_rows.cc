#include "http_api/fields/lease_rows.h"

namespace duewheel {
namespace {

// Ranges are checked by the engine.
constexpr Field kLeaseRows[] = {
    read_by_hand(count<&LeaseCommand::max>(0, "max", "Maximum number of messages",
                                           {.page = "the maximum number of messages, 1 to 1,000; 1 by default",
                                            .min = 1,
                                            .limit = "limits.lease_batch_max",
                                            .when_absent = "1",
                                            .schema = R"({"default": 1})"})),
    duration<&LeaseCommand::lease_ms>(
        0, "lease", "Duration of the lease",
        {.page = "how long the consumer has them, 1 s to 12 h; by default as set for the [queue](#queues), else "
                 "`\"30s\"`. A lease outlives a restart of the server. After its lease, a message is delivered again",
         .when_absent = "that of the queue"}),
    duration<&LeaseCommand::wait_ms>(
        0, "wait", "How long to wait for the first message",
        {.page = "how long to wait if no message is due, up to 60 s; 0 by default", .when_absent = "not at all"}),
    read_by_hand(count<&LeaseCommand::min>(
        0, "min", "Wait until this number of messages is due",
        {.page = "with `wait`: answer when this number of messages is due, or after `wait` with those that are; 1 by "
                 "default. The messages are not reserved meanwhile: another consumer of the queue may lease them",
         .min = 1,
         .limit = "limits.lease_batch_max",
         .when_absent = "1",
         .schema = R"({"default": 1})"})),
    text<&LeaseCommand::worker>(
        0, "worker", "Name of the worker, which the message shows",
        {.page = "the name of the worker, up to 64 bytes without control characters. While it has the message, "
                 "[the message](#get) shows it, and afterwards the [timeline](#timeline)",
         .max = kWorkerNameBytesMax,
         .when_absent = "none",
         .schema = R"({"$ref": "#/components/schemas/Worker"})"}),
};
constexpr Field kAckRows[] = {
    json_text<&AckCommand::result>(0, "result", "The result of the work: JSON of up to 64 KiB, kept with the outcome",
                                   {.max = kResultBytesMax, .option = "--result JSON"}),
};
constexpr Field kFailRows[] = {
    flag<&FailCommand::dead>(0, "dead", "Make it a dead letter at once, without another attempt"),
    text<&FailCommand::reason>(
        0, "reason", "The reason, stored with the message",
        {.schema = R"({"description": "Of one longer than `limits.reason_max`, the beginning and the end are )"
                   R"(kept, with ` … ` in between."})"}),
    duration<&FailCommand::retry_in_ms>(0, "retry_in", "Retry after this time",
                                        {.when_absent = "the backoff of the retry rule"}),
};
constexpr Field kExtendRows[] = {
    duration<&ExtendCommand::lease_ms>(0, "lease", "New duration, from now, and never less than the remaining time",
                                       {.when_absent = "the lease of the queue"}),
    json_text<&ExtendCommand::progress>(0, "progress", "How far the work is: a number from 0 to 1, or other JSON",
                                        {.max = kProgressBytesMax,
                                         .when_absent = "as before",
                                         .code = "bad_progress"_code,
                                         .schema = R"({"$ref": "#/components/schemas/Progress"})"}),
    json_text<&ExtendCommand::checkpoint>(0, "checkpoint", "What the next attempt needs to continue this work, as JSON",
                                          {.max = kCheckpointBytesMax,
                                           .when_absent = "as before",
                                           .code = "checkpoint_too_large"_code,
                                           .schema = R"({"$ref": "#/components/schemas/Checkpoint"})"}),
};
constexpr Field kReleaseRows[] = {
    duration<&ReleaseCommand::delay_ms>(0, "delay", "Due after this time",
                                        {.when_absent = "at once", .option = "--delay,--in DURATION"}),
};

}  // namespace

template <>
const FieldTable& fields_of<LeaseCommand>() {
    static const FieldTable table("a lease call holds", kLeaseRows);
    return table;
}

template <>
const FieldTable& fields_of<AckCommand>() {
    static const FieldTable table("an acknowledgement holds", kAckRows);
    return table;
}

template <>
const FieldTable& fields_of<FailCommand>() {
    static const FieldTable table("a failure holds", kFailRows);
    return table;
}

template <>
const FieldTable& fields_of<ExtendCommand>() {
    static const FieldTable table("an extension holds", kExtendRows);
    return table;
}

template <>
const FieldTable& fields_of<ReleaseCommand>() {
    static const FieldTable table("a release holds", kReleaseRows);
    return table;
}

template <>
const FieldTable& fields_of<HoldLeaseCommand>() {
    static const FieldTable table("a hold holds", {});
    return table;
}

}  // namespace duewheel
