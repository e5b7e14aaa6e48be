#include "delivery/webhook_secrets.h"

#include <array>

#include "delivery/secret_file.h"
#include "message/webhook_target.h"

namespace duewheel {
namespace {

Error bad(std::string message) {
    return Error{"bad_webhook_secret", std::move(message)};
}

Result<Secret> read_file(const std::string& name, const std::string& path) {
    const std::string what = "the webhook secret " + name;
    Result<Secret> secret = read_secret_file(path, what, "bad_webhook_secret");
    if (!secret) return secret;
    const std::array<Secret, 1> alone{*secret};
    if (const Result<WebhookSigner> signer = WebhookSigner::from(alone); !signer) {
        return bad("the file " + path + " of " + what + " holds no valid secret: " + signer.error().message);
    }
    return secret;
}

}  // namespace

Result<WebhookSecrets> WebhookSecrets::read(std::span<const std::string> files) {
    WebhookSecrets all;
    for (const std::string& each : files) {
        const std::size_t equals = each.find('=');
        const std::string name = each.substr(0, equals);
        if (equals == std::string::npos || !is_webhook_secret_name(name)) {
            return bad("a webhook secret is given as NAME=FILE, with a name of up to " +
                       std::to_string(kWebhookSecretNameBytesMax) +
                       " letters, digits and . _ - , such as billing=/etc/duewheel/billing.secret");
        }
        if (all.has(name)) return bad("the webhook secret " + name + " is given twice; give each secret its own name");
        Result<Secret> secret = read_file(name, each.substr(equals + 1));
        if (!secret) return std::move(secret).error();
        all.secrets_.emplace(name, *std::move(secret));
    }
    return all;
}

Result<WebhookSigner> WebhookSecrets::signer(std::span<const std::string> names) const {
    std::vector<Secret> keys;
    for (const std::string& name : names) {
        const auto found = secrets_.find(name);
        if (found == secrets_.end()) {
            return bad("unknown webhook secret \"" + name +
                       "\"; add it to the setting webhooks.secrets, or use a secret from there");
        }
        keys.push_back(found->second);
    }
    return WebhookSigner::from(keys);
}

}  // namespace duewheel
