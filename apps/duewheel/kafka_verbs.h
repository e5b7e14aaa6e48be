// The verbs of `duewheel kafka`. One file per verb, as for those in verbs.h.
#pragma once

namespace CLI {
class App;
}

namespace duewheel {

class Session;

void add_kafka_check(CLI::App& kafka, Session& session);
void add_kafka_create_topics(CLI::App& kafka, Session& session);
void add_kafka_reseed(CLI::App& kafka, Session& session);
void add_kafka_status(CLI::App& kafka, Session& session);
void add_kafka_verify(CLI::App& kafka, Session& session);

}  // namespace duewheel
