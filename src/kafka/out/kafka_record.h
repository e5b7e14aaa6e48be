// A message as a Kafka record: key, value and headers as they came in, with the data of the delivery in headers of its
// own.
#pragma once

#include <cstdint>

#include "engine/commands/command.h"
#include "kafka/client/kafka.h"
#include "message/records/record_parts.h"
#include "resource/kafka_target.h"

namespace duewheel {

// Moves the body out of `message`. The key is that of `parts`, else the order key of the message, else that of the
// target. Headers that begin with `duewheel-` are this program's to set: those of the message are omitted. O(size).
KafkaRecord kafka_record_of(Delivered& message, RecordParts parts, const KafkaTarget& target);

}  // namespace duewheel
