// The secrets that webhooks are signed with, by name: read once, at the start, from the files that the configuration
// names. A value is never told to anybody but the signer.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/status.h"
#include "delivery/webhook_signature.h"

namespace duewheel {

class WebhookSecrets {
  public:
    // Each "name=path". A file holds one secret and perhaps a line end, and nobody may read it but its owner and group.
    // Code `bad_webhook_secret`, which names the file and never what stands in it.
    static Result<WebhookSecrets> read(std::span<const std::string> files);

    bool has(std::string_view name) const { return secrets_.find(name) != secrets_.end(); }
    // Signs with these, in their order; `bad_webhook_secret`: there is none of that name.
    Result<WebhookSigner> signer(std::span<const std::string> names) const;

  private:
    std::map<std::string, Secret, std::less<>> secrets_;
};

}  // namespace duewheel
