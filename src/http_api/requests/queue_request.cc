#include "http_api/requests/queue_request.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error_codes.h"
#include "http_api/answers/name_page.h"
#include "http_api/answers/queue_text.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/query_request.h"

namespace duewheel {
namespace {

const FieldTable& queue_settings_table() {
    return fields_of<QueueSettings>();
}

constexpr std::string_view kDiscardMembers[] = {"died_before", "died_before_ms"};

Error bad_header(std::string why, std::string_view name = {}) {
    return {"bad_webhook_header"_code, std::move(why),
            "target.webhook.headers" + (name.empty() ? std::string() : "." + std::string(name.substr(0, 64)))};
}

Status check_webhook_header(std::string_view name, std::string_view value) {
    if (!is_token(name)) {
        return bad_header("a header name consists of letters, digits and ! # $ % & ' * + - . ^ _ ` | ~");
    }
    if (!is_header_value(value)) return bad_header("a header value must not contain control characters", name);
    if (value != kHiddenHeaderValue) return {};
    return bad_header("*** replaces the value in responses: give the value itself", name);
}

// Reads the header fields of each post; options.check_webhook refuses names that the server sets. `kept`: the name of a
// field that a patch keeps with its value; empty: none.
Status read_headers(const JsonRequest& json, WebhookTarget& webhook, std::string& kept) {
    reset_if_removed(json, "headers", webhook.headers);
    reset_if_removed(json, "headers", webhook.sealed_headers);
    const Result<JsonRequest::Texts> given = json.texts("headers");
    if (!given) return given.error();
    const auto is_named = [](std::string_view name) {
        return [name](const auto& header) { return equal_ignoring_case(header.first, name); };
    };
    for (auto header = given->begin(); header != given->end(); ++header) {
        if (Status fine = check_webhook_header(header->first, header->second); !fine) return fine;
        if (std::any_of(given->begin(), header, is_named(header->first))) {
            return bad_header("a header is given twice: give each once; names are compared without regard to case",
                              header->first);
        }
        std::erase_if(webhook.headers, is_named(header->first));
        std::erase_if(webhook.sealed_headers, is_named(header->first));
    }
    for (const std::string_view name : json.removed_in("headers")) {
        std::erase_if(webhook.headers, is_named(name));
        std::erase_if(webhook.sealed_headers, is_named(name));
    }
    if (!webhook.headers.empty()) kept = webhook.headers.front().first;
    if (!webhook.sealed_headers.empty()) kept = webhook.sealed_headers.front().first;
    webhook.headers.insert(webhook.headers.end(), given->begin(), given->end());
    std::size_t bytes = 0;
    for (const auto& [name, value] : webhook.headers) bytes += name.size() + value.size();
    for (const auto& [name, value] : webhook.sealed_headers) bytes += name.size() + sealed_value_bytes(value);
    const std::size_t headers = webhook.headers.size() + webhook.sealed_headers.size();
    if (headers <= kWebhookHeadersMax && bytes <= kWebhookHeadersBytesMax) return {};
    return bad_header("a webhook has up to " + std::to_string(kWebhookHeadersMax) + " headers with " +
                      std::to_string(kWebhookHeadersBytesMax) + " bytes in all, names and values");
}

// The queue whose settings are read.
struct OfQueue {
    std::string_view name_space;
    std::string_view queue;
    bool is_administrator = false;  // the client administers the whole server
};

Status read_webhook(const JsonRequest& json, const HttpApiOptions& options, const OfQueue& of, WebhookTarget& webhook) {
    const std::string url_before = webhook.url;
    Status read = read_fields(json, fields_of<WebhookTarget>(), &webhook, "target.webhook.");
    std::string kept;
    if (read) read = read_headers(json, webhook, kept);
    if (read) read = options.check_webhook({of.name_space, of.queue, of.is_administrator}, webhook);
    if (!read || kept.empty() || webhook.url == url_before) return read;
    // The permission to change the URL does not include reading the values.
    return bad_header(
        "the value may be a secret, and is not sent to another `url`: give it again, or remove it with null", kept);
}

Error bad_kafka_target(std::string_view member, std::string why) {
    return {"bad_kafka_target"_code, "`target.kafka." + std::string(member) + "` " + std::move(why),
            "target.kafka." + std::string(member)};
}

Status read_kafka(const JsonRequest& json, const HttpApiOptions& options, const OfQueue& of, KafkaTarget& kafka) {
    if (Status read = read_fields(json, fields_of<KafkaTarget>(), &kafka, "target.kafka."); !read) return read;
    if (!is_kafka_topic_name(kafka.topic)) {
        return bad_kafka_target("topic", "must be the name of a topic: up to " + std::to_string(kKafkaTopicBytesMax) +
                                             " letters, digits and . _ -");
    }
    if (kafka.key && (kafka.key->empty() || kafka.key->size() > kKafkaKeyBytesMax)) {
        return bad_kafka_target("key", "must have 1 to " + std::to_string(kKafkaKeyBytesMax) +
                                           " bytes; omit it, and records whose message has no key have none");
    }
    return options.check_kafka(of.name_space, kafka, of.is_administrator);
}

// `target`: the receiver of the messages. Unknown members are refused: with a misread target the queue would be a pull
// queue whose messages are never fetched.
Status read_target(const JsonRequest& request, const HttpApiOptions& options, const OfQueue& of,
                   QueueSettings& settings) {
    const auto reset = [&settings] {
        settings.webhook.reset();
        settings.kafka.reset();
    };
    if (request.removes("target")) reset();
    if (!request.has("target")) return {};
    const Result<std::optional<JsonRequest>> target = request.object("target");
    if (!target) {
        const Result<std::optional<std::string_view>> word = request.text("target");
        if (word && *word && **word == "pull") return reset(), Status();
    } else if (*target) {
        if (Status known = (*target)->only({"webhook", "kafka"}); !known) return known;
        reset_if_removed(**target, "webhook", settings.webhook);
        reset_if_removed(**target, "kafka", settings.kafka);
        const Result<std::optional<JsonRequest>> webhook = (*target)->object("webhook");
        if (!webhook) return webhook.error();
        const Result<std::optional<JsonRequest>> kafka = (*target)->object("kafka");
        if (!kafka) return kafka.error();
        if (*webhook && !settings.webhook) settings.webhook.emplace();
        if (*kafka && !settings.kafka) settings.kafka.emplace();
        if (settings.webhook && settings.kafka) {
            return Error{"conflicting_members"_code,
                         "a queue has one target: give `webhook` or `kafka`, and in a patch remove the other one with "
                         "null",
                         *kafka ? "target.kafka" : "target.webhook"};
        }
        if (*webhook) return read_webhook(**webhook, options, of, *settings.webhook);
        if (*kafka) return read_kafka(**kafka, options, of, *settings.kafka);
        const bool is_removed = (*target)->removes("webhook") || (*target)->removes("kafka");
        if (settings.webhook || settings.kafka || is_removed) return {};  // a patch that changes nothing else
    }
    return Error{"unsupported_target"_code,
                 "give \"pull\", so that consumers lease the messages, {\"webhook\": {\"url\": \"https://...\"}} or "
                 "{\"kafka\": {\"topic\": \"...\"}}, or omit `target`",
                 "target"};
}

// Reads into settings that contain the values that a patch keeps.
Status read_members(const JsonRequest& json, const HttpApiOptions& options, const OfQueue& of,
                    QueueSettings& settings) {
    Status read = read_target(json, options, of, settings);
    return read ? read_fields(json, queue_settings_table(), &settings, {}, "target") : read;
}

Result<Command> read_settings(const HttpRequest& request, ConfigureQueueCommand configure,
                              const HttpApiOptions& options, bool is_administrator) {
    const Result<JsonRequest> json = read_members(request, queue_settings_table().members_of({}));
    if (!json) return json.error();
    const OfQueue of{configure.name_space, configure.queue, is_administrator};
    if (Status read = read_members(*json, options, of, configure.settings); !read) return std::move(read).error();
    // Only a request with `paused` ends a pause; other settings do not.
    configure.keeps_pause = !json->has("paused");
    return Command(std::move(configure));
}

Result<Command> read_settings_patch(const HttpRequest& request, ConfigureQueueCommand configure,
                                    const HttpApiOptions& options, bool is_administrator) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, queue_settings_table().members_of({}));
    if (!patch) return patch.error();
    const auto change = [patch = *patch, &options, name_space = configure.name_space, queue = configure.queue,
                         is_administrator](QueueSettings& settings) {
        return read_members(patch->json, options, {name_space, queue, is_administrator}, settings);
    };
    return Command(
        PatchQueueCommand{std::move(configure.name_space), std::move(configure.queue), change, request.body.size()});
}

