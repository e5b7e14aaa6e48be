// What a post to a queue's webhook needs beside the message: the parsed URL, the keys that sign, and the header values
// in the clear.
#pragma once

#include "base/status.h"
#include "resource/webhook_target.h"
#include "webhooks/header_cipher.h"
#include "webhooks/webhook_secrets.h"
#include "webhooks/webhook_signature.h"
#include "webhooks/webhook_url.h"

namespace duewheel {

struct TargetSetup {
    WebhookUrl url;
    WebhookSigner signer;
    SecretHeaders headers;

    // Errors are those of WebhookUrl::from(), WebhookSecrets::signer() and HeaderCipher::open().
    static Result<TargetSetup> from(const QueueName& queue, const WebhookTarget& target, const WebhookSecrets& secrets,
                                    const HeaderCipher& cipher);
};

}  // namespace duewheel
