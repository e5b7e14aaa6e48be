#include "kafka/in/kafka_errors_topic.h"

#include "base/error_codes.h"
#include "kafka/in/kafka_commands.h"

namespace duewheel {
namespace {

void add_error(KafkaRecord& record, const KafkaRecord& original, const Error& error) {
    record.headers.push_back({"duewheel-error-code", std::string(name_of(error.code))});
    record.headers.push_back({"duewheel-error", error.message});
    record.headers.push_back({"duewheel-source", kafka_input_name(original.topic, original.partition) + "/" +
                                                     std::to_string(original.offset)});
}

}  // namespace

Status KafkaErrorsTopic::write(const std::vector<Rejected>& rejected) {
    std::vector<KafkaRecord> records;
    records.reserve(rejected.size());
    for (const Rejected& each : rejected) {
        KafkaRecord& record = records.emplace_back();
        record.topic = topic_;
        record.key = each.record->key;
        record.value = each.record->value;
        record.headers = each.record->headers;
        add_error(record, *each.record, *each.error);
    }
    std::vector<std::size_t> refused;
    if (Status written = write(records, refused); !written) return written;
    if (refused.empty()) return {};
    std::vector<KafkaRecord> short_ones;
    for (const std::size_t i : refused) {
        KafkaRecord& record = short_ones.emplace_back();
        record.topic = topic_;
        add_error(record, *rejected[i].record, *rejected[i].error);
    }
    refused.clear();
    if (Status written = write(short_ones, refused); !written) return written;
    if (refused.empty()) return {};
    return Error{"record_refused"_code,
                 "the errors topic `" + topic_ +
                     "` refuses records without a value and a key: set its cleanup.policy to `delete`"};
}

Status KafkaErrorsTopic::write(const std::vector<KafkaRecord>& records, std::vector<std::size_t>& refused) {
    if (!producer_) {
        // Before a producer uses it: brokers may create a topic that a producer asks for.
        if (const Result<KafkaTopic> found = cluster_.look_at(topic_, timeout_ms_); !found) return found.error();
        Result<std::unique_ptr<KafkaProducer>> opened = cluster_.open_producer("");
        if (!opened) return std::move(opened).error();
        producer_ = *std::move(opened);
    }
    std::vector<std::size_t> queued;
    queued.reserve(records.size());
    const auto fail = [this](Error error) {
        producer_.reset();  // what it may still have in its queue is sent again
        return Status(std::move(error));
    };
    for (std::size_t i = 0; i < records.size(); ++i) {
        Status produced = producer_->produce(records[i]);
        if (produced) {
            queued.push_back(i);
        } else if (produced.error().code == "record_refused"_code) {
            refused.push_back(i);
        } else {
            return fail(std::move(produced).error());
        }
    }
    Result<std::vector<Status>> flushed = producer_->flush(timeout_ms_);
    if (!flushed) return fail(std::move(flushed).error());
    for (std::size_t i = 0; i < queued.size(); ++i) {
        Status& one = (*flushed)[i];
        if (one) continue;
        if (one.error().code != "record_refused"_code) return fail(std::move(one).error());
        refused.push_back(queued[i]);
    }
    return {};
}

}  // namespace duewheel
