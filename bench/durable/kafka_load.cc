// The producer and the consumer of the Kafka rows. Straight on librdkafka, so that it measures the server's client from
// outside.
//
//   duewheel_kafka_load fill --bootstrap B --topic T --count N      N records, each due in an hour
//   duewheel_kafka_load read --bootstrap B --topic T --count N      until N messages have come, committed ones only
//
// `read` prints "ready" once it waits for records, and then a line of JSON: how many messages came, how many came again
// or before their time, when the first and the last were read, and how late they were: by the record's timestamp, which
// is when the server passed it to its client, and by the time at which it was read here. All clocks are those of one
// machine.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <librdkafka/rdkafka.h>

#include "base/histogram.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr int kPollMs = 100;
constexpr std::size_t kPollMax = 10'000;
constexpr std::int64_t kGiveUpMs = 120'000;  // without a record

struct Options {
    std::string bootstrap;
    std::string topic;
    std::int32_t partitions = 3;
    std::uint64_t count = 0;
    std::size_t body_bytes = 200;
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "duewheel_kafka_load: %s\n", what.c_str());
    std::exit(1);
}

rd_kafka_t* open(rd_kafka_type_t type, const std::vector<std::pair<const char*, std::string>>& properties) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char text[512];
    for (const auto& [name, value] : properties) {
        if (rd_kafka_conf_set(conf, name, value.c_str(), text, sizeof text) != RD_KAFKA_CONF_OK) fail(text);
    }
    if (type == RD_KAFKA_PRODUCER) {
        rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
            if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_err2str(message->err));
        });
    }
    rd_kafka_t* made = rd_kafka_new(type, conf, text, sizeof text);
    if (made == nullptr) fail(text);
    return made;
}

void fill(const Options& options) {
    rd_kafka_t* producer = open(RD_KAFKA_PRODUCER, {{"bootstrap.servers", options.bootstrap},
                                                    {"linger.ms", "20"},
                                                    {"batch.size", "500000"},
                                                    {"queue.buffering.max.messages", "100000"}});
    std::string body(options.body_bytes, 'x');
    for (std::uint64_t number = 0; number < options.count;) {
        std::string key = std::to_string(number);
        std::array<rd_kafka_vu_t, 6> record{};
        record[0].vtype = RD_KAFKA_VTYPE_TOPIC;
        record[0].u.cstr = options.topic.c_str();
        record[1].vtype = RD_KAFKA_VTYPE_PARTITION;
        record[1].u.i32 = static_cast<std::int32_t>(number % static_cast<std::uint64_t>(options.partitions));
        record[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
        record[2].u.i = RD_KAFKA_MSG_F_COPY;
        record[3].vtype = RD_KAFKA_VTYPE_KEY;
        record[3].u.mem = {key.data(), key.size()};
        record[4].vtype = RD_KAFKA_VTYPE_VALUE;
        record[4].u.mem = {body.data(), body.size()};
        record[5].vtype = RD_KAFKA_VTYPE_HEADER;
        record[5].u.header = {"duewheel-delay", "1h", 2};
        rd_kafka_error_t* error = rd_kafka_produceva(producer, record.data(), record.size());
        const bool is_full = error != nullptr && rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
        if (error != nullptr && !is_full) fail(rd_kafka_error_string(error));
        if (error != nullptr) rd_kafka_error_destroy(error);
        if (!is_full) ++number;
        rd_kafka_poll(producer, is_full ? kPollMs : 0);
    }
    if (rd_kafka_flush(producer, static_cast<int>(kGiveUpMs)) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("flush");
    rd_kafka_destroy(producer);
}

struct Seen {
    std::unordered_set<std::uint64_t> ids;
    std::uint64_t repeated = 0;
    std::uint64_t early = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    Histogram passed_late_ms;
    Histogram read_late_ms;

    void take(const rd_kafka_message_t& message) {
        const std::int64_t now_ms = wall_now_ms();
        rd_kafka_headers_t* headers = nullptr;
        rd_kafka_timestamp_type_t kind{};
        const std::int64_t passed_ms = rd_kafka_message_timestamp(&message, &kind);
        std::int64_t id = 0;
        std::int64_t due_ms = 0;
        if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
            !number_of(headers, "duewheel-id", id) || !number_of(headers, "duewheel-due-ms", due_ms)) {
            fail("a record that is no message");
        }
        if (!ids.insert(static_cast<std::uint64_t>(id)).second) ++repeated;
        if (passed_ms < due_ms || now_ms < due_ms) ++early;
        if (first_ms == 0) first_ms = now_ms;
        last_ms = now_ms;
        passed_late_ms.record(static_cast<std::uint64_t>(std::max<std::int64_t>(passed_ms - due_ms, 0)));
        read_late_ms.record(static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms - due_ms, 0)));
    }

    static bool number_of(const rd_kafka_headers_t* headers, const char* name, std::int64_t& into) {
        const void* value = nullptr;
        std::size_t size = 0;
        if (rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
        const auto* text = static_cast<const char*>(value);
        return std::from_chars(text, text + size, into).ec == std::errc();
    }
};

