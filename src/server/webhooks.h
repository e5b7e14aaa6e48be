// All parts of posting messages: the rules for addresses, the secrets, the client, and the pusher that a shard
// drives.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "net/http/http_server.h"
#include "server/limits/server_options.h"
#include "webhooks/header_cipher.h"
#include "webhooks/webhook_client.h"
#include "webhooks/webhook_pusher.h"
#include "webhooks/webhook_rules.h"
#include "webhooks/webhook_secrets.h"

namespace duewheel {

// Whether the settings of webhooks make sense, with the files that they name. Codes: bad_address_block,
// bad_webhook_secret, bad_encryption_key, bad_old_encryption_key, bad_trusted_file.
Status check_webhook_options(const WebhookOptions& options, const std::string& data_directory);

class Webhooks {
  public:
    // All must outlive it. `own`: the listeners of the server. Codes: as above.
    static Result<std::unique_ptr<Webhooks>> open(EventLoop& loop, DeliveryPort& port, const WebhookOptions& options,
                                                  const std::string& data_directory, std::span<const BoundAddress> own,
                                                  LogSink& log);
    ~Webhooks();

    // Whether a queue may have this webhook (webhooks/webhook_rules.h). Encrypts the values of its headers if a key is
    // configured.
    Status accept(const TargetOwner& owner, WebhookTarget& target) const;
    WebhookPusher& pusher() { return pusher_; }

  private:
    Webhooks(EventLoop& loop, DeliveryPort& port, const WebhookOptions& options, AddressPolicy addresses,
             WebhookSecrets secrets, HeaderCipher cipher, LogSink& log);

    const AddressPolicy addresses_;
    const WebhookSecrets secrets_;
    const HeaderCipher cipher_;
    const WebhookRules rules_;
    WebhookPusher pusher_;
    WebhookClient client_;  // last: it calls no other part after its end
};

}  // namespace duewheel
