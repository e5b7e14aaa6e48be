// duewheel kafka create-topics: creates the topics that a server uses, with the settings that they need.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "kafka_access.h"
#include "kafka_verbs.h"
#include "plain_json.h"
#include "server/kafka_topics.h"

namespace duewheel {
namespace {

struct CreateTopicsArguments {
    KafkaConnectionArguments access;
    std::vector<std::string> topics;
    std::int32_t partitions = 0;
    std::int32_t replicas = 3;
    bool log = false;
    std::optional<std::int32_t> shards;  // otherwise as the configuration says
};

std::int32_t partitions_of(KafkaTopicRole role, const CreateTopicsArguments& arguments, std::int32_t shards) {
    if (role == KafkaTopicRole::target) return arguments.partitions;
    return role == KafkaTopicRole::ledger || role == KafkaTopicRole::log ? shards : 0;
}

int create_topics(Session& session, const CreateTopicsArguments& arguments) {
    KafkaAccess access;
    if (const Status opened = access.open(arguments.access); !opened)
        return session.complain(opened.error(), kExitUsage);
    const KafkaOptions& options = access.server.kafka;
    const std::int32_t shards = arguments.shards.value_or(static_cast<std::int32_t>(access.server.shards));
    std::vector<KafkaTopicUse> uses{{.topic = options.out.ledger_topic(), .role = KafkaTopicRole::ledger},
                                    {.topic = options.errors_topic, .role = KafkaTopicRole::errors}};
    if (arguments.log || options.log.replicate) {
        uses.push_back({.topic = options.log_topic(), .role = KafkaTopicRole::log});
        uses.push_back({.topic = options.owners_topic(), .role = KafkaTopicRole::owners});
    }
    for (const std::string& topic : arguments.topics) {
        uses.push_back({.topic = topic, .role = KafkaTopicRole::target});
    }
    boost::json::array created;
    boost::json::array existing;
    int exit_code = kExitDone;
    for (const KafkaTopicUse& use : uses) {
        const Status made =
            access.client->create(new_kafka_topic(use, partitions_of(use.role, arguments, shards), arguments.replicas),
                                  KafkaAccess::kTimeoutMs);
        const bool exists = !made && made.error().code == "topic_exists";
        if (!made && !exists) {
            exit_code = access.complain(session, made.error());
            if (exit_code == kExitUnreachable) break;
            continue;
        }
        (exists ? existing : created).push_back(json_text(use.topic));
        if (!session.json) std::printf("%s %s\n", exists ? "exists " : "created", use.topic.c_str());
    }
    if (session.json && exit_code != kExitUnreachable) {
        const boost::json::object object{{"created", std::move(created)}, {"existing", std::move(existing)}};
        std::printf("%s\n", plain_json(object).c_str());
    }
    return exit_code;
}

}  // namespace

void add_kafka_create_topics(CLI::App& kafka, Session& session) {
    Verb<CreateTopicsArguments> verb(
        kafka, session, "create-topics",
        "Create the server's ledger and errors topics, and those given; existing topics stay as they are",
        "duewheel kafka create-topics --bootstrap 127.0.0.1:9092 --replicas 1 payments.later payments", create_topics);
    CreateTopicsArguments& options = *verb.options;
    options.access.add_to(*verb.app);
    verb.app->add_option("TOPIC", options.topics, "More topics to create: inputs, and targets of queues");
    verb.app->add_flag("--log", options.log,
                       "Also create the topics of the log, and of its owners, of servers with kafka.log.replicate");
    verb.app
        ->add_option("--shards", options.shards,
                     "Number of shards of the servers: partitions of the ledger and the log; default: shards.count of "
                     "the configuration file")
        ->check(CLI::Range(1, 1'024))
        ->type_name("NUMBER");
    verb.app
        ->add_option("--partitions", options.partitions,
                     "Partitions of the topics given; default: as the brokers are configured")
        ->check(CLI::Range(1, 100'000))
        ->type_name("NUMBER");
    verb.app
        ->add_option("--replicas", options.replicas,
                     "Brokers that keep a copy of each topic; fewer than 3 may lose records")
        ->check(CLI::Range(1, 1'000))
        ->type_name("NUMBER")
        ->capture_default_str();
}

}  // namespace duewheel
