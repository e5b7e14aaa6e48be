// Sends due messages of queues with a Kafka target: a consumer of the engine that runs in the server.
//
//     engine ──lease──► pusher ──batch──► sender ──results──► pusher ──ack, fail, release──► engine
//
// It has two lanes, one for each kind of delivery, each with its sender on a thread of its own. A lane has one batch
// under way and gathers the next one meanwhile; a batch goes as soon as the sender is free, full or not. Namespaces and
// queues take turns in a batch.
//
// What was sent is acknowledged, and what a topic refuses is failed by the message's retry rule. What was not sent is
// released, so that an outage uses up no attempts, and tried again with backoff. What may have been sent stays leased,
// and is passed to the sender again until it knows: with exactly-once delivery the ledger tells. If the process dies
// before an ack, the message is leased again in the next run, found in the ledger, and acknowledged.
//
// Two servers with the same transactional ids take them over from each other without end. A lane that was fenced
// pauses, longer each time, so that each server gets on, and the log says what to do.
//
// A queue whose last batch failed goes alone until it works again, so that a bad topic does not hold up other queues.
// Leases last longer than a transaction, and are extended while a message is under way.
//
// For a queue without due messages it has one lease call for a single message; when that comes, it asks for more. So it
// holds at most `bytes_max` and one message of each queue.
//
// Takes the time as an argument, and has no thread and no clock; for the loop's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/log.h"
#include "delivery/lease_calls.h"
#include "delivery/pusher_lease_ends.h"
#include "delivery/target_breaker.h"
#include "delivery/target_table.h"
#include "engine/core/fair_lines.h"
#include "kafka/out/kafka_batch.h"
#include "kafka/out/kafka_settled_messages.h"
#include "message/records/record_parts.h"
#include "port/delivery_port.h"

namespace duewheel {

struct KafkaOutCounters {
    std::uint64_t sent = 0;
    std::uint64_t already_sent = 0;  // leased again, and found in the ledger
    std::uint64_t refused = 0;       // by the topic
    std::uint64_t failed = 0;        // the topic could not be written
    std::uint64_t given_back = 0;    // leased and not sent
    std::uint64_t ended_late = 0;    // the lease had ended before the result could be recorded
    std::uint64_t breakers_opened = 0;

    std::uint64_t leased = 0;  // gauges, like the following ones
    std::uint64_t bytes_leased = 0;
    std::uint64_t targets = 0;
    std::uint64_t targets_open = 0;

    KafkaSenderCounters exactly_once;
    KafkaSenderCounters at_least_once;
};

class KafkaPusher {
  public:
    static constexpr DueMs kNoWakeup = DeliveryPort::kNoWakeup;

    using Done = std::function<void(KafkaBatch)>;
    // Runs KafkaSender::send() or KafkaPlainSender::send() on the lane's thread; then calls `done` with the same batch
    // on the loop's thread, after which the owner calls run_due(). There is one call at a time for each lane.
    using Send = std::function<void(KafkaBatch, Done)>;
    struct Surroundings {
        Send send_exactly_once;
        Send send_at_least_once;
        std::function<RecordParts(std::string_view kept)> read_parts;  // from stored headers
        std::function<void(const QueueName&)> target_removed{};        // the queue has no Kafka target any more
    };

    // All must outlive it; `done` must not be called after its end.
    KafkaPusher(DeliveryPort& port, const KafkaOutOptions& options, Surroundings surroundings, LogSink& log);
    ~KafkaPusher();

    // Before each iteration of the engine, which then executes its commands.
    void run_due(DueMs now);
    // When run_due() has something to do again, after the engine's replies were passed on. `now` for at once.
    DueMs next_wakeup(DueMs now) const;

    // From now on nothing is leased, and leased messages that are not under way are released.
    void stop();
    // Nothing is under way, or waits to be recorded.
    bool is_idle() const;

    KafkaOutCounters counters() const;
    // The status of a queue with a Kafka target. O(log targets).
    TargetStatus target_status(const QueueName& queue, DueMs now) const;
    // From passing a batch to the sender until its result.
    const Histogram& batch_us() const { return batch_us_; }

