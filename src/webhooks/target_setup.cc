#include "webhooks/target_setup.h"

#include <utility>

namespace duewheel {

Result<TargetSetup> TargetSetup::from(const QueueName& queue, const WebhookTarget& target,
                                      const WebhookSecrets& secrets, const HeaderCipher& cipher) {
    Result<WebhookUrl> url = WebhookUrl::from(target.url);
    if (!url) return std::move(url).error();
    Result<WebhookSigner> signer = secrets.signer(target.secrets);
    if (!signer) return std::move(signer).error();
    Result<SecretHeaders> headers = cipher.open(queue, target);
    if (!headers) return std::move(headers).error();
    return TargetSetup{*std::move(url), *std::move(signer), *std::move(headers)};
}

}  // namespace duewheel
