// duewheel kafka: the Kafka brokers and topics that a server works with. `check` says whether the server can work with
// them and what to do if not, `create-topics` creates the topics with the settings that they need, and `status` shows
// what a running server reports about them.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/error_codes.h"
#include "kafka_access.h"
#include "plain_text.h"
#include "server/node/kafka_topics.h"
#include "verbs.h"

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
    if (found.error().code == "unknown_topic"_code) {
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
        const bool exists = !made && made.error().code == "topic_exists"_code;
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

constexpr int kNotFound = 404;

struct KafkaStatusArguments {};

std::string shown_number(const boost::json::object& object, std::string_view member) {
    return object.contains(member) ? std::to_string(number_of(object, member)) : "-";
}

void print_sent(const boost::json::object& kafka, const boost::json::object& out) {
    std::printf("%s", fields({{"brokers up", shown_number(kafka, "brokers_up")},
                              {"queues with a topic", shown_number(out, "queues")},
                              {"queues that back off", shown_number(out, "queues_backing_off")},
                              {"in flight", shown_number(out, "in_flight")},
                              {"sent", shown_number(out, "sent")},
                              {"refused", shown_number(out, "refused")},
                              {"failed", shown_number(out, "failed")},
                              {"transactions", shown_number(out, "transactions")},
                              {"fenced by another server", shown_number(out, "fenced")}})
                          .c_str());
}

void print_log(const boost::json::object& log) {
    std::printf("\n%s",
                fields({{"replicated log", printable(word_of(log, "role"))},
                        {"epoch", shown_number(log, "epoch")},
                        {"first offset", shown_number(log, "first_offset")},
                        {"next offset", shown_number(log, "next_offset")},
                        {"commits", shown_number(log, "commits")},
                        {"topic", word_of(log, "topic_state") == "unsafe" ? "unsafe settings" : "safe settings"},
                        {"brokers", word_of(log, "state") == "waiting" ? "no answer: commits wait" : "answer"}})
                    .c_str());
}

// A standby node answers no other request.
void print_standby(const boost::json::object& node) {
    std::printf("%s", fields({{"replicated log", "standby"},
                              {"owner", node.contains("owner") ? printable(word_of(node, "owner")) : "-"},
                              {"epoch", shown_number(node, "epoch")},
                              {"commit", shown_number(node, "commit")},
                              {"lag (records)", shown_number(node, "lag_records")}})
                          .c_str());
}

void print_inputs(const boost::json::object& in) {
    const boost::json::value* partitions = in.if_contains("partitions");
    if (partitions == nullptr || !partitions->is_array() || partitions->get_array().empty()) return;
    Rows rows{{"input", "partition", "state", "position", "lag", "reason"}};
    for (const boost::json::value& each : partitions->get_array()) {
        if (!each.is_object()) continue;
        const boost::json::object& partition = each.get_object();
        rows.push_back({printable(word_of(partition, "topic")), shown_number(partition, "partition"),
                        printable(word_of(partition, "state")), shown_number(partition, "position"),
                        shown_number(partition, "lag"), printable(word_of(partition, "reason"))});
    }
    std::printf("\n%s", table(rows).c_str());
}

int show_kafka_status(Session& session, const KafkaStatusArguments&) {
    const ServerAnswer standby = session.get("/livez");
    if (!standby && standby.status != kNotFound) return standby.exit_code;
    if (standby.word("status") == "standby") {
        if (session.json) std::printf("%s\n", printable_json(standby.text).c_str());
        if (!session.json) print_standby(standby.members);
        return kExitDone;
    }
    ServerAnswer answer = session.ask("GET", "/v1/stats");
    if (!answer) return answer.exit_code;
    const boost::json::object* kafka = object_of(answer.members, "kafka");
    if (kafka == nullptr) {
        return session.complain(
            {"kafka_not_configured"_code,
             "the server has no Kafka brokers; name them in its setting kafka.bootstrap, and restart "
             "it"},
            kExitRefused);
    }
    if (session.json) {
        std::printf("%s\n", plain_json(*kafka).c_str());
        return kExitDone;
    }
    if (const boost::json::object* out = object_of(*kafka, "out")) print_sent(*kafka, *out);
    if (const boost::json::object* log = object_of(*kafka, "log")) print_log(*log);
    if (const boost::json::object* in = object_of(*kafka, "in")) print_inputs(*in);
    return kExitDone;
}

void add_kafka_check(CLI::App& kafka, Session& session) {
    Verb<KafkaCheckArguments> verb(kafka, session, "check",
                                   "Connect to the brokers and check the topics of the configuration and those given, "
                                   "and that transactions are permitted; exits 1 if the server cannot use them",
                                   "duewheel kafka check --bootstrap 127.0.0.1:9092 payments", run_kafka_check);
    verb.options->access.add_to(*verb.app);
    verb.app->add_option("TOPIC", verb.options->topics, "Topics that queues send to");
}

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

void add_kafka_status(CLI::App& kafka, Session& session) {
    Verb<KafkaStatusArguments>(
        kafka, session, "status",
        "Show what a running server sends to Kafka and reads from it, how far it is, and its role in a replicated log",
        "duewheel kafka status", show_kafka_status);
}

}  // namespace

void add_kafka(CLI::App& program, Session& session) {
    CLI::App& kafka =
        add_group(program, "kafka", "The Kafka brokers and topics that a server works with",
                  "duewheel kafka create-topics --bootstrap 127.0.0.1:9092 --replicas 1 payments.later payments");
    add_kafka_check(kafka, session);
    add_kafka_create_topics(kafka, session);
    add_kafka_status(kafka, session);
    add_kafka_log_verbs(kafka, session);
}

}  // namespace duewheel