  private:
    // A leased message.
    struct Item {
        TargetNumber target = 0;
        std::size_t lane = 0;
        LeaseToken lease;
        DueMs lease_until_ms = 0;
        std::size_t bytes = 0;
        std::uint64_t openings = 0;  // of the breaker of its target, when it was sent
        bool may_be_sent = false;    // then it is not released
        Delivered message;           // until it has a record
        KafkaRecord record{};
        bool has_record = false;
    };
    struct Share;
    struct Target : TargetEntry {
        Share* share = nullptr;
        std::optional<KafkaTarget> kafka;
        std::size_t lane = 0;
        bool paused = false;
        TargetBreaker breaker;
        DueMs backoff_until_ms = 0;  // of the engine, which refused a lease
        bool has_more = false;       // the last lease call had messages
        std::size_t waiting = 0;     // leased messages that are not under way
        std::size_t under_way = 0;   // messages in a batch
        std::size_t ends = 0;        // without a reply
        bool is_alone = false;       // its last batch failed
        bool is_lined = false;       // in `alone` of its lane
        std::deque<Item> apart;      // messages that wait while it is alone, and then with its next batch
        bool starved = false;        // waits for room
    };
    // The combined use of the targets of a namespace.
    struct Share {
        std::uint64_t number = 0;
        std::size_t targets = 0;
        std::size_t bytes = 0;
        std::array<std::size_t, 2> waiting{};  // messages, by lane
    };
    struct Lane {
        bool is_exactly_once = false;
        std::size_t batch_max = 0;  // messages
        Send send;
        FairLines<Item> together;        // messages of targets that are not alone
        std::deque<TargetNumber> alone;  // targets with messages apart, in the order of their turns
        bool was_alone = false;          // the last batch was of one such target
        std::size_t targets = 0;
        std::size_t waiting = 0;      // messages
        std::vector<Item> under_way;  // in the order of the batch
        bool is_sending = false;
        bool is_opened = false;  // a batch was passed on
        bool is_down = false;    // the brokers could not be used
        std::int64_t backoff_ms = 0;
        DueMs backoff_until_ms = 0;
        std::int64_t fenced_pause_ms = 0;  // after it was fenced by another server
        DueMs fenced_at_ms = 0;
        DueMs fenced_log_at_ms = 0;  // not before
        std::deque<TargetNumber> starved;
        KafkaSenderCounters counters;
    };

    // kafka_pusher.cc: targets and leases
    void receive(ReplyToken token, Reply reply);
    void take_changes();
    void take_change(TargetQueue changed);
    void take_target(TargetNumber number, std::optional<KafkaTarget> kafka);
    void touch_all(std::size_t lane);
    void withdraw_and_give_back(TargetNumber number);
    void forget_if_over(TargetNumber number);
    void maintain(TargetNumber number);
    void lease(TargetNumber number, std::uint32_t max);
    void feed_starved(Lane& lane);
    bool may_send(const Target& target) const { return !stopping_ && target.kafka && !target.paused; }
    DueMs backs_off_until(const Target& target) const;
    std::size_t room_of(const Target& target) const;
    std::int64_t lease_ms() const;
    void take_messages(TargetNumber number, LeaseAnswer answer);
    void extend_leases();
    void extend(Item& item);

    // kafka_pusher_batches.cc: batches and results
    bool may_begin(const Lane& lane) const;
    bool is_to_open(const Lane& lane) const;
    bool has_next(const Lane& lane) const;
    void wait(Item item);
    void set_alone(TargetNumber number);
    void begin_batch(Lane& lane);
    std::vector<Item> next_together(Lane& lane);
    std::vector<Item> next_alone(Lane& lane);
    bool may_go(const Item& item) const;
    void send(Lane& lane, std::vector<Item> items);
    void take_result(Lane& lane, KafkaBatch batch);
    void take_outcome(Item item, KafkaOutcome outcome, bool is_ready, bool was_alone);
    void note_readiness(Lane& lane, const KafkaBatch& batch);
    void slow_down_fenced(Lane& lane);
    void note_worked(TargetNumber number);
    void note_failed(const Item& item, const Error& error);
    void log_target(const Target& target, LogLevel level, const char* event, const char* sentence, const Error& error);
    void stop_waiting(const Item& item);
    void leave(const Item& item);
    void give_back(const Item& item);
    void give_back_together(TargetNumber number, Lane& lane);
    void give_back_apart(Target& target);
    void give_back_all(Lane& lane);
    void end(const Item& item, Command command);
    void take_end(const PusherLeaseEnds::Ended& ended);

    DeliveryPort& port_;
    const KafkaOutOptions& options_;
    const Surroundings surroundings_;
    LogSink& log_;
    DueMs now_ = 0;
    bool stopping_ = false;

    std::array<Lane, 2> lanes_;  // exactly once, at least once
    TargetTable<Target> targets_;
    std::map<std::string, Share> shares_;  // by namespace
    std::uint64_t next_share_ = 1;

    LeaseCalls calls_;
    PusherLeaseEnds ends_;
    KafkaSettledMessages settled_;
    std::vector<std::pair<std::size_t, KafkaBatch>> results_;  // with their lanes, since the last iteration
    DueMs extend_at_ms_ = 0;

    std::size_t apart_ = 0;  // messages
    std::size_t bytes_ = 0;
    std::uint64_t leased_ = 0;
    std::uint64_t open_ = 0;  // breakers
    KafkaOutCounters counters_;
    Histogram batch_us_;
};

}  // namespace duewheel
