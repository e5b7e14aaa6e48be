#include "resource/webhook_target.h"

#include <algorithm>

#include "base/ascii_name.h"

namespace duewheel {
namespace {

// The names of all headers; their values can be secrets.
FieldValue hidden_headers(const void* resource) {
    const auto& target = *static_cast<const WebhookTarget*>(resource);
    FieldPairs shown;
    for (const auto* const headers : {&target.headers, &target.sealed_headers}) {
        for (const auto& [name, value] : *headers) shown.emplace_back(name, kHiddenHeaderValue);
    }
    return shown.empty() ? FieldValue() : FieldValue(std::move(shown));
}

constexpr Field kWebhookTargetRows[] = {
    text<&WebhookTarget::url>(1, "url", "Post its messages to this URL instead of keeping them for consumers",
                              {.page = "the target: `http` or `https`, up to 2,048 bytes",
                               .min = 1,
                               .limit = "webhooks.url_max",
                               .when_absent = "give the URL to which messages are posted",
                               .is_required = true,
                               .option = "--webhook URL"}),
    names<&WebhookTarget::secrets>(
        2, "secrets", "Sign posts with the secret of this name in the server's configuration",
        {.page = "names of up to four secrets that sign each post, from the configuration; without secrets, posts are "
                 "not signed",
         .schema = R"({"maxItems": {"x-limit": "webhooks.secrets_max"}, "uniqueItems": true,
                       "items": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$",
                                 "maxLength": {"x-limit": "webhooks.secret_name_max"}}})",
         .option = "--webhook-secret"}),
    duration<&WebhookTarget::timeout_ms>(
        3, "timeout", "Timeout of a post",
        {.page = "maximum time for the response, name lookup and connecting included; default `webhooks.timeout`",
         .min = 1,
         .when_absent = "the server's default"}),
    count<&WebhookTarget::concurrency>(4, "concurrency", "Maximum number of concurrent posts",
                                       {.page = "maximum number of posts in progress; default `webhooks.concurrency`",
                                        .limit = "webhooks.concurrency_max",
                                        .when_absent = "the server's default"}),
    count<&WebhookTarget::rate>(5, "rate", "Maximum number of posts per second",
                                {.page = "maximum number of posts a second, spread evenly. No limit by default",
                                 .limit = "webhooks.rate_max",
                                 .when_absent = "no limit"}),
    by_hand(
        "headers", "Send these headers with each post, instead of message headers of the same name",
        {.page = "up to 16 headers that each post has, such as `{\"Authorization\": \"Bearer ...\"}`, with up to 4 KiB "
                 "in all. They replace headers of a message with the same name. Their values may be secrets: no "
                 "response, log or export shows them, and a response has `***` for each. On disk they are "
                 "[encrypted](#encryption-of-header-values) if a key is configured",
         .schema = R"({"type": "object", "maxProperties": {"x-limit": "webhooks.headers_max"},
                       "propertyNames": {"pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"},
                       "additionalProperties": {"type": "string",
                                                "pattern": "^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*$"}})",
         .option = "-",
         .get = hidden_headers}),
    kept<&WebhookTarget::headers>(6),
    // An earlier version, which would post the encrypted values, refuses them.
    kept<&WebhookTarget::sealed_headers>(7),
};

bool is_sound_webhook(const void* resource) {
    const auto& target = *static_cast<const WebhookTarget*>(resource);
    return !target.url.empty() && target.timeout_ms >= 0 && target.secrets.size() <= kWebhookSecretsMax &&
           target.headers.size() + target.sealed_headers.size() <= kWebhookHeadersMax &&
           std::all_of(target.secrets.begin(), target.secrets.end(), is_webhook_secret_name);
}

}  // namespace

template <>
const FieldTable& fields_of<WebhookTarget>() {
    static const FieldTable table("a queue's webhook holds", kWebhookTargetRows, is_sound_webhook);
    return table;
}

std::size_t sealed_value_bytes(std::string_view sealed) {
    const std::size_t bytes = sealed.size() * 3 / 4;
    return bytes - std::min(bytes, kSealedHeaderBytes);
}

bool is_webhook_secret_name(std::string_view name) {
    return is_ascii_name(name, kWebhookSecretNameBytesMax);
}

}  // namespace duewheel