void print_levels(const char* name, const Histogram& of) {
    std::printf(",\"%s\":{\"p50\":%llu,\"p99\":%llu,\"max\":%llu}", name,
                static_cast<unsigned long long>(of.percentile(50'000)),
                static_cast<unsigned long long>(of.percentile(99'000)), static_cast<unsigned long long>(of.max()));
}

void read(const Options& options) {
    rd_kafka_t* consumer = open(RD_KAFKA_CONSUMER, {{"bootstrap.servers", options.bootstrap},
                                                    {"isolation.level", "read_committed"},
                                                    {"group.id", "duewheel-bench"},
                                                    {"enable.auto.commit", "false"},
                                                    {"fetch.error.backoff.ms", "10"},
                                                    {"enable.partition.eof", "true"}});
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t* assigned = rd_kafka_topic_partition_list_new(options.partitions);
    for (std::int32_t number = 0; number < options.partitions; ++number) {
        rd_kafka_topic_partition_list_add(assigned, options.topic.c_str(), number)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    if (rd_kafka_assign(consumer, assigned) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("cannot assign");
    rd_kafka_topic_partition_list_destroy(assigned);
    rd_kafka_queue_t* queue = rd_kafka_queue_get_consumer(consumer);

    Seen seen;
    seen.ids.reserve(options.count);
    std::int32_t at_end = 0;
    std::vector<rd_kafka_message_t*> batch(kPollMax);
    for (std::int64_t give_up_ms = wall_now_ms() + kGiveUpMs; seen.ids.size() < options.count;) {
        rd_kafka_message_t* first = rd_kafka_consumer_poll(consumer, kPollMs);
        if (first == nullptr && wall_now_ms() > give_up_ms) break;
        if (first == nullptr) continue;
        batch[0] = first;
        // A timeout of zero: what is there.
        const ssize_t more = rd_kafka_consume_batch_queue(queue, 0, batch.data() + 1, kPollMax - 1);
        for (ssize_t i = 0; i <= std::max<ssize_t>(more, 0); ++i) {
            rd_kafka_message_t* message = batch[static_cast<std::size_t>(i)];
            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                seen.take(*message);
                give_up_ms = seen.last_ms + kGiveUpMs;
            } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && ++at_end == options.partitions) {
                std::printf("ready\n");
                std::fflush(stdout);
            }
            rd_kafka_message_destroy(message);
        }
    }
    std::printf("{\"received\":%zu,\"repeated\":%llu,\"early\":%llu,\"first_ms\":%lld,\"last_ms\":%lld",
                seen.ids.size(), static_cast<unsigned long long>(seen.repeated),
                static_cast<unsigned long long>(seen.early), static_cast<long long>(seen.first_ms),
                static_cast<long long>(seen.last_ms));
    print_levels("passed_late_ms", seen.passed_late_ms);
    print_levels("read_late_ms", seen.read_late_ms);
    std::printf("}\n");
    std::fflush(stdout);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(consumer);
}

}  // namespace
}  // namespace duewheel

int main(int argc, char** argv) {
    duewheel::Options options;
    CLI::App app{"Fills a Kafka topic, or reads what the server sent to one."};
    app.require_subcommand(1);
    for (const auto& [name, run] : {std::pair("fill", &duewheel::fill), std::pair("read", &duewheel::read)}) {
        CLI::App* verb = app.add_subcommand(name);
        verb->add_option("--bootstrap", options.bootstrap)->required();
        verb->add_option("--topic", options.topic)->required();
        verb->add_option("--count", options.count)->required();
        verb->add_option("--partitions", options.partitions);
        verb->add_option("--body", options.body_bytes);
        verb->callback([&options, run = run] { run(options); });
    }
    CLI11_PARSE(app, argc, argv);
    return 0;
}
