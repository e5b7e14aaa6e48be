#include "webhooks/webhook_secrets.h"

#include <algorithm>
#include <array>

#include "base/error_codes.h"
#include "resource/webhook_target.h"
#include "webhooks/secret_file.h"

namespace duewheel {
namespace {

Error bad(std::string message) {
    return Error{"bad_webhook_secret"_code, std::move(message)};
}

Error unknown(const std::string& name) {
    return bad("unknown webhook secret \"" + name +
               "\"; use one of the setting webhooks.secrets that webhooks.secret_queues gives to this queue");
}

Result<Secret> read_file(const std::string& name, const std::string& path) {
    const std::string what = "the webhook secret " + name;
    Result<Secret> secret = read_secret_file(path, what, "bad_webhook_secret"_code);
    if (!secret) return secret;
    const std::array<Secret, 1> alone{*secret};
    if (const Result<WebhookSigner> signer = WebhookSigner::from(alone); !signer) {
        return bad("the file " + path + " of " + what + " holds no valid secret: " + signer.error().message);
    }
    return secret;
}

}  // namespace

Result<WebhookSecrets> WebhookSecrets::read(std::span<const std::string> files, std::span<const std::string> queues) {
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
    for (const std::string& each : queues) {
        const std::size_t equals = std::min(each.find('='), each.size());
        const std::size_t slash = each.find('/', equals);
        const std::string name = each.substr(0, equals);
        if (slash == std::string::npos || slash == equals + 1) {
            return bad(
                "the queues of a webhook secret are given as NAME=NAMESPACE/PREFIX, such as "
                "billing=shop/invoices- , or billing=shop/ for all queues of a namespace");
        }
        if (!all.has(name)) {
            return bad("the setting webhooks.secret_queues names the secret " + name +
                       ", which is not in webhooks.secrets: add its file there, or remove the entry");
        }
        all.queues_.push_back({name, each.substr(equals + 1, slash - equals - 1), each.substr(slash + 1)});
    }
    return all;
}

bool WebhookSecrets::may_have(const TargetOwner& owner, std::string_view secret) const {
    if (owner.is_set_by_server_admin) return true;
    return std::any_of(queues_.begin(), queues_.end(), [&](const Queues& each) {
        return each.secret == secret && each.name_space == owner.name_space && owner.queue.starts_with(each.prefix);
    });
}

Status WebhookSecrets::check(const TargetOwner& owner, std::span<const std::string> names) const {
    for (const std::string& name : names) {
        if (!has(name) || !may_have(owner, name)) return unknown(name);
    }
    const Result<WebhookSigner> made = signer(names);
    return made ? Status() : Status(made.error());
}

Result<WebhookSigner> WebhookSecrets::signer(std::span<const std::string> names) const {
    std::vector<Secret> keys;
    for (const std::string& name : names) {
        const auto found = secrets_.find(name);
        if (found == secrets_.end()) {
            return unknown(name);
        }
        keys.push_back(found->second);
    }
    return WebhookSigner::from(keys);
}

}  // namespace duewheel
