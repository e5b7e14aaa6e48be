// What a queue's webhook may be, when it is set: so that a slip is told to who made it, and not found in the dead.
//
// It judges what stands there. A name that leads to an address which may not be reached is found when it is looked up,
// with each post (delivery/webhook_client.h).
#pragma once

#include "base/status.h"
#include "delivery/address_policy.h"
#include "delivery/webhook_options.h"
#include "delivery/webhook_secrets.h"
#include "message/webhook_target.h"

namespace duewheel {

// Which addresses an operator allows beside the public ones; `bad_address_block`.
Result<std::vector<IpBlock>> allowed_networks(const WebhookOptions& options);

class WebhookRules {
  public:
    // All outlive it.
    WebhookRules(const WebhookOptions& options, const AddressPolicy& addresses, const WebhookSecrets& secrets)
        : options_(options), addresses_(addresses), secrets_(secrets) {}

    // Gives the URL its one form. Codes: bad_webhook_header, bad_webhook_secret, bad_webhook_url, forbidden_address,
    // out_of_range.
    Status check(WebhookTarget& target) const;

  private:
    Status check_url(std::string& url) const;
    Status check_secrets(const WebhookTarget& target) const;

    const WebhookOptions& options_;
    const AddressPolicy& addresses_;
    const WebhookSecrets& secrets_;
};

}  // namespace duewheel
