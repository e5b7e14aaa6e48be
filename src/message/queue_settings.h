// What a queue is told to do, as a value and in its byte form: the value of a `conf` record and of a row of the index.
//
// Each record holds the whole settings, so that the newest one is all there is to know. Next to what a user sets stand
// the marks of a purge and of a discard that are under way, so that they go on after a crash.
//
// The byte form is that of records: ascending tags, defaults left out. A field that this version does not know is an
// error (`newer_format`): a queue that is paused by a word we do not understand must not be served.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/retry_rule.h"
#include "message/webhook_target.h"

namespace duewheel {

// Who paused a queue. The numbers stand in the log.
enum class PausedBy : std::uint8_t {
    user = 0,
    target = 1,  // its webhook answered that it is gone for good (410)
};

struct QueueSettings {
    std::uint32_t revision = 0;  // of the record: rises with each change; 0: the queue has no settings
    bool paused = false;         // nothing is handed out
    PausedBy paused_by = PausedBy::user;
    std::uint64_t pending_max = 0;  // puts beyond so many unfinished messages are refused; 0: no limit
    std::uint64_t per_second = 0;   // puts due in a second that holds so many are refused or moved; 0: no limit
    std::int64_t lease_ms = 0;      // of a lease that names no time; 0: as the server says
    RetryChoice retry;  // of messages without a rule of their own; what it leaves open is as the server says

    std::optional<WebhookTarget> webhook;  // where its messages are posted; none: they wait for who leases them

    // Not a user's: messages with an id up to this one are being purged; 0: none are.
    MessageId purge_through = 0;
    DueMs purge_started_ms = 0;
    // Nor these: dead messages that died before this instant are being discarded; 0: none are.
    DueMs discard_before_ms = 0;
    DueMs discard_started_ms = 0;

    bool operator==(const QueueSettings&) const = default;
};

// Empty for settings without a revision.
std::string encode_queue_settings(const QueueSettings& settings);

// Codes: `damaged_record`, `newer_format`.
Result<QueueSettings> decode_queue_settings(std::string_view bytes);

// Subjects of `conf` records. The numbers stand in the log.
inline constexpr std::uint32_t kSubjectQueue = 1;
inline constexpr std::uint32_t kSubjectNamespace = 2;  // the name is the namespace's own
inline constexpr std::uint32_t kSubjectToken = 4;      // an access token, of no namespace (access_token.h); 3 is free

inline constexpr bool is_subject_of_conf(std::uint32_t subject) {
    return subject == kSubjectQueue || subject == kSubjectNamespace || subject == kSubjectToken;
}

// The share of a `conf` record in the log's digest; 0 for an empty value. About 50 ns.
std::uint64_t settings_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                            std::string_view value);

}  // namespace duewheel
