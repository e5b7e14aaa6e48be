// The parts of a Kafka record and the Kafka target of a queue, as stored bytes: refused with one of two codes, or
// written again they are the same value, and each value has one byte form.
#include <string>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "message/records/record_parts.h"
#include "resource/field_codec.h"
#include "resource/kafka_target.h"

namespace duewheel::record_parts_fuzz {
namespace {

template <class Value>
void require_round_trip(const Result<Value>& read, std::string (*encode)(const Value&),
                        Result<Value> (*decode)(std::string_view)) {
    if (!read) {
        require(read.error().code == "damaged_record"_code || read.error().code == "newer_format"_code, "another code",
                name_of(read.error().code));
        return;
    }
    const std::string bytes = encode(*read);
    const Result<Value> again = decode(bytes);
    require(again.ok() && *again == *read, "a value is another after writing");
    require(encode(*again) == bytes, "one value has two byte forms");
}

}  // namespace

void fuzz(std::string_view input) {
    const Result<RecordParts> parts = decode_record_parts(input);
    require(!parts || has_record_parts(input), "what is not in this form was read");
    require_round_trip(parts, encode_record_parts, decode_record_parts);
    const std::string marked = "\x01" + std::string(input);
    require_round_trip(decode_record_parts(marked), encode_record_parts, decode_record_parts);
    require_round_trip(decode_fields<KafkaTarget>(input), encode_fields<KafkaTarget>, decode_fields<KafkaTarget>);
}

}  // namespace duewheel::record_parts_fuzz
