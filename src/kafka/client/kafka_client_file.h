// The file with the TLS and SASL settings of the connection to Kafka: librdkafka's properties, one `name=value` on a
// line. Empty lines and lines that begin with # are ignored.
//
//     security.protocol=sasl_ssl
//     sasl.mechanism=SCRAM-SHA-512
//     sasl.username=duewheel
//     sasl.password=...
//
// Only these properties are accepted: security.protocol, ssl.*, sasl.*, enable.ssl.certificate.verification and
// broker.address.family. All others are the client's own business, because exactly once depends on them. No error
// contains a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/status.h"

namespace duewheel {

struct KafkaClientProperty {
    std::string name;
    Secret value;
    int line = 0;
};

// Code `bad_kafka_client_file`.
Result<std::vector<KafkaClientProperty>> parse_kafka_client_file(const std::string& path, std::string_view text);
// Reads and parses the file. Refuses one that other users can read or change.
Result<std::vector<KafkaClientProperty>> read_kafka_client_file(const std::string& path);

// An error about a line of this file.
Error kafka_client_file_error(const std::string& path, int line, std::string_view what);

}  // namespace duewheel
