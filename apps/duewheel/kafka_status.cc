// duewheel kafka status: what a running server reports about its Kafka brokers and topics.
#include <cstdio>
#include <string>

#include "arguments.h"
#include "kafka_verbs.h"
#include "plain_json.h"
#include "plain_text.h"

namespace duewheel {
namespace {

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
            {"kafka_not_configured",
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

}  // namespace

void add_kafka_status(CLI::App& kafka, Session& session) {
    Verb<KafkaStatusArguments>(
        kafka, session, "status",
        "Show what a running server sends to Kafka and reads from it, how far it is, and its role in a replicated log",
        "duewheel kafka status", show_kafka_status);
}

}  // namespace duewheel
