#include "message/queue_settings.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "message/fields.h"
#include "message/retry_fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kPaused = 2,
    kPendingMax = 3,
    kLease = 4,
    kRetry = 5,  // and the four after it
    kWebhook = 10,
    kPausedBy = 11,
    kPerSecond = 12,
    kKafka = 13,
    kPurgeThrough = 20,
    kPurgeStarted = 21,
    kDiscardBefore = 22,
    kDiscardStarted = 23,
};

template <class Target>
Status read_target(FieldReader& from, Result<Target> (*decode)(std::string_view), std::optional<Target>& into) {
    std::string_view bytes;
    from.text(bytes);
    if (from.damaged()) return {};
    Result<Target> target = decode(bytes);
    if (!target) return std::move(target).error();
    into = *std::move(target);
    return {};
}

void read_paused_by(FieldReader& from, PausedBy& into) {
    std::uint64_t who = 0;
    from.number(who);
    if (who > static_cast<std::uint64_t>(PausedBy::target)) return from.refuse();
    into = static_cast<PausedBy>(who);
}

}  // namespace

std::string encode_queue_settings(const QueueSettings& settings) {
    std::string out;
    if (settings.revision == 0) return out;
    FieldWriter to(out);
    to.number(kRevision, settings.revision);
    to.number(kPaused, settings.paused ? 1 : 0);
    to.number(kPendingMax, settings.pending_max);
    to.signed_number(kLease, settings.lease_ms);
    write_retry_choice(to, kRetry, settings.retry);
    if (settings.webhook) to.text(kWebhook, encode_webhook_target(*settings.webhook));
    to.number(kPausedBy, static_cast<std::uint64_t>(settings.paused_by));
    to.number(kPerSecond, settings.per_second);
    if (settings.kafka) to.text(kKafka, encode_kafka_target(*settings.kafka));
    to.number(kPurgeThrough, settings.purge_through);
    to.signed_number(kPurgeStarted, settings.purge_started_ms);
    to.signed_number(kDiscardBefore, settings.discard_before_ms);
    to.signed_number(kDiscardStarted, settings.discard_started_ms);
    return out;
}

Result<QueueSettings> decode_queue_settings(std::string_view bytes) {
    QueueSettings settings;
    FieldReader from(bytes);
    while (from.next()) {
        switch (from.tag()) {
            case kRevision:
                from.number(settings.revision);
                break;
            case kPaused:
                from.boolean(settings.paused);
                break;
            case kPendingMax:
                from.number(settings.pending_max);
                break;
            case kLease:
                from.signed_number(settings.lease_ms);
                break;
            case kWebhook:
                if (Status read = read_target(from, decode_webhook_target, settings.webhook); !read) {
                    return std::move(read).error();
                }
                break;
            case kKafka:
                if (Status read = read_target(from, decode_kafka_target, settings.kafka); !read) {
                    return std::move(read).error();
                }
                break;
            case kPausedBy:
                read_paused_by(from, settings.paused_by);
                break;
            case kPerSecond:
                from.number(settings.per_second);
                break;
            case kPurgeThrough:
                from.number(settings.purge_through);
                break;
            case kPurgeStarted:
                from.signed_number(settings.purge_started_ms);
                break;
            case kDiscardBefore:
                from.signed_number(settings.discard_before_ms);
                break;
            case kDiscardStarted:
                from.signed_number(settings.discard_started_ms);
                break;
            default:
                if (read_retry_choice(from, kRetry, settings.retry)) break;
                return Error{"newer_format",
                             "a queue's settings hold field " + std::to_string(from.tag()) +
                                 ", which this version does not know: open the data with the version that wrote it"};
        }
    }
    const bool has_two_targets = settings.webhook && settings.kafka;
    if (from.damaged() || has_two_targets || (settings.revision == 0) != bytes.empty()) {
        return Error{"damaged_record", "a queue's settings cannot be read"};
    }
    return settings;
}

std::uint64_t settings_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                            std::string_view value) {
    if (value.empty()) return 0;
    std::string bytes;
    FieldWriter to(bytes);
    to.text(1, name_space);
    to.text(2, name);
    to.text(3, value);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), subject);
}

}  // namespace duewheel
