#include "http_api/answers/token_text.h"

#include <string>

#include "access/access_token_text.h"
#include "http_api/fields/instant_member.h"
#include "http_api/fields/json_response.h"

namespace duewheel {
namespace {

void write_names(JsonWriter& json, std::string_view member, const std::vector<std::string>& names) {
    if (names.empty()) return;
    json.open_array(member);
    for (const std::string& name : names) json.element(name);
    json.close_array();
}

void write_limits(JsonWriter& json, const AccessToken& token) {
    if (token.requests_per_second == 0 && token.bytes_per_second == 0) return;
    json.open("limits");
    if (token.requests_per_second != 0) json.number("requests_per_second", token.requests_per_second);
    if (token.bytes_per_second != 0) json.number("bytes_per_second", token.bytes_per_second);
    json.close();
}

}  // namespace

void write_rights(JsonWriter& json, const AccessToken& token) {
    json.open_array("scopes");
    for (std::size_t i = 0; i < kScopeCount; ++i) {
        if (token.scopes.contains(static_cast<Scope>(i))) json.element(kScopeNames[i]);
    }
    json.close_array();
    if (!token.limits) return;
    write_names(json, "namespaces", token.limits->namespaces);
    if (!token.limits->queue_prefix.empty()) json.text("queues", token.limits->queue_prefix);
}

void write_token(JsonWriter& json, const TokenAnswer& answer, const Secret* shown) {
    const AccessToken& token = answer.token;
    json.open().text("id", token.id);
    if (answer.removed) {
        json.boolean("removed", *answer.removed).close();
        return;
    }
    if (shown != nullptr) json.text("token", access_token_text(token.id, *shown).reveal());
    if (!token.description.empty()) json.text("description", token.description);
    write_rights(json, token);
    write_limits(json, token);
    write_names(json, "certificate_names", token.certificate_names);
    write_instant(json, "created", "created_ms", token.created_ms);
    if (token.expires_ms != 0) write_instant(json, "expires", "expires_ms", token.expires_ms);
    if (token.old_until_ms != 0) write_instant(json, "old_until", "old_until_ms", token.old_until_ms);
    if (answer.last_used_ms != 0) write_instant(json, "last_used", "last_used_ms", answer.last_used_ms);
    json.close();
}

HttpResponse token_text(const TokenAnswer& answer, const Secret* shown) {
    return json_response(answer.created ? 201 : 200, [&](JsonWriter& json) { write_token(json, answer, shown); });
}

}  // namespace duewheel
