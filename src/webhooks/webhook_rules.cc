#include "webhooks/webhook_rules.h"

#include <set>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "webhooks/webhook_message.h"
#include "webhooks/webhook_url.h"

namespace duewheel {
namespace {

Error out_of_range(const char* member, const std::string& range) {
    return {"out_of_range"_code, "`target.webhook." + std::string(member) + "` is " + range,
            "target.webhook." + std::string(member)};
}

// A name of the local machine (RFC 6761).
bool is_own_name(std::string_view host) {
    return host == "localhost" || host.ends_with(".localhost");
}

}  // namespace

Result<std::vector<IpBlock>> allowed_networks(const WebhookOptions& options) {
    std::vector<IpBlock> blocks;
    for (const std::string& text : options.allowed_networks) {
        Result<IpBlock> block = IpBlock::from(text);
        if (!block) {
            return Error{"bad_address_block"_code,
                         "in the setting webhooks.allowed_networks: " + block.error().message};
        }
        blocks.push_back(*std::move(block));
    }
    return blocks;
}

Status WebhookRules::check_url(std::string& url) const {
    const Result<WebhookUrl> read = WebhookUrl::from(url);
    if (!read) return Error{"bad_webhook_url"_code, read.error().message, "target.webhook.url"};
    std::optional<IpAddress> address = read->address;
    if (!address && is_own_name(read->host)) address = parse_ip_address("127.0.0.1");
    const std::string_view what = address ? addresses_.refusal(*address, read->port) : std::string_view();
    if (!what.empty()) {
        const char* const advice =
            what == AddressPolicy::kOwn
                ? "the server does not post to itself; put the messages into the other queue instead"
                : "use a public address, or add the network to the setting "
                  "webhooks.allowed_networks";
        return Error{"forbidden_address"_code,
                     read->host + " is " + std::string(what) + ", and webhooks are not sent there: " + advice,
                     "target.webhook.url"};
    }
    url = read->text();
    return {};
}

Status WebhookRules::check_secrets(const TargetOwner& owner, const WebhookTarget& target) const {
    constexpr const char* kField = "target.webhook.secrets";
    if (target.secrets.size() > kWebhookSecretsMax) {
        return Error{"bad_webhook_secret"_code,
                     "a webhook has up to " + std::to_string(kWebhookSecretsMax) +
                         " secrets; remove those that no receiver verifies with any more",
                     kField};
    }
    if (std::set<std::string_view>(target.secrets.begin(), target.secrets.end()).size() != target.secrets.size()) {
        return Error{"bad_webhook_secret"_code, "a secret is named twice; name each once", kField};
    }
    for (const std::string& name : target.secrets) {
        if (!is_webhook_secret_name(name)) {
            return Error{"bad_webhook_secret"_code,
                         "give the name of a secret from the setting webhooks.secrets, up to " +
                             std::to_string(kWebhookSecretNameBytesMax) +
                             " letters, digits and . _ - ; never send the secret itself",
                         kField};
        }
    }
    if (Status allowed = secrets_.check(owner, target.secrets); !allowed) {
        return Error{"bad_webhook_secret"_code, allowed.error().message, kField};
    }
    return {};
}

Status WebhookRules::check(const TargetOwner& owner, WebhookTarget& target) const {
    if (Status url = check_url(target.url); !url) return url;
    if (Status secrets = check_secrets(owner, target); !secrets) return secrets;
    for (const auto& [name, value] : target.headers) {
        if (is_header_allowed(name)) continue;
        return Error{"bad_webhook_header"_code, name + " is set by the server: remove it",
                     "target.webhook.headers." + name.substr(0, 64)};
    }
    if (target.timeout_ms > options_.timeout_max_ms) {
        return out_of_range("timeout", duration_range(1, options_.timeout_max_ms));
    }
    if (target.concurrency > options_.concurrency_max) {
        return out_of_range("concurrency", "from 1 to " + std::to_string(options_.concurrency_max));
    }
    if (target.rate > kWebhookRateMax) {
        return out_of_range(
            "rate", "from 1 to " + std::to_string(kWebhookRateMax) + " posts a second; leave it out for no limit");
    }
    return {};
}

}  // namespace duewheel
