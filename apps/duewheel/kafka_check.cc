// duewheel kafka check: whether a server can work with its Kafka brokers and topics, and what to do if not.
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "kafka_access.h"
#include "kafka_verbs.h"
#include "plain_json.h"
#include "plain_text.h"
#include "server/kafka_topics.h"

namespace duewheel {
namespace {

struct KafkaCheckArguments {
    KafkaConnectionArguments access;
    std::vector<std::string> topics;
};

struct CheckedTopic {
    KafkaTopicUse use;
    KafkaTopic topic;
    std::vector<KafkaTopicFinding> findings;
    bool is_seen = false;  // it exists, and may be described
};

// Or an error because of which nothing else can be checked.
Result<CheckedTopic> check_topic(KafkaAccess& access, const KafkaTopicUse& use, std::uint32_t shards) {
    CheckedTopic checked{.use = use, .topic = {}, .findings = {}};
    Result<KafkaTopic> found = access.client->look_at(use.topic, KafkaAccess::kTimeoutMs);
    if (found) {
        checked.topic = std::move(*found);
        checked.findings = check_kafka_topic(use.role, checked.topic);
        if (auto wrong = check_partitions(use.role, checked.topic, shards)) checked.findings.push_back(*wrong);
        checked.is_seen = true;
        return checked;
    }
    if (is_unreachable(found.error())) return access.reason.explain(found.error());
    std::string text = found.error().message;
    if (found.error().code == "unknown_topic") {
        const bool is_named = use.role == KafkaTopicRole::input || use.role == KafkaTopicRole::target;
        text = "it does not exist: run duewheel kafka create-topics" + (is_named ? " " + use.topic : "");
    }
    checked.findings = {{.breaks_promise = true, .text = std::move(text)}};
    return checked;
}

// Whether the user may run transactions under the server's name. Leaves nothing behind but an id that brokers forget.
Status check_transactions(KafkaAccess& access, const KafkaOptions& options) {
    Result<std::unique_ptr<KafkaProducer>> producer =
        access.client->open_producer("duewheel." + options.out.cluster + ".check");
    if (!producer) return std::move(producer).error();
    Status ready = (*producer)->init_transactions(3 * KafkaAccess::kTimeoutMs);
    if (ready) return ready;
    return access.reason.explain(std::move(ready).error());
}

void print(const std::vector<CheckedTopic>& topics, const Status& transactions) {
    Rows rows{{"topic", "use", "partitions", "replicas"}};
    for (const CheckedTopic& each : topics) {
        rows.push_back({each.use.topic, std::string(name_of(each.use.role)),
                        each.is_seen ? std::to_string(each.topic.partitions) : "-",
                        each.is_seen ? std::to_string(each.topic.replicas) : "-"});
    }
    std::printf("%s\n", table(rows).c_str());
    bool is_fine = transactions.ok();
    for (const CheckedTopic& each : topics) {
        for (const KafkaTopicFinding& finding : each.findings) {
            if (finding.breaks_promise) is_fine = false;
            std::printf("%s: topic %s: %s\n", finding.breaks_promise ? "error" : "warning", each.use.topic.c_str(),
                        printable(finding.text).c_str());
        }
    }
    if (!transactions) std::printf("error: transactions: %s\n", printable(transactions.error().message).c_str());
    if (is_fine) std::printf("the server can use these brokers and topics if it may read and write them\n");
}

void print_json(const std::vector<CheckedTopic>& topics, const Status& transactions) {
    boost::json::array array;
    for (const CheckedTopic& each : topics) {
        boost::json::array findings;
        for (const KafkaTopicFinding& finding : each.findings) {
            findings.push_back(
                {{"level", finding.breaks_promise ? "error" : "warning"}, {"text", json_text(finding.text)}});
        }
        boost::json::object topic{{"topic", json_text(each.use.topic)},
                                  {"use", json_text(name_of(each.use.role))},
                                  {"findings", std::move(findings)}};
        if (each.is_seen) {
            topic["partitions"] = each.topic.partitions;
            topic["replicas"] = each.topic.replicas;
        }
        array.push_back(std::move(topic));
    }
    boost::json::object object{{"topics", std::move(array)}};
    if (!transactions) object["transactions"] = json_text(transactions.error().message);
    std::printf("%s\n", plain_json(object).c_str());
}

int run_kafka_check(Session& session, const KafkaCheckArguments& arguments) {
    KafkaAccess access;
    if (const Status opened = access.open(arguments.access); !opened)
        return session.complain(opened.error(), kExitUsage);
    std::vector<KafkaTopicUse> uses = kafka_topics(access.server.kafka);
    for (const std::string& topic : arguments.topics) {
        uses.push_back({.topic = topic, .role = KafkaTopicRole::target});
    }
    std::vector<CheckedTopic> topics;
    bool is_fine = true;
    for (const KafkaTopicUse& use : uses) {
        Result<CheckedTopic> checked = check_topic(access, use, access.server.shards);
        if (!checked) return session.complain(checked.error(), kExitUnreachable);
        for (const KafkaTopicFinding& finding : checked->findings) is_fine = is_fine && !finding.breaks_promise;
        topics.push_back(std::move(*checked));
    }
    const Status transactions = check_transactions(access, access.server.kafka);
    session.json ? print_json(topics, transactions) : print(topics, transactions);
    return is_fine && transactions ? kExitDone : kExitRefused;
}

}  // namespace

void add_kafka_check(CLI::App& kafka, Session& session) {
    Verb<KafkaCheckArguments> verb(kafka, session, "check",
                                   "Connect to the brokers and check the topics of the configuration and those given, "
                                   "and that transactions are permitted; exits 1 if the server cannot use them",
                                   "duewheel kafka check --bootstrap 127.0.0.1:9092 payments", run_kafka_check);
    verb.options->access.add_to(*verb.app);
    verb.app->add_option("TOPIC", verb.options->topics, "Topics that queues send to");
}

}  // namespace duewheel
