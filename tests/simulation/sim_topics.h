// The Kafka pusher in the simulator, with its senders and a simulated cluster (support/simulated_kafka.h). Calls to the
// cluster are slow or time out, take place or not, and are answered or not; a late EndTxn ends a later transaction;
// brokers are away; a topic refuses records, has no leader, or must not be written. The process also dies inside these
// calls.
//
//     engine ──lease──► pusher ──batch──► sender, some steps later ──result, some steps later──► pusher ──ack──► engine
//
// In the server a sender has a thread of its own. Here sending a batch is one step, and passing its result to the
// pusher is another one; the engine, the disk, the clients and the clock go on between them. The clock of the senders
// is that of the cluster, which calls move.
//
// To the oracle the pusher is one of the clients. Beside that, this class judges what consumers of committed records
// see: each message that was only sent exactly once is there at most once, each acknowledged one is there, and none was
// sent before it was due.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "kafka/out/kafka_plain_sender.h"
#include "kafka/out/kafka_pusher.h"
#include "kafka/out/kafka_sender.h"
#include "shared/random.h"
#include "simulation/event_hash.h"
#include "simulation/oracle.h"
#include "simulation/rare_states.h"
#include "simulation/sim_delivery_port.h"
#include "simulation/sim_options.h"
#include "support/simulated_kafka.h"

namespace duewheel {

class SimTopics {
  public:
    static constexpr ReplyTokens kTokens{32};
    static constexpr std::uint32_t kTopics = 3;
    static std::string topic_of(std::uint32_t number);

    // All outlive it.
    SimTopics(const SimOptions& options, Oracle& oracle, LogSink& log, RareStates& rare, EventHash& hash,
              Random random);

    // A process begins; it ends with all that is in progress. The cluster stays.
    void start(Engine& engine);
    void process_died();

    // Before each turn of the engine, whose time is set.
    void run_due() { pusher_->run_due(engine_->now()); }
    // A reply to one of the pusher's tokens.
    void hear(const ReplyEffect& effect);
    static bool is_own(ReplyToken token) { return kTokens.owns(token); }

    // A sender sends its batch, or returns the result of one; false if neither has a batch.
    bool run_one();
    // Whether the process has died in a call since the last call of this function.
    bool take_death() { return std::exchange(has_died_, false); }
    DueMs next_wakeup() const { return pusher_->next_wakeup(engine_->now()); }
    // From now on the cluster works.
    void calm();
    // The number of messages whose lease has been ended by the pusher since the last call.
    std::uint64_t take_taken() { return std::exchange(taken_, 0); }

  private:
    struct Lane {
        std::optional<KafkaBatch> batch;
        bool is_sent = false;
        KafkaPusher::Done done;
    };

    void submit(Command command, ReplyToken token);
    void take_batch(Lane& lane, KafkaBatch batch, KafkaPusher::Done done);
    void send(bool is_exactly_once, KafkaBatch& batch);
    void count(const KafkaBatch& batch);
    void disturb();
    KafkaFault fault(const KafkaCall& call);
    void look_at_topics();

    const SimOptions& options_;
    Oracle& oracle_;
    LogSink& log_;
    RareStates& rare_;
    EventHash& hash_;
    Random random_;
    SimulatedKafka kafka_;
    std::uint64_t randoms_ = 0;
    bool is_calm_ = false;
    bool has_died_ = false;
    std::uint64_t taken_ = 0;
    std::set<MessageId> sent_plainly_;         // at least once, perhaps
    std::map<MessageId, std::uint64_t> seen_;  // by consumers: how often

    // State of the current process.
    Engine* engine_ = nullptr;
    std::optional<SimDeliveryPort> port_;
    std::optional<KafkaSender> sender_;
    std::optional<KafkaPlainSender> plain_sender_;
    std::optional<KafkaPusher> pusher_;
    std::array<Lane, 2> lanes_;  // exactly once, at least once
    KafkaSenderCounters counters_;
    struct Asked {
        ReplyToken token = 0;  // the oracle's
        Command command;
    };
    std::map<ReplyToken, Asked> asked_;
    std::map<std::pair<std::string, std::string>, ReplyToken> waiting_;  // lease calls, by queue
};

}  // namespace duewheel
