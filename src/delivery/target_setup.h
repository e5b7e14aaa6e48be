// What a post to a queue's webhook needs beside the message: the parsed URL, the keys that sign, and the header values
// in the clear.
#pragma once

#include "base/status.h"
#include "delivery/header_cipher.h"
#include "delivery/webhook_secrets.h"
#include "delivery/webhook_signature.h"
#include "delivery/webhook_url.h"
#include "resource/webhook_target.h"

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
