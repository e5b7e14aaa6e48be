// The secrets that sign webhooks, by name: read once at the start from the files in the configuration. Only the signer
// sees a value.
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
    // Each "name=path". A file contains one secret and possibly a line break, and only its owner and group may read it.
    // Code `bad_webhook_secret`, with the name of the file and never its content.
    static Result<WebhookSecrets> read(std::span<const std::string> files);

    bool has(std::string_view name) const { return secrets_.find(name) != secrets_.end(); }
    // Signs with these, in order; `bad_webhook_secret`: there is none of that name.
    Result<WebhookSigner> signer(std::span<const std::string> names) const;

  private:
    std::map<std::string, Secret, std::less<>> secrets_;
};

}  // namespace duewheel
