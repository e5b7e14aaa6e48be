// duewheel kafka: the Kafka brokers and topics that a server works with.
#include "arguments.h"
#include "kafka_verbs.h"
#include "verbs.h"

namespace duewheel {

void add_kafka(CLI::App& program, Session& session) {
    CLI::App& kafka =
        add_group(program, "kafka", "The Kafka brokers and topics that a server works with",
                  "duewheel kafka create-topics --bootstrap 127.0.0.1:9092 --replicas 1 payments.later payments");
    add_kafka_check(kafka, session);
    add_kafka_create_topics(kafka, session);
    add_kafka_status(kafka, session);
    add_kafka_verify(kafka, session);
    add_kafka_reseed(kafka, session);
}

}  // namespace duewheel
