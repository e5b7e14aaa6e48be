// An access token as responses show it. Its secret is only in the response to the call that made it.
#pragma once

#include "base/json_writer.h"
#include "base/secret.h"
#include "engine/commands/command.h"
#include "net/http/http_message.h"

namespace duewheel {

// `shown`: the secret, where this response shows it; null elsewhere.
void write_token(JsonWriter& json, const TokenAnswer& answer, const Secret* shown);
// What the token allows: its members `scopes`, `namespaces` and `queues`.
void write_rights(JsonWriter& json, const AccessToken& token);

HttpResponse token_text(const TokenAnswer& answer, const Secret* shown);

}  // namespace duewheel
