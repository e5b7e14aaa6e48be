// All that posting messages takes, put together: who is reached and who is not, what signs, the client, and the pusher
// that a shard drives.
#pragma once

#include <memory>

#include "delivery/webhook_client.h"
#include "delivery/webhook_pusher.h"
#include "delivery/webhook_rules.h"
#include "delivery/webhook_secrets.h"
#include "net/http_server.h"
#include "server/server_options.h"

namespace duewheel {

// Whether the settings of webhooks make sense, with the files that they name. Codes: bad_address_block,
// bad_webhook_secret, bad_trusted_file.
Status check_webhook_options(const WebhookOptions& options);

class Webhooks {
  public:
    // All outlive it. `own`: where the server listens. Codes: as above.
    static Result<std::unique_ptr<Webhooks>> open(EventLoop& loop, Engine& engine, const WebhookOptions& options,
                                                  const BoundAddress& own, LogSink& log);
    ~Webhooks();

    const WebhookRules& rules() const { return rules_; }
    WebhookPusher& pusher() { return pusher_; }

  private:
    Webhooks(EventLoop& loop, Engine& engine, const WebhookOptions& options, AddressPolicy addresses,
             WebhookSecrets secrets, LogSink& log);

    const AddressPolicy addresses_;
    const WebhookSecrets secrets_;
    const WebhookRules rules_;
    WebhookPusher pusher_;
    WebhookClient client_;  // last: it calls nobody once it is gone
};

}  // namespace duewheel
