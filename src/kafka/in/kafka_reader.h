// Takes the records of the input topics as commands, each put exactly once.
//
//     Kafka ──► poll ──► waiting records of each partition ──► commands ──► engine: puts and position in one commit
//                                                      └──► errors topic
//
// It reads its partitions without a group, each from its position in the engine; if there is none, from the beginning.
// Up to 1,000 records of each partition are on their way to the engine at once, while the next ones are read. Puts are
// taken together with the position after them (engine/puts/inputs.h). Records of other kinds (cancels, schedules)
// are idempotent and executed before the position passes them. They keep their order to the puts with the same key.
//
// A record that can never be taken goes to the errors topic, as it came, with the headers duewheel-error-code,
// duewheel-error and duewheel-source; then the position passes it. A crash in between writes it there again: at least
// once. If it is too large there, its headers alone are written, and duewheel-source tells where to find it. A refusal
// that time can mend (a full queue or disk, too many requests) is repeated with exponential backoff, and its partition
// waits; the others go on.
//
// If the topic no longer has the record at a position, the partition stops, because records were lost before they were
// taken: `kafka_position_trimmed` in the log. With `skips_trimmed` it goes on at the first record that is left.
//
// It belongs to one thread, which the server starts for it, because calls to Kafka block:
//
//     Worker thread("dw-kafka-in");
//     thread.run([&] { reader.run(); });
//     ...
//     reader.stop();  // before the worker is destroyed, which waits for run()
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "engine/commands/command.h"
#include "kafka/client/kafka.h"
#include "kafka/in/kafka_commands.h"
#include "kafka/in/kafka_errors_topic.h"
#include "kafka/in/kafka_partition.h"
#include "shared/system_clock.h"

namespace duewheel {

struct KafkaReaderOptions {
    KafkaCommandOptions commands;  // with the input topics
    std::string errors_topic;      // required; no input topic
    bool skips_trimmed = false;
    // One of several servers, each of which reads the partitions `shard`, `shard + shards`, ...
    std::uint32_t shard = 0;
    std::uint32_t shards = 1;
    std::int64_t look_again_ms = 60'000;  // for new partitions
    std::int64_t lag_every_ms = 10'000;
    std::int64_t timeout_ms = 10'000;  // of a call to Kafka
    // Server time, and a clock that never goes back. Called on the reader's thread.
    std::function<std::int64_t()> now_ms = wall_now_ms;
    std::function<std::int64_t()> monotonic_ns = monotonic_now_ns;
};

// Since the start.
struct KafkaReaderCounters {
    std::uint64_t records = 0;   // taken, in any of the following ways
    std::uint64_t messages = 0;  // put, including those of a known key
    std::uint64_t cancels = 0;   // of these some found no message, or came too late:
    std::uint64_t cancels_without_effect = 0;
    std::uint64_t schedules = 0;  // set or removed
    std::uint64_t errors = 0;     // written to the errors topic
    std::uint64_t refusals = 0;   // of commands, which are repeated
    std::uint64_t trimmed = 0;    // times a partition had lost records
};

struct KafkaPartitionStatus {
    enum class State : std::uint8_t {
        reading,
        waiting,  // a command was refused, or a topic cannot be read or the errors topic written; that is repeated
        stopped,  // records were lost, or another reader uses the input
    };
    std::string topic;
    std::int32_t partition = 0;  // -1: the partitions of the topic could not be looked up yet
    State state = State::reading;
    ErrorCode reason = ErrorCode::none;        // none: it is reading
    std::int64_t position = kNoInputPosition;  // in the engine
    std::size_t waiting_records = 0;           // read, and not taken yet
    // Offsets from the position to the end of the topic, which include markers of transactions; none: unknown.
    std::optional<std::int64_t> lag;
};

class KafkaReader {
  public:
    // The position of each input, by its name, as the engine knows it (Engine::inputs()).
    using Positions = std::map<std::string, std::int64_t>;
    // Passes a command to the engine from the reader's thread, and its reply to `done` from any thread, possibly when
    // the reader is gone.
    using Submit = std::function<void(Command command, std::function<void(Reply)> done)>;

    // `cluster` and `log` must outlive it.
    KafkaReader(KafkaCluster& cluster, KafkaReaderOptions options, const Positions& positions, Submit submit,
                LogSink& log);
    // Not while run() is running. Commands that the engine has are executed.
    ~KafkaReader() = default;
    KafkaReader(const KafkaReader&) = delete;
    KafkaReader& operator=(const KafkaReader&) = delete;

