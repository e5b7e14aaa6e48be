#include "resource/queue_settings.h"

#include "base/error_codes.h"
#include "resource/field_codec.h"
#include "resource/retry_fields.h"

namespace duewheel {
namespace {

constexpr std::string_view kNoLimit = "no limit, and pause the queue to stop deliveries";
constexpr std::string_view kPausers[] = {"user", "target"};

constexpr Field kQueueRows[] = {
    by_hand("target", "The receiver of its messages",
            {.page = "`\"pull\"`, the default: consumers lease the messages. Or `{\"webhook\": {\"url\": ...}}`: the "
                     "server [posts](webhooks.md) them. Or `{\"kafka\": {\"topic\": ...}}`: the server sends them to a "
                     "[Kafka topic](kafka.md)",
             .schema = R"({"oneOf": [{"const": "pull"}, {"$ref": "#/components/schemas/WebhookTarget"},
                                     {"$ref": "#/components/schemas/KafkaTarget"}], "default": "pull"})"}),
    object<&QueueSettings::webhook>(10, "target.webhook", "Where its messages are posted"),
    object<&QueueSettings::kafka>(13, "target.kafka", "The Kafka topic that its messages are sent to"),
    flag<&QueueSettings::paused>(2, "paused", "Pause the queue: deliver nothing",
                                 {.page = "`true`: nothing is delivered; unchanged by default"}),
    duration<&QueueSettings::lease_ms>(
        4, "lease", "Default duration of leases",
        {.page = "the duration of a lease whose call does not give one: 1 s to 12 h, `\"30s\"` by default",
         .min = 1,
         .when_absent = "the server's default",
         .code = "lease_too_short"_code}),
    object<&QueueSettings::retry>(5, "retry", "How often and when failed messages are tried again",
                                  {.page = "the [retry rule](#retries-and-dead-letters) of its messages, or parts of "
                                           "it; the rest comes from the server's own rule"}),
    count<&QueueSettings::pending_max>(
        3, "limits.pending", "Maximum number of unfinished messages",
        {.page = "the maximum number of unfinished messages; beyond it puts, redrives and kicks of dead letters are "
                 "refused as `queue_full`. No limit by default",
         .limit = "limits.pending_max",
         .when_absent = kNoLimit}),
    count<&QueueSettings::leased_max>(
        14, "limits.leased", "Maximum number of messages that are leased at once",
        {.page = "how many messages may be [leased at once](#limits-of-deliveries), over all consumers, webhooks and "
                 "topics. No limit by default",
         .limit = "limits.leased_max",
         .when_absent = kNoLimit}),
    object<&QueueSettings::rate>(15, "rate", "How many deliveries may start in a time",
                                 {.page = "how many [deliveries may start](#limits-of-deliveries) in a time"}),
    count<&QueueSettings::group_leased_max>(
        16, "groups.leased", "Maximum number of messages of each group that are leased at once",
        {.page = "how many messages of one [group](#groups) may be leased at once. No limit by default",
         .limit = "limits.leased_max",
         .when_absent = kNoLimit}),
    object<&QueueSettings::group_rate>(17, "groups.rate", "How many deliveries of each group may start in a time",
                                       {.page = "how many deliveries of one [group](#groups) may start in a time"}),
    kept<&QueueSettings::revision>(1),
    kept<&QueueSettings::paused_by>(11, {.words = kPausers}),
    kept<&QueueSettings::old_per_second>(12),  // taken: no other field gets this number
    kept<&QueueSettings::purge_through>(20),
    kept<&QueueSettings::purge_started_ms>(21),
    kept<&QueueSettings::discard_before_ms>(22),
    kept<&QueueSettings::discard_started_ms>(23),
};

bool has_one_target(const void* resource) {
    const auto& settings = *static_cast<const QueueSettings*>(resource);
    return !settings.webhook || !settings.kafka;
}

}  // namespace

template <>
const FieldTable& fields_of<QueueSettings>() {
    static const FieldTable table("a queue's settings hold", kQueueRows, has_one_target);
    return table;
}

std::string encode_queue_settings(const QueueSettings& settings) {
    return encode_revised_fields(settings);
}

Result<QueueSettings> decode_queue_settings(std::string_view bytes) {
    return decode_revised_fields<QueueSettings>(bytes);
}

}  // namespace duewheel
