// Signs webhooks as in Standard Webhooks 1.0 (https://www.standardwebhooks.com). The signature proves to the receiver
// that a post is authentic, unchanged, and not a replay.
//
// The signed text is "id.timestamp.body": the id that a message keeps over all attempts, the time of this attempt in
// seconds, and the bytes of the body as sent. There are two schemes: HMAC-SHA256 with a shared secret ("whsec_" and
// base64, 24 to 64 bytes; signature "v1,..."), and ed25519 with a key of which the receiver needs only the public half
// ("whsk_" and base64, the 32 bytes of the seed, or those and the public half; signature "v1a,..."). With several keys
// there is a signature of each, and a receiver accepts any that it can verify, so that keys can be changed without
// failed deliveries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/status.h"

namespace duewheel {

class WebhookSigner {
  public:
    static constexpr std::size_t kKeysMax = 4;

    // Signs nothing.
    WebhookSigner();
    ~WebhookSigner();
    WebhookSigner(WebhookSigner&&) noexcept;
    WebhookSigner& operator=(WebhookSigner&&) noexcept;

    // Error `bad_webhook_secret`, with the reason and never the content.
    static Result<WebhookSigner> from(std::span<const Secret> keys);

    bool has_keys() const { return !keys_.empty(); }
    // The field webhook-signature: "v1,base64", with several keys in order, separated by a space. O(keys * size of the
    // body).
    std::string sign(std::string_view id, std::int64_t timestamp_s, std::string_view body) const;

  private:
    struct Key;

    static Result<std::unique_ptr<Key>> read(const Secret& text);

    std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace duewheel
