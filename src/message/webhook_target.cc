#include "message/webhook_target.h"

#include <algorithm>

#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kUrl = 1,
    kSecrets = 2,  // their names, with a space between
    kTimeout = 3,
    kConcurrency = 4,
    kRate = 5,
    kHeaders = 6,        // "name:value", each ended by a line feed
    kSealedHeaders = 7,  // the same; an earlier version, which would post the encrypted values, refuses them
};

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text.append(text.empty() ? "" : " ").append(name);
    return text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> names;
    for (bool more = !text.empty(); more;) {
        const std::size_t space = text.find(' ');
        more = space != std::string_view::npos;
        names.emplace_back(text.substr(0, space));
        if (more) text.remove_prefix(space + 1);
    }
    return names;
}

std::string lines_of(const std::vector<std::pair<std::string, std::string>>& headers) {
    std::string text;
    for (const auto& [name, value] : headers) text.append(name).append(":").append(value).append("\n");
    return text;
}

// False if it is not such a text.
bool read_lines(std::string_view text, std::vector<std::pair<std::string, std::string>>& into) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::size_t colon = text.substr(0, end).find(':');
        if (end == std::string_view::npos || colon == std::string_view::npos || colon == 0) return false;
        into.emplace_back(text.substr(0, colon), text.substr(colon + 1, end - colon - 1));
        text.remove_prefix(end + 1);
    }
    return true;
}

bool is_sound(const WebhookTarget& target) {
    return !target.url.empty() && target.timeout_ms >= 0 && target.secrets.size() <= kWebhookSecretsMax &&
           target.headers.size() + target.sealed_headers.size() <= kWebhookHeadersMax &&
           std::all_of(target.secrets.begin(), target.secrets.end(), is_webhook_secret_name);
}

}  // namespace

std::size_t sealed_value_bytes(std::string_view sealed) {
    const std::size_t bytes = sealed.size() * 3 / 4;
    return bytes - std::min(bytes, kSealedHeaderBytes);
}

bool is_webhook_secret_name(std::string_view name) {
    return !name.empty() && name.size() <= kWebhookSecretNameBytesMax &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '_' || c == '-';
           });
}

std::string encode_webhook_target(const WebhookTarget& target) {
    std::string out;
    FieldWriter to(out);
    to.text(kUrl, target.url);
    to.text(kSecrets, joined(target.secrets));
    to.signed_number(kTimeout, target.timeout_ms);
    to.number(kConcurrency, target.concurrency);
    to.number(kRate, target.rate);
    to.text(kHeaders, lines_of(target.headers));
    to.text(kSealedHeaders, lines_of(target.sealed_headers));
    return out;
}

Result<WebhookTarget> decode_webhook_target(std::string_view bytes) {
    WebhookTarget target;
    std::string_view secrets;
    std::string_view headers;
    std::string_view sealed_headers;
    FieldsReader from(bytes);
    from.text(kUrl, target.url);
    from.text(kSecrets, secrets);
    from.signed_number(kTimeout, target.timeout_ms);
    from.number(kConcurrency, target.concurrency);
    from.number(kRate, target.rate);
    from.text(kHeaders, headers);
    from.text(kSealedHeaders, sealed_headers);
    if (Status known = from.end("a queue's webhook holds"); !known) return std::move(known).error();
    target.secrets = split(secrets);
    const bool is_whole = !from.damaged() && read_lines(headers, target.headers) &&
                          read_lines(sealed_headers, target.sealed_headers) && is_sound(target);
    if (!is_whole) return Error{"damaged_record", "a queue's webhook cannot be read"};
    return target;
}

}  // namespace duewheel
