// The secrets that sign webhooks, by name: read once at the start from the files in the configuration. Only the signer
// sees a value.
//
// A receiver trusts each post that a secret signs. Administrators of the server may name each of them, and those of
// some queues only what the configuration gives to these queues.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "message/target_owner.h"
#include "webhooks/webhook_signature.h"

namespace duewheel {

class WebhookSecrets {
  public:
    // Each "name=path". A file contains one secret and possibly a line break, and only its owner and group may read it.
    // Code `bad_webhook_secret`, with the name of the file and never its content.
    // `queues`: each "name=namespace/prefix", the queues whose administrators may name the secret.
    static Result<WebhookSecrets> read(std::span<const std::string> files, std::span<const std::string> queues = {});

    bool has(std::string_view name) const { return secrets_.find(name) != secrets_.end(); }
    // Whether the queue may be given these. One that it may not have is answered like one that does not exist. Code
    // `bad_webhook_secret`.
    Status check(const TargetOwner& owner, std::span<const std::string> names) const;
    // Signs with these, in order; `bad_webhook_secret`: there is none of that name.
    Result<WebhookSigner> signer(std::span<const std::string> names) const;

  private:
    struct Queues {
        std::string secret;
        std::string name_space;
        std::string prefix;
    };

    bool may_have(const TargetOwner& owner, std::string_view secret) const;

    std::map<std::string, Secret, std::less<>> secrets_;
    std::vector<Queues> queues_;
};

}  // namespace duewheel
