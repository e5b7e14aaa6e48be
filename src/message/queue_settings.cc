#include "message/queue_settings.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "message/fields.h"
#include "message/template_fields.h"

namespace duewheel {
namespace {

// A target is a text with fields of its own.
template <class Target>
void target_field(FieldWriter& to, std::uint32_t tag, const std::optional<Target>& target,
                  std::string (*encode)(const Target&), Result<Target> (*)(std::string_view), Status&) {
    if (target) to.text(tag, encode(*target));
}
template <class Target>
void target_field(FieldsReader& from, std::uint32_t tag, std::optional<Target>& into, std::string (*)(const Target&),
                  Result<Target> (*decode)(std::string_view), Status& status) {
    std::string_view bytes;
    if (!status || !from.text(tag, bytes)) return;
    Result<Target> target = decode(bytes);
    if (!target) {
        status = std::move(target).error();
    } else {
        into = *std::move(target);
    }
}

// `targets`: whether those could be read. Field numbers are in the log: never change or re-use one.
template <class Visitor, class Settings>
void queue_settings_fields(Visitor& visit, Settings& settings, Status& targets) {
    visit.number(1, settings.revision);
    visit.boolean(2, settings.paused);
    visit.number(3, settings.pending_max);
    visit.signed_number(4, settings.lease_ms);
    retry_choice_fields(visit, 5, settings.retry);  // and the four after it
    target_field(visit, 10, settings.webhook, encode_webhook_target, decode_webhook_target, targets);
    visit.enumerator(11, settings.paused_by, PausedBy::user, PausedBy::target);
    visit.number(12, settings.per_second);
    target_field(visit, 13, settings.kafka, encode_kafka_target, decode_kafka_target, targets);
    visit.number(20, settings.purge_through);
    visit.signed_number(21, settings.purge_started_ms);
    visit.signed_number(22, settings.discard_before_ms);
    visit.signed_number(23, settings.discard_started_ms);
}

}  // namespace

std::string encode_queue_settings(const QueueSettings& settings) {
    Status targets;
    return encode_revised(settings, [&](auto& visit, const auto& of) { queue_settings_fields(visit, of, targets); });
}

Result<QueueSettings> decode_queue_settings(std::string_view bytes) {
    Status targets;
    Result<QueueSettings> settings = decode_revised<QueueSettings>(
        bytes, "a queue's settings hold", [&](auto& visit, auto& of) { queue_settings_fields(visit, of, targets); });
    if (!targets) return std::move(targets).error();
    if (settings && settings->webhook && settings->kafka) {
        return Error{"damaged_record", "a queue's settings hold two targets"};
    }
    return settings;
}

std::uint64_t settings_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                            std::string_view value) {
    if (value.empty()) return 0;
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter to(bytes);
    to.text(1, name_space);
    to.text(2, name);
    to.text(3, value);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), subject);
}

}  // namespace duewheel
