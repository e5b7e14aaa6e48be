#include "kafka_access.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include "base/error_codes.h"
#include "base/file.h"
#include "configuration/configuration.h"
#include "journal/recovery.h"

namespace duewheel {
namespace {

constexpr std::string_view kPrefix = "DUEWHEEL_KAFKA_";

// Those of [kafka] only: the environment of a command line need not be that of a server.
std::vector<std::pair<std::string, std::string>> kafka_variables() {
    std::vector<std::pair<std::string, std::string>> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || !text.starts_with(kPrefix)) continue;
        variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

Error bad_configuration(std::string message) {
    return {"bad_configuration"_code, std::move(message)};
}

}  // namespace

void KafkaConnectionArguments::add_to(CLI::App& verb) {
    verb.add_option("--config", config, "The server's configuration file, for its settings [kafka]")
        ->envname("DUEWHEEL_CONFIG")
        ->type_name("FILE");
    verb.add_option("--bootstrap", bootstrap, "Brokers, such as broker1:9092,broker2:9092")->type_name("HOST:PORT");
    verb.add_option("--cluster", cluster, "The server's name in Kafka (its kafka.cluster)")->type_name("NAME");
    verb.add_option("--client-file", client_file, "File with TLS and SASL properties (its kafka.client_file)")
        ->type_name("FILE");
}

Result<KafkaServer> KafkaConnectionArguments::read() const {
    Configuration configuration;
    if (config) {
        std::ifstream file(*config, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (!file.is_open() || file.bad()) {
            return bad_configuration(*config + ": cannot be read; check the path and the permissions");
        }
        configuration.take_file(*config, text);
    }
    configuration.take_environment(kafka_variables());
    for (const auto& [name, text] : {std::pair{"kafka.bootstrap", &bootstrap}, std::pair{"kafka.cluster", &cluster},
                                     std::pair{"kafka.client_file", &client_file}}) {
        if (*text) configuration.take_flag(*find_setting(name), **text);
    }
    if (!configuration.errors().empty()) return bad_configuration(configuration.errors().front());
    const ServerOptions server = configuration.options();
    const KafkaOptions& options = server.kafka;
    if (Status fine = check_kafka_options(options); !fine) return std::move(fine).error();
    if (options.bootstrap.empty()) {
        return bad_configuration(
            "there are no Kafka brokers; give --bootstrap HOST:PORT, or --config with the server's configuration file");
    }
    return KafkaServer{.kafka = options, .shards = server.shards.count};
}

void KafkaReason::write(LogLevel, std::string_view, std::string_view, std::span<const LogField> fields) {
    const std::lock_guard lock(mutex_);
    for (const LogField& field : fields) {
        if (field.key() == "reason") reason_ = std::get<std::string_view>(field.value());
    }
}

Error KafkaReason::explain(Error error) const {
    const std::lock_guard lock(mutex_);
    if (error.code == "kafka_unavailable"_code && !reason_.empty()) error.message += " (" + reason_ + ")";
    return error;
}

Status KafkaAccess::open(const KafkaConnectionArguments& arguments) {
    Result<KafkaServer> read = arguments.read();
    if (!read) return std::move(read).error();
    server = std::move(*read);
    Result<std::unique_ptr<KafkaClient>> opened =
        KafkaClient::open({.bootstrap = server.kafka.bootstrap, .client_file = server.kafka.client_file}, reason);
    if (!opened) return std::move(opened).error();
    client = std::move(*opened);
    return {};
}

int KafkaAccess::complain(const Session& session, const Error& error) const {
    return session.complain(reason.explain(error), is_unreachable(error) ? kExitUnreachable : kExitRefused);
}

Result<TopicLog> log_of(const KafkaOptions& options, const std::string& directory, KafkaCluster& cluster) {
    const Result<FoundLog> found = find_log_in_use(posix_file_system(), directory + "/journal");
    if (!found && found.error().code != "not_found"_code) return found.error();
    if (!found || found->segments.empty()) {
        return Error{"not_found"_code, "there is no log in " + directory + ": give the data directory of a node"};
    }
    const LogIdentity& identity = found->segments.front()->header().identity;
    const Result<KafkaTopic> topic = cluster.look_at(options.log_topic(), KafkaAccess::kTimeoutMs);
    if (!topic) return topic.error();
    if (topic->partitions != identity.shards) {
        return Error{"shards_changed"_code,
                     "topic " + topic->name + " has " + std::to_string(topic->partitions) + " partitions, and " +
                         directory + " has the log of shard " + std::to_string(identity.shard) + " of " +
                         std::to_string(identity.shards) +
                         ": give the --cluster of this node, or create the topic with " +
                         "`duewheel kafka create-topics --log --shards " + std::to_string(identity.shards) + "`"};
    }
    return TopicLog{.topic = topic->name, .shard = identity.shard, .cluster = options.out.cluster};
}

bool is_unreachable(const Error& error) {
    return error.code == "kafka_unavailable"_code || error.code == "kafka_login"_code;
}

}  // namespace duewheel
