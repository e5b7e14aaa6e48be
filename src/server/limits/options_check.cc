#include "server/limits/options_check.h"

#include <algorithm>

#include <sys/stat.h>

#include "base/error_codes.h"
#include "http_api/access/caller.h"
#include "http_api/calls/shard_placement.h"
#include "net/http/http_server.h"
#include "server/process/certificate_files.h"
#include "server/webhooks.h"

namespace duewheel {
namespace {

// Whether the address means all interfaces of this machine.
bool is_any_address(std::string_view address) {
    return address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
}

// Another user could replace the log, the index and the access tokens in it. The group may write: volumes of Kubernetes
// belong to the group of the server.
Status check_data_directory(const std::string& directory) {
    struct stat about {};
    if (::stat(directory.c_str(), &about) != 0 || (about.st_mode & S_IWOTH) == 0) return {};
    return Error{"unsafe_data_directory"_code,
                 "every user can change files in the data directory " + directory +
                     ": run chmod o-w on it, and check what is in it. For a directory such as /tmp, name one below it"};
}

// Its clients cannot follow a redirect to the shard of their namespace.
Status check_beanstalk(const ServerOptions& options) {
    const std::uint32_t shard = shard_of_namespace(kDefaultNamespace, options.shards.count);
    if (!options.beanstalk.listen.empty() && shard != options.shards.number) {
        return Error{"beanstalk_elsewhere"_code,
                     "the queues of clients of beanstalkd are in the namespace default, which is in shard " +
                         std::to_string(shard) + ": remove the setting beanstalk.listen here, and set it there"};
    }
    return check_beanstalk_settings(options.beanstalk, options.unsafe_plain_listen);
}

}  // namespace

bool is_loopback(std::string_view address) {
    return address.starts_with("127.") || address.starts_with("[::1]") || address.starts_with("localhost:");
}

bool requires_tokens(const ServerOptions& options) {
    return options.auth_required.value_or(!is_loopback(options.http_address));
}

std::string lack_of_defence(const ServerOptions& options) {
    const bool has_tls = !options.tls.certificate.empty();
    if (has_tls && requires_tokens(options)) return "";
    if (has_tls) return "has no authentication: any client that reaches it has full access";
    if (requires_tokens(options)) return "has no TLS: others on the network can read the tokens and use them";
    return "has neither TLS nor authentication: any client that reaches it has full access";
}

Status check_options(const ServerOptions& options, InstantMs now_ms) {
    for (const std::string& host : options.http_hosts) {
        if (parse_site(host)) continue;
        return Error{"bad_host"_code, "\"" + host +
                                          "\" in the setting http.hosts is not a host name; give a name such as "
                                          "queue.example.org or https://queue.example.org:8443, without a path"};
    }
    if (Status directory = check_data_directory(options.data_directory); !directory) return directory;
    if (Status webhooks = check_webhook_options(options.webhooks, options.data_directory); !webhooks) return webhooks;
    if (Status shards = check_sharding(options.shards, options.kafka.log.replicate); !shards) return shards;
    if (Status kafka = check_kafka_options(options.kafka); !kafka) return kafka;
    if (Status tls = check_tls_files(options.tls, now_ms); !tls) return tls;
    if (Status address = check_listen_address(options.http_address); !address) return address;
    if (Status fine = check_beanstalk(options); !fine) return fine;
    if (options.kafka.log.replicate && options.kafka.log.url.empty() && is_any_address(options.http_address)) {
        return Error{"bad_kafka_setting"_code,
                     "the setting kafka.log.url is empty, and clients cannot be redirected to " + options.http_address +
                         ", the address that this node listens on: give its URL, such as http://node1:7420",
                     "kafka.log.url"};
    }
    if (is_loopback(options.http_address) || options.unsafe_plain_listen || lack_of_defence(options).empty()) {
        return {};
    }
    return Error{"unsafe_listen"_code,
                 options.http_address + " is not a loopback address, and the server " + lack_of_defence(options) +
                     ". Listen on 127.0.0.1, add what is missing, or set unsafe_plain_listen = true "
                     "(--unsafe-plain-listen) in a trusted network"};
}

}  // namespace duewheel
