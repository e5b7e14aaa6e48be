#include "http_api/answers/queue_text.h"

#include <cstdint>
#include <cstring>

#include "base/base64.h"
#include "base/enum_name.h"
#include "calendar/instant_text.h"
#include "http_api/answers/rule_text.h"
#include "http_api/fields/field_writer.h"
#include "http_api/fields/instant_member.h"
#include "http_api/requests/list_request.h"

namespace duewheel {

void write_settings(JsonWriter& json, const QueueSettings& settings) {
    write_fields(json, "settings", settings);
}

namespace {

void write_target_status(JsonWriter& json, const TargetStatus& seen, bool is_gone, std::string_view kind) {
    const std::string_view state = enum_name<TargetStatus::State::off>(
        seen.state, {"ok", "probing", "backing_off", "backing_off", "misconfigured", "disabled"});
    json.open(kind).text("state", is_gone ? "gone" : state);
    if (!is_gone && seen.backoff_until_ms != 0) {
        json.text("reason", seen.state == TargetStatus::State::failed ? "failures" : "retry_after");
        write_instant(json, "until", "until_ms", seen.backoff_until_ms);
    }
    json.number("in_flight", seen.in_flight).close();
}

void write_counts(JsonWriter& json, const QueueAnswer& answer) {
    const QueueCounts& counts = answer.counts;
    json.boolean("paused", answer.settings.paused);
    if (answer.settings.paused_by == PausedBy::target) json.text("paused_by", "target");
    json.number("pending", counts.pending);
    json.number("scheduled", counts.pending - counts.held - counts.prepared - answer.ready - answer.leased);
    json.number("prepared", counts.prepared);
    json.number("ready", answer.ready).number("leased", answer.leased).number("held", counts.held);
    json.number("dead", counts.dead).number("waiters", answer.waiters);
    json.boolean("backlog_on_disk", answer.backlog_on_disk);
}

constexpr std::size_t kCheckBytes = 8;

// A checksum, so that a cursor that was truncated, or belongs to another list, is refused.
std::string check_of(std::string_view name_space, std::string_view queue) {
    constexpr std::uint64_t kListOfQueues = std::uint64_t{1} << 63;  // no set of states has this bit
    const std::uint64_t check = list_query(name_space, queue, kListOfQueues, 0, 0);
    std::string bytes(kCheckBytes, '\0');
    std::memcpy(bytes.data(), &check, kCheckBytes);
    return bytes;
}

}  // namespace

void write_queue(JsonWriter& json, const QueueAnswer& answer) {
    open_named(json, "queue", answer.name_space, answer.queue);
    if (answer.removed) return void(json.boolean("removed", *answer.removed).close());
    write_counts(json, answer);
    if (answer.settings.purge_through != 0) {
        json.open("purge").text("started", format_instant(answer.settings.purge_started_ms));
        json.number("started_ms", answer.settings.purge_started_ms).number("purged", answer.purged).close();
    }
    if (answer.settings.discard_before_ms != 0) {
        json.open("discard").text("started", format_instant(answer.settings.discard_started_ms));
        json.number("started_ms", answer.settings.discard_started_ms);
        json.text("died_before", format_instant(answer.settings.discard_before_ms));
        json.number("died_before_ms", answer.settings.discard_before_ms);
        json.number("discarded", answer.discarded).close();
    }
    if (answer.target)
        write_target_status(json, *answer.target, answer.settings.paused_by == PausedBy::target,
                            answer.settings.kafka ? "kafka" : "webhook");
    write_settings(json, answer.settings);
    if (answer.in_force) {
        json.open("in_force").number("lease_ms", answer.in_force->lease_ms);
        write_retry(json, answer.in_force->retry);
        json.close();
    }
    json.close();
}

std::string queue_cursor(std::string_view name_space, std::string_view queue) {
    return base64url(check_of(name_space, queue).append(queue));
}

std::optional<std::string> parse_queue_cursor(std::string_view text, std::string_view name_space) {
    std::optional<std::string> bytes = parse_base64url(text);
    if (!bytes || bytes->size() <= kCheckBytes) return std::nullopt;
    std::string queue = bytes->substr(kCheckBytes);
    if (bytes->substr(0, kCheckBytes) != check_of(name_space, queue)) return std::nullopt;
    return queue;
}

}  // namespace duewheel
