#include "message/webhook_target.h"

#include <algorithm>

#include "base/ascii_name.h"
#include "message/fields.h"

namespace duewheel {
namespace {

// Headers are lines "name:value", each ended by a line feed.
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

void lines_field(FieldWriter& to, std::uint32_t tag, const std::vector<std::pair<std::string, std::string>>& headers) {
    to.text(tag, lines_of(headers));
}
void lines_field(FieldsReader& from, std::uint32_t tag, std::vector<std::pair<std::string, std::string>>& into) {
    std::string_view text;
    if (from.text(tag, text) && !read_lines(text, into)) from.refuse();
}

// Field numbers are in the log: never change or re-use one.
template <class Visitor, class Target>
void webhook_fields(Visitor& visit, Target& target) {
    visit.text(1, target.url);
    visit.texts(2, target.secrets, ' ');  // their names
    visit.signed_number(3, target.timeout_ms);
    visit.number(4, target.concurrency);
    visit.number(5, target.rate);
    lines_field(visit, 6, target.headers);
    // An earlier version, which would post the encrypted values, refuses them.
    lines_field(visit, 7, target.sealed_headers);
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
    return is_ascii_name(name, kWebhookSecretNameBytesMax);
}

std::string encode_webhook_target(const WebhookTarget& target) {
    std::string out;
    FieldWriter to(out);
    webhook_fields(to, target);
    return out;
}

Result<WebhookTarget> decode_webhook_target(std::string_view bytes) {
    WebhookTarget target;
    FieldsReader from(bytes);
    webhook_fields(from, target);
    if (Status known = from.end("a queue's webhook holds"); !known) return std::move(known).error();
    if (from.damaged() || !is_sound(target)) return Error{"damaged_record", "a queue's webhook cannot be read"};
    return target;
}

}  // namespace duewheel
