#include "server/webhooks.h"

#include <utility>
#include <vector>

#include "http_api/requests/kept_headers.h"
#include "shared/system_clock.h"
#include "webhooks/own_listeners.h"
#include "webhooks/trusted_file.h"

namespace duewheel {
namespace {

WebhookClient::Options client_options(const WebhookOptions& options, const AddressPolicy& addresses) {
    WebhookClient::Options chosen;
    chosen.addresses = addresses;
    chosen.trusted_file = options.trusted_file;
    chosen.connections_max = options.connections_max;
    chosen.connections_per_host_max = options.connections_max;  // the pusher limits the connections of a target
    chosen.answer_bytes_max = options.answer_bytes_max;
    return chosen;
}

}  // namespace

Status check_webhook_options(const WebhookOptions& options, const std::string& data_directory) {
    if (const auto networks = allowed_networks(options); !networks) return networks.error();
    if (const auto secrets = WebhookSecrets::read(options.secret_files, options.secret_queues); !secrets)
        return secrets.error();
    if (const auto cipher = HeaderCipher::read(options, data_directory); !cipher) return cipher.error();
    if (!options.trusted_file.empty()) return check_trusted_file(options.trusted_file);
    return {};
}

Result<std::unique_ptr<Webhooks>> Webhooks::open(EventLoop& loop, DeliveryPort& port, const WebhookOptions& options,
                                                 const std::string& data_directory, std::span<const BoundAddress> own,
                                                 LogSink& log) {
    Result<std::vector<IpBlock>> networks = allowed_networks(options);
    if (!networks) return std::move(networks).error();
    Result<WebhookSecrets> secrets = WebhookSecrets::read(options.secret_files, options.secret_queues);
    if (!secrets) return std::move(secrets).error();
    Result<HeaderCipher> cipher = HeaderCipher::read(options, data_directory);
    if (!cipher) return std::move(cipher).error();
    std::vector<AddressPolicy::Listener> listeners;
    for (const BoundAddress& each : own) {
        const std::vector<AddressPolicy::Listener> addresses = own_listeners(each.host, each.port);
        listeners.insert(listeners.end(), addresses.begin(), addresses.end());
    }
    AddressPolicy addresses(*std::move(networks), std::move(listeners));
    return std::unique_ptr<Webhooks>(
        new Webhooks(loop, port, options, std::move(addresses), *std::move(secrets), *std::move(cipher), log));
}

Webhooks::Webhooks(EventLoop& loop, DeliveryPort& port, const WebhookOptions& options, AddressPolicy addresses,
                   WebhookSecrets secrets, HeaderCipher cipher, LogSink& log)
    : addresses_(std::move(addresses)),
      secrets_(std::move(secrets)),
      cipher_(std::move(cipher)),
      rules_(options, addresses_, secrets_),
      pusher_(port, options, secrets_, cipher_,
              {[this](WebhookRequest request, WebhookClient::Done done) {
                   client_.send(std::move(request), std::move(done));
               },
               read_kept_headers, wall_now_ms},
              log),
      client_(loop, client_options(options, addresses_)) {}

Webhooks::~Webhooks() = default;

Status Webhooks::accept(const TargetOwner& owner, WebhookTarget& target) const {
    if (Status allowed = rules_.check(owner, target); !allowed) return allowed;
    cipher_.seal({std::string(owner.name_space), std::string(owner.queue)}, target);
    return {};
}

}  // namespace duewheel