    // Repeats step() until stop().
    void run();
    // From any thread: run() returns after its current call to Kafka.
    void stop();

    // Reads, submits, and handles the replies that are there. Waits up to `wait_ms` if it has nothing to do.
    void step(std::int64_t wait_ms);

    // From any thread.
    KafkaReaderCounters counters() const;
    std::vector<KafkaPartitionStatus> partitions() const;

  private:
    struct Partition {
        explicit Partition(KafkaPartition of) : records(std::move(of)) {}

        KafkaPartition records;
        bool is_assigned = false;
        bool is_trimmed = false;            // its next record was lost
        bool passes_trimmed = false;        // the position is being set to the first record that is left
        bool is_stopped = false;            // nothing of it is taken any more
        std::int64_t read_from = 0;         // the next offset to read from Kafka
        std::size_t replies_awaited = 0;    // while these are open, nothing else of it is submitted
        std::optional<Error> last_refusal;  // among the replies so far
        std::optional<Error> refusal;       // it waits because of this one, or has not succeeded since
        std::int64_t retry_at_ns = 0;
        std::int64_t backoff_ms = 0;
        std::int64_t assign_at_ns = 0;                  // not before: an error ended its reading
        ErrorCode read_error = ErrorCode::none;         // of that error; none: it is read
        std::optional<KafkaConsumer::Offsets> offsets;  // when they were looked up last
        std::int64_t lag_at_ns = 0;
        KafkaPartitionStatus status;
    };
    struct Topic {
        std::int32_t partitions = 0;
        std::int64_t look_at_ns = 0;
        ErrorCode said_code = ErrorCode::none;  // of the error that was logged
    };
    // Replies that have come and were not handled.
    struct Replies {
        struct One {
            Partition* partition = nullptr;
            std::optional<std::size_t> item;  // none: of the puts
            Reply reply;
        };
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<One> arrived;  // guarded by mutex
        bool is_stopping = false;  // guarded by mutex
    };

    bool is_stopping() const;
    void look_at_topics();
    void topic_failed(const std::string& name, Topic& topic, const Error& error);
    void add_partition(const std::string& topic, std::int32_t number);
    void open_consumer();
    void assign(Partition& partition);
    void unassign(Partition& partition);
    bool may_poll() const;
    std::size_t refused_records_max() const;
    std::size_t refused_bytes_max() const;
    bool has_enough_for_now(const Partition& partition) const;
    void poll(std::int64_t wait_ms);
    void consumer_failed(const Error& error);
    void trimmed(Partition& partition, const Error& error);
    void pass_trimmed(Partition& partition);
    void handle_replies();
    void handle(Partition& partition, std::size_t item, const Reply& reply);
    void handle(Partition& partition, const Reply& reply);
    void advance(Partition& partition);
    void submit(Partition& partition, std::optional<std::size_t> item, Command command);
    bool write_errors(Partition& partition, const std::vector<KafkaWork::Rejected>& rejected);
    void refused(Partition& partition, const Error& error);
    void went_on(Partition& partition);
    void stop_taking(Partition& partition, const Error& error);
    void look_at_lag();
    std::int64_t until_next_work_ms(std::int64_t wait_ms) const;
    void wait(std::int64_t wait_ms);
    void count(std::uint64_t KafkaReaderCounters::*what, std::uint64_t by = 1);
    void publish(Partition& partition);

    KafkaCluster& cluster_;
    const KafkaReaderOptions options_;
    const Positions positions_;
    const Submit submit_;
    LogSink& log_;
    KafkaErrorsTopic errors_topic_;
    std::unique_ptr<KafkaConsumer> consumer_;
    std::map<std::string, Topic> topics_;
    std::map<std::string, std::unique_ptr<Partition>> partitions_;  // by the names of their inputs
    std::int64_t poll_at_ns_ = 0;                                   // not before: Kafka could not be reached
    ErrorCode said_code_ = ErrorCode::none;                         // of the error of the consumer that was logged
    std::int64_t say_rejected_at_ns_ = 0;                           // not before
    // Shared, because replies may come when the reader is gone.
    const std::shared_ptr<Replies> replies_ = std::make_shared<Replies>();

    mutable std::mutex published_mutex_;
    KafkaReaderCounters counters_;                           // guarded by published_mutex_
    std::map<std::string, KafkaPartitionStatus> published_;  // likewise
};

}  // namespace duewheel
