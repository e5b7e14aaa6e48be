#include "message/webhook_target.h"

#include <algorithm>

#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers. They stand in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kUrl = 1,
    kSecrets = 2,  // their names, with a space between
    kTimeout = 3,
    kConcurrency = 4,
    kRate = 5,
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

bool is_sound(const WebhookTarget& target) {
    return !target.url.empty() && target.timeout_ms >= 0 && target.secrets.size() <= kWebhookSecretsMax &&
           std::all_of(target.secrets.begin(), target.secrets.end(), is_webhook_secret_name);
}

}  // namespace

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
    return out;
}

Result<WebhookTarget> decode_webhook_target(std::string_view bytes) {
    WebhookTarget target;
    std::string_view secrets;
    FieldReader from(bytes);
    while (from.next()) {
        switch (from.tag()) {
            case kUrl:
                from.text(target.url);
                break;
            case kSecrets:
                from.text(secrets);
                break;
            case kTimeout:
                from.signed_number(target.timeout_ms);
                break;
            case kConcurrency:
                from.number(target.concurrency);
                break;
            case kRate:
                from.number(target.rate);
                break;
            default:
                return Error{"newer_format",
                             "a queue's webhook holds field " + std::to_string(from.tag()) +
                                 ", which this version does not know: open the data with the version that wrote it"};
        }
    }
    target.secrets = split(secrets);
    if (from.damaged() || !is_sound(target)) return Error{"damaged_record", "a queue's webhook cannot be read"};
    return target;
}

}  // namespace duewheel
