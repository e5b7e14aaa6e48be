#include "kafka/out/kafka_record.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_message.h"

namespace duewheel {
namespace {

constexpr std::string_view kOwnBeginning = "duewheel-";

}  // namespace

KafkaRecord kafka_record_of(Delivered& message, RecordParts parts, const KafkaTarget& target) {
    KafkaRecord record;
    record.topic = target.topic;
    record.partition = target.partition.value_or(-1);
    record.key = std::move(parts.key);
    if (!record.key && !message.order_key.empty()) record.key = message.order_key;
    if (!record.key) record.key = target.key;
    if (!parts.has_null_value) record.value = std::move(message.body);

    std::vector<KafkaHeader>& headers = record.headers;
    for (auto& [name, value] : parts.headers) {
        const bool is_replaced = name == "traceparent" && !message.traceparent.empty();
        if (name.starts_with(kOwnBeginning) || is_replaced) continue;
        headers.push_back({std::move(name), std::move(value)});
    }
    const bool has_type = std::any_of(headers.begin(), headers.end(), [](const KafkaHeader& each) {
        return equal_ignoring_case(each.name, "content-type");
    });
    const auto say = [&](const char* name, std::string value) { headers.push_back({name, std::move(value)}); };
    if (!has_type && !message.content_type.empty()) say("content-type", message.content_type);
    say("duewheel-id", std::to_string(message.id));
    say("duewheel-due-ms", std::to_string(message.due_ms));
    say("duewheel-lateness-ms", std::to_string(message.lateness_ms));
    say("duewheel-wait-ms", std::to_string(message.wait_ms));
    say("duewheel-attempt", std::to_string(message.attempt));
    if (!message.group.empty()) say("duewheel-group", message.group);
    if (!parts.source.empty()) say("duewheel-source", std::move(parts.source));
    if (message.check) {
        say("duewheel-check-message", std::to_string(message.parent));
        say("duewheel-check-number", std::to_string(message.occurrence));
    } else if (message.parent != 0) {
        say("duewheel-parent", std::to_string(message.parent));
        say("duewheel-occurrence", std::to_string(message.occurrence));
    }
    if (!message.schedule.empty()) say("duewheel-schedule", message.schedule);
    if (!message.watchdog.empty()) say("duewheel-watchdog", message.watchdog);
    if (!message.traceparent.empty()) say("traceparent", message.traceparent);
    return record;
}

}  // namespace duewheel
