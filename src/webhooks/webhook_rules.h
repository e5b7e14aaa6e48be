// Checks a queue's webhook when it is set, so that its author sees a mistake at once, not later in dead letters.
//
// A name that resolves to a forbidden address is only found when it is resolved, with each post
// (webhooks/webhook_client.h).
#pragma once

#include "base/status.h"
#include "message/target_owner.h"
#include "resource/webhook_target.h"
#include "webhooks/address_policy.h"
#include "webhooks/webhook_options.h"
#include "webhooks/webhook_secrets.h"

namespace duewheel {

// The addresses that an operator allows in addition to public ones; `bad_address_block`.
Result<std::vector<IpBlock>> allowed_networks(const WebhookOptions& options);

class WebhookRules {
  public:
    // All must outlive it.
    WebhookRules(const WebhookOptions& options, const AddressPolicy& addresses, const WebhookSecrets& secrets)
        : options_(options), addresses_(addresses), secrets_(secrets) {}

    // Normalizes the URL. Codes: bad_webhook_header, bad_webhook_secret, bad_webhook_url, forbidden_address,
    // out_of_range.
    Status check(const TargetOwner& owner, WebhookTarget& target) const;

  private:
    Status check_url(std::string& url) const;
    Status check_secrets(const TargetOwner& owner, const WebhookTarget& target) const;

    const WebhookOptions& options_;
    const AddressPolicy& addresses_;
    const WebhookSecrets& secrets_;
};

}  // namespace duewheel
