#include "kafka/in/kafka_commands.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/name_rule.h"
#include "http_api/fields/rule_members.h"
#include "http_api/requests/idempotency_key.h"
#include "http_api/requests/put_hash.h"
#include "http_api/requests/repeat_request.h"
#include "message/records/record_parts.h"
#include "message/records/request_hash.h"
#include "resource/kafka_target.h"

namespace duewheel {
namespace {

constexpr std::string_view kOwnPrefix = "duewheel-";
// Headers of records that Duewheel wrote.
constexpr std::string_view kIgnored[] = {"duewheel-id",      "duewheel-due-ms",    "duewheel-lateness-ms",
                                         "duewheel-wait-ms", "duewheel-attempt",   "duewheel-source",
                                         "duewheel-error",   "duewheel-error-code"};

// What the headers of a record say; the others are in `parts`.
struct RecordHeaders {
    std::optional<std::string_view> delay, due, topic, key, group, cron, repeat, on_key, within, traceparent;
    RecordParts parts;
};

std::optional<std::string_view>* header_of(RecordHeaders& headers, std::string_view name) {
    const std::pair<std::string_view, std::optional<std::string_view>*> known[] = {
        {"duewheel-delay", &headers.delay},   {"duewheel-due", &headers.due},
        {"duewheel-topic", &headers.topic},   {"duewheel-key", &headers.key},
        {"duewheel-group", &headers.group},   {"duewheel-cron", &headers.cron},
        {"duewheel-repeat", &headers.repeat}, {"duewheel-on-key", &headers.on_key},
        {"duewheel-within", &headers.within}};
    for (const auto& [each, into] : known) {
        if (equal_ignoring_case(name, each)) return into;
    }
    return nullptr;
}

Error unknown_header(std::string_view name) {
    const std::string shown(name.substr(0, 64));
    return {"unknown_member"_code,
            "the header `" + shown +
                "` is unknown: give duewheel-delay, -due, -repeat, -cron, -topic, -key, -group, -on-key or -within, or "
                "choose "
                "another "
                "name",
            shown};
}

Result<RecordHeaders> read_headers(const KafkaRecord& record) {
    RecordHeaders headers;
    for (const KafkaHeader& header : record.headers) {
        const bool is_ours =
            equal_ignoring_case(std::string_view(header.name).substr(0, kOwnPrefix.size()), kOwnPrefix);
        // A consumer continues the trace from the header that delivery adds.
        const bool is_trace = header.name == "traceparent" && header.value && is_traceparent(*header.value);
        if (is_trace && !headers.traceparent) {
            headers.traceparent = *header.value;
            continue;
        }
        if (!is_ours) {
            headers.parts.headers.emplace_back(header.name, header.value);
            continue;
        }
        std::optional<std::string_view>* into = header_of(headers, header.name);
        if (into == nullptr) {
            const auto is_name = [&](std::string_view name) { return equal_ignoring_case(header.name, name); };
            if (std::any_of(std::begin(kIgnored), std::end(kIgnored), is_name)) continue;
            return unknown_header(header.name);
        }
        if (*into) {
            return Error{"duplicate_member"_code, "the header " + header.name + " is given twice: give it once",
                         header.name};
        }
        *into = header.value ? std::string_view(*header.value) : std::string_view();
    }
    return headers;
}

Result<std::string> read_target(const RecordHeaders& headers, const KafkaRecord& record,
                                const KafkaCommandOptions& options) {
    const auto is_input = [&](std::string_view topic) {
        return std::any_of(options.inputs.begin(), options.inputs.end(),
                           [&](const KafkaInput& input) { return input.topic == topic; });
    };
    std::string topic;
    if (headers.topic) {
        topic = *headers.topic;
    } else {
        for (const KafkaInput& input : options.inputs) {
            if (input.topic == record.topic) topic = input.target;
        }
        if (topic.empty()) {
            return Error{"missing_member"_code,
                         "the target topic is missing: give the header duewheel-topic, or a target for `" +
                             record.topic + "` in the settings",
                         "duewheel-topic"};
        }
    }
    const Status name = check_name(topic, options.limits.queue_name_bytes_max, kQueueName);
    if (!is_kafka_topic_name(topic) || !name) {
        return Error{"bad_topic"_code,
                     "`duewheel-topic` must be the name of a topic: letters, digits and . _ -, up to " +
                         std::to_string(std::min(options.limits.queue_name_bytes_max, kKafkaTopicBytesMax)) +
                         " bytes, without a hyphen in front",
                     "duewheel-topic"};
    }
    if (headers.topic && !options.may_be_named(topic)) {
        return Error{"bad_topic"_code,
                     "records may not name the target topic `" + topic +
                         "`: choose another one; the server's setting kafka.out.topics says which they may name",
                     "duewheel-topic"};
    }
    if (is_input(topic)) {
        return Error{
            "topic_loop"_code,
            "the target topic `" + topic + "` is an input topic, so the record would come back: choose another",
            "duewheel-topic"};
    }
    return topic;
}

std::int64_t sent_ms(const KafkaRecord& record, std::int64_t now_ms) {
    return record.timestamp_ms > 0 ? std::min(record.timestamp_ms, now_ms) : now_ms;
}

// A delay counts from when the record was sent.
Status read_when(const RecordHeaders& headers, When& into) {
    if (headers.delay && headers.due) {
        return Error{"conflicting_members"_code, "give duewheel-delay or duewheel-due, not both", "duewheel-due"};
    }
    if (headers.due) {
        const Result<std::int64_t> due = read_instant(*headers.due, "duewheel-due");
        if (!due) return due.error();
        into.at_ms = *due;
        return {};
    }
    if (!headers.delay && !headers.repeat) {
        return Error{"missing_member"_code,
                     "the record does not say when it is due: give duewheel-delay (10m) or duewheel-due "
                     "(2027-01-01T06:00:00Z)",
                     "duewheel-delay"};
    }
    if (headers.delay) {
        const Result<std::int64_t> delay = read_duration(*headers.delay, "duewheel-delay");
        if (!delay) return delay.error();
        into.delay_ms = *delay;
    }
    return {};
}

Status read_repeat(const RecordHeaders& headers, std::optional<RepeatChoice>& into) {
    if (!headers.repeat) return {};
    if (!headers.repeat->starts_with('{')) {
        const Result<std::int64_t> every = read_duration(*headers.repeat, "duewheel-repeat");
        if (!every) return every.error();
        into.emplace().every_ms = *every;
        return {};
    }
    const std::string text = "{\"repeat\": " + std::string(*headers.repeat) + "}";
    const Result<JsonRequest> json = JsonRequest::parse(text);
    if (!json) return json.error();
    if (Status known = json->only({"repeat"}); !known) return known;
    Result<std::optional<RepeatChoice>> repeat = read_repeat(*json);
    if (!repeat) return std::move(repeat).error();
    into = *std::move(repeat);
    return {};
}

Status read_group(const RecordHeaders& headers, std::string& into) {
    if (!headers.group) return {};
    if (!is_label(*headers.group, kGroupBytesMax)) {
        return Error{"bad_group"_code,
                     "`duewheel-group` must have 1 to " + std::to_string(kGroupBytesMax) +
                         " bytes in UTF-8 without control characters",
                     "duewheel-group"};
    }
    into = *headers.group;
    return {};
}

Status read_on_key(const RecordHeaders& headers, PutCommand& put) {
    if (headers.on_key) {
        const auto* const word = std::find(std::begin(kOnKeyWords), std::end(kOnKeyWords), *headers.on_key);
        if (word == std::end(kOnKeyWords)) {
            return Error{"out_of_range"_code, "`duewheel-on-key` must be one of once, keep, replace",
                         "duewheel-on-key"};
        }
        if (put.key.empty()) {
            return Error{"missing_member"_code,
                         "`duewheel-on-key` says what happens if there is a message with the duewheel-key: give that "
                         "header too",
                         "duewheel-key"};
        }
        put.on_key = static_cast<OnKey>(word - std::begin(kOnKeyWords));
    }
    if (headers.within) {
        const Result<std::int64_t> within = read_duration(*headers.within, "duewheel-within");
        if (!within) return within.error();
        if (*within < 1 || *within > kWithinMaxMs) {
            return Error{"out_of_range"_code, "`duewheel-within` must be from 1ms to 365d", "duewheel-within"};
        }
        put.within_ms = *within;
    }
    const bool replaces = put.on_key == OnKey::replace;
    if (headers.within && !replaces) {
        return Error{"conflicting_members"_code, "duewheel-within belongs to `duewheel-on-key: replace`: give both",
                     "duewheel-within"};
    }
    if (replaces && put.repeat) {
        return Error{"conflicting_members"_code,
                     "a record that replaces a message cannot have duewheel-repeat: use keep, or cancel the message "
                     "first",
                     "duewheel-repeat"};
    }
    return {};
}

Status check_sizes(const KafkaRecord& record, const HttpApiOptions& limits) {
    if (record.value && record.value->size() > limits.body_bytes_max) {
        return Error{"body_too_large"_code,
                     "the value has " + std::to_string(record.value->size()) + " bytes, and a message has up to " +
                         std::to_string(limits.body_bytes_max) + ": send the rest elsewhere, or raise limits.body_max"};
    }
    std::size_t bytes = record.key ? record.key->size() : 0;
    for (const KafkaHeader& header : record.headers) {
        bytes += header.name.size() + (header.value ? header.value->size() : 0);
    }
    if (bytes <= limits.headers_bytes_max) return {};
    return Error{"headers_too_large"_code, "key and headers of the record have " + std::to_string(bytes) +
                                               " bytes, and a message has up to " +
                                               std::to_string(limits.headers_bytes_max)};
}

// A record with a null value and a key.
Result<KafkaCommand> read_cancel(const RecordHeaders& headers, const KafkaCommandOptions& options, std::string topic,
                                 std::string key) {
    if (headers.delay || headers.due || headers.repeat || headers.on_key || headers.within) {
        return Error{"conflicting_members"_code,
                     "a record with duewheel-key and a null value cancels the message with this key: for a message "
                     "with a null value omit the key, otherwise omit the due time and "
                     "duewheel-on-key",
                     "duewheel-key"};
    }
    if (headers.cron) {
        return KafkaCommand(
            ControlScheduleCommand{options.name_space, std::move(key), ControlScheduleCommand::What::remove});
    }
    CancelCommand cancel;
    cancel.name_space = options.name_space;
    cancel.by_key = {std::move(topic), std::move(key)};
    return KafkaCommand(std::move(cancel));
}

Result<KafkaCommand> read_schedule(const RecordHeaders& headers, const KafkaCommandOptions& options, PutCommand put) {
    if (headers.delay || headers.due || headers.repeat || headers.on_key || headers.within) {
        return Error{
            "conflicting_members"_code,
            "give duewheel-cron, or duewheel-delay, -due, -repeat and -on-key: a schedule creates its messages "
            "itself, and another record with its name replaces it",
            "duewheel-cron"};
    }
    if (!headers.key) {
        return Error{"missing_member"_code, "a schedule needs a name: give it in duewheel-key", "duewheel-key"};
    }
    constexpr NameOwner kName = {kScheduleName.code, kScheduleName.whose, "duewheel-key"};
    if (Status name = check_name(*headers.key, options.limits.queue_name_bytes_max, kName); !name) {
        return std::move(name).error();
    }
    ScheduleRule rule;
    rule.queue = std::move(put.queue);
    rule.times.kind = TimesKind::cron;
    rule.times.text = *headers.cron;
    set_content(rule, put);
    Result<ScheduleTimes> times = ScheduleTimes::make(rule.times, options.limits.find_zone);
    if (!times) {
        Error error = std::move(times).error();
        error.field = "duewheel-cron";
        return error;
    }
    PutScheduleCommand command{.name_space = options.name_space,
                               .name = std::string(*headers.key),
                               .rule = std::move(rule),
                               .times = *std::move(times)};
    move_content(put, command);
    return KafkaCommand(std::move(command));
}

}  // namespace

Result<KafkaCommand> read_kafka_record(const KafkaRecord& record, const KafkaCommandOptions& options,
                                       std::int64_t now_ms) {
    if (Status fits = check_sizes(record, options.limits); !fits) return std::move(fits).error();
    Result<RecordHeaders> headers = read_headers(record);
    if (!headers) return std::move(headers).error();
    Result<std::string> topic = read_target(*headers, record, options);
    if (!topic) return std::move(topic).error();
    std::string key;
    if (headers->key) {
        if (Status read = read_key(*headers->key, "duewheel-key", options.limits, key); !read) {
            return std::move(read).error();
        }
    }
    if (!record.value && headers->key) {
        return read_cancel(*headers, options, *std::move(topic), std::move(key));
    }
    PutCommand put;
    put.name_space = options.name_space;
    put.queue = *std::move(topic);
    if (record.value) put.body = *record.value;
    put.traceparent = headers->traceparent.value_or("");
    RecordParts& parts = headers->parts;
    parts.key = record.key;
    parts.has_null_value = !record.value;
    if (!key.empty()) {  // a producer that repeats a record gives it another offset and time
        put.text_hash = hash_request(encode_record_parts(parts), hash_request(put.body));
        for (const auto& said : {headers->delay, headers->due, headers->repeat}) {
            put.text_hash = hash_request(said.value_or(""), put.text_hash);
        }
        if (headers->group) put.text_hash = hash_request(*headers->group, put.text_hash);
    }
    parts.source = kafka_input_name(record.topic, record.partition) + "/" + std::to_string(record.offset);
    put.headers = encode_record_parts(parts);
    if (Status read = read_group(*headers, put.group); !read) return std::move(read).error();
    if (headers->cron) return read_schedule(*headers, options, std::move(put));
    put.key = std::move(key);
    When said;
    Status read = read_when(*headers, said);
    if (read) read = read_repeat(*headers, put.repeat);
    if (read) read = read_on_key(*headers, put);
    if (!read) return std::move(read).error();
    if (!put.key.empty()) put.request_hash = hash_put(put, said);
    put.when.at_ms = said.at_ms ? *said.at_ms : sent_ms(record, now_ms) + said.delay_ms;
    return KafkaCommand(std::move(put));
}

std::string kafka_input_name(std::string_view topic, std::int32_t partition) {
    return std::string(topic) + "/" + std::to_string(partition);
}

}  // namespace duewheel
