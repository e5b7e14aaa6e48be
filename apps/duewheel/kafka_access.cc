#include "kafka_access.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include "configuration/configuration.h"

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
    return {"bad_configuration", std::move(message)};
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

Result<KafkaOptions> KafkaConnectionArguments::read() const {
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
    KafkaOptions options = configuration.options().kafka;
    if (Status fine = check_kafka_options(options); !fine) return std::move(fine).error();
    if (options.bootstrap.empty()) {
        return bad_configuration(
            "there are no Kafka brokers; give --bootstrap HOST:PORT, or --config with the server's configuration file");
    }
    return options;
}

void KafkaReason::write(LogLevel, std::string_view, std::string_view, std::span<const LogField> fields) {
    const std::lock_guard lock(mutex_);
    for (const LogField& field : fields) {
        if (field.key() == "reason") reason_ = std::get<std::string_view>(field.value());
    }
}

Error KafkaReason::explain(Error error) const {
    const std::lock_guard lock(mutex_);
    if (error.code == "kafka_unavailable" && !reason_.empty()) error.message += " (" + reason_ + ")";
    return error;
}

Status KafkaAccess::open(const KafkaOptions& options) {
    Result<std::unique_ptr<KafkaClient>> opened =
        KafkaClient::open({.bootstrap = options.bootstrap, .client_file = options.client_file}, reason);
    if (!opened) return std::move(opened).error();
    client = std::move(*opened);
    return {};
}

TopicLog log_of(const KafkaOptions& options, std::uint32_t shard) {
    return {.topic = options.log_topic(), .shard = shard, .cluster = options.out.cluster};
}

bool is_unreachable(const Error& error) {
    return error.code == "kafka_unavailable" || error.code == "kafka_login";
}

}  // namespace duewheel