Result<Command> read_discard(const HttpRequest& request, ConfigureQueueCommand configure) {
    const Result<JsonRequest> json = read_members(request, kDiscardMembers);
    if (!json) return json.error();
    if (Status read = assign(json->instant_ms("died_before"), configure.before_ms); !read)
        return std::move(read).error();
    return Command(std::move(configure));
}

}  // namespace

Result<Command> read_queue_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                std::string queue, const HttpApiOptions& options, bool is_administrator) {
    using What = ConfigureQueueCommand::What;
    ConfigureQueueCommand configure{std::move(name_space), std::move(queue), What::set, {}, {}};
    if (what == CallPath::What::queue && request.method == "PUT") {
        return read_settings(request, std::move(configure), options, is_administrator);
    }
    if (what == CallPath::What::queue && request.method == "PATCH") {
        return read_settings_patch(request, std::move(configure), options, is_administrator);
    }
    if (what == CallPath::What::discard) {
        configure.what = What::discard;
        return read_discard(request, std::move(configure));
    }
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    switch (what) {
        case CallPath::What::pause:
            configure.what = What::pause;
            break;
        case CallPath::What::resume:
            configure.what = What::resume;
            break;
        case CallPath::What::purge:
            configure.what = What::purge;
            break;
        default:
            if (request.method != "DELETE") {
                return Command(DescribeQueueCommand{std::move(configure.name_space), std::move(configure.queue)});
            }
            configure.what = What::remove;
            break;
    }
    return Command(std::move(configure));
}

Result<Command> read_queue_list(const HttpRequest& request, std::string name_space) {
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"prefix", "limit", "cursor"});
    if (!query) return query.error();
    ListQueuesCommand list;
    list.name_space = std::move(name_space);
    list.prefix = query->text("prefix").value_or("");
    const auto parse = [&](std::string_view cursor) { return parse_queue_cursor(cursor, list.name_space); };
    if (Status read = read_name_page(*query, "this list of queues", parse, list); !read) return std::move(read).error();
    return Command(std::move(list));
}

}  // namespace duewheel
