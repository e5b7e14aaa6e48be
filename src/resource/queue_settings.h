// The settings of a queue, as a value and in their byte form: the value of a `conf` record and of a row of the index.
//
// Each record contains all settings, so the newest one is complete. Beside the user's settings it contains the marks of
// a purge and of a discard in progress, so that they continue after a crash.
//
// The byte form is that of records: ascending tags without defaults. A field that this version does not know is an
// error (`newer_format`): a queue that a newer version has paused must not be served.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/retry_rule.h"
#include "resource/field.h"
#include "resource/kafka_target.h"
#include "resource/rate_rule.h"
#include "resource/webhook_target.h"

namespace duewheel {

// Who paused a queue. The numbers are part of the log format.
enum class PausedBy : std::uint8_t {
    user = 0,
    target = 1,  // its webhook answered that it is gone for good (410)
};

// What a queue's messages are sent to: a URL, or a topic.
enum class TargetKind : std::uint8_t { webhook, kafka };
inline constexpr std::size_t kTargetKinds = 2;
constexpr std::size_t index_of(TargetKind kind) {
    return static_cast<std::size_t>(kind);
}

// Maximum size of the byte form of a target.
inline constexpr std::size_t kTargetBytesMax = std::max(kWebhookTargetBytesMax, kKafkaTargetBytesMax);

struct QueueSettings {
    std::uint32_t revision = 0;  // of the record: incremented by each change; 0: the queue has no settings
    bool paused = false;         // nothing is delivered
    PausedBy paused_by = PausedBy::user;
    std::uint64_t pending_max = 0;       // further puts are refused; 0: no limit
    std::uint64_t leased_max = 0;        // of its messages at once; 0: no limit
    std::optional<RateRule> rate;        // of its deliveries
    std::uint64_t group_leased_max = 0;  // the same two for each group without settings of its own
    std::optional<RateRule> group_rate;
    std::int64_t lease_ms = 0;  // default duration of a lease; 0: the server's
    RetryChoice retry;          // of messages without a rule of their own; absent members are the server's

    // Where its messages go; at most one is set. Without either, consumers lease them.
    std::optional<WebhookTarget> webhook;
    std::optional<KafkaTarget> kafka;

    // Internal: messages with an id up to this one are being purged; 0: none.
    MessageId purge_through = 0;
    DueMs purge_started_ms = 0;
    // Internal: dead letters from before this instant are being discarded; 0: none.
    DueMs discard_before_ms = 0;
    DueMs discard_started_ms = 0;
    // Internal: the setting `limits.per_second` of earlier versions. It has no effect. It is part of the bytes of the
    // record that has it, so of the digest of its log, and is in no new record.
    std::uint64_t old_per_second = 0;

    bool operator==(const QueueSettings&) const = default;
};

// Empty for settings without a revision.
std::string encode_queue_settings(const QueueSettings& settings);

// Codes: `damaged_record`, `newer_format`.
Result<QueueSettings> decode_queue_settings(std::string_view bytes);

// Their table is the whole description of settings: what is not in it is neither kept nor shown.
template <>
const FieldTable& fields_of<QueueSettings>();

}  // namespace duewheel
