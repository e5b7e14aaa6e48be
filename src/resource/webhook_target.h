// The webhook of a queue, as a value and in its byte form: a field of the queue's settings.
//
// It contains only the names of secrets. The server's configuration maps names to files, so no record, response or log
// contains a secret. Headers are set by the clients that set the queue, who have no access to that configuration: their
// values are stored here, and responses show only their names. A server with an encryption key stores the values
// encrypted (webhooks/header_cipher.h): they are then in `sealed_headers`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resource/field.h"

namespace duewheel {

inline constexpr std::size_t kWebhookUrlBytesMax = 2048;
inline constexpr std::size_t kWebhookSecretsMax = 4;
inline constexpr std::size_t kWebhookSecretNameBytesMax = 64;
inline constexpr std::uint32_t kWebhookRateMax = 1'000'000;
inline constexpr std::size_t kWebhookHeadersMax = 16;
inline constexpr std::size_t kWebhookHeadersBytesMax = 4096;  // names and values together
// Shown in place of the value of a header.
inline constexpr std::string_view kHiddenHeaderValue = "***";
// What a sealed value has beyond the value itself, before its base64: the key's id, a nonce, and the authentication
// tag.
inline constexpr std::size_t kSealedHeaderBytes = 8 + 12 + 16;
// Maximum size of its byte form.
inline constexpr std::size_t kWebhookTargetBytesMax =
    kWebhookUrlBytesMax + kWebhookSecretsMax * (kWebhookSecretNameBytesMax + 1) + kWebhookHeadersBytesMax * 4 / 3 +
    kWebhookHeadersMax * (kSealedHeaderBytes * 4 / 3 + 4) + 64;

struct WebhookTarget {
    std::string url;                   // in the normalized form of webhooks/webhook_url.h
    std::vector<std::string> secrets;  // names; empty: nothing is signed
    std::int64_t timeout_ms = 0;       // of one post, including name resolution and connecting; 0: the server's default
    std::uint32_t concurrency = 0;     // concurrent posts; 0: the server's default
    std::uint32_t rate = 0;            // posts per second; 0: no limit
    // Headers of each post: names with values, which can be secrets. No line feed in either, no colon in a name.
    std::vector<std::pair<std::string, std::string>> headers;
    // Further headers: names with encrypted values, as base64url.
    std::vector<std::pair<std::string, std::string>> sealed_headers;

    bool operator==(const WebhookTarget&) const = default;
};

// The size of the value that was encrypted.
std::size_t sealed_value_bytes(std::string_view sealed);

// Letters, digits and . _ -, up to the maximum above.
bool is_webhook_secret_name(std::string_view name);

template <>
const FieldTable& fields_of<WebhookTarget>();

}  // namespace duewheel
