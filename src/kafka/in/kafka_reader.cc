#include "kafka/in/kafka_reader.h"

#include <algorithm>
#include <chrono>

#include "base/error_codes.h"
#include "http_api/problem.h"

namespace duewheel {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::size_t kPollMax = 1'000;
// Limit for all partitions that do not wait for a retry: as long as less waits, more is read.
constexpr std::size_t kWaitingRecordsMax = 8 * KafkaPartition::kRecordsMax;
constexpr std::size_t kWaitingBytesMax = 8 * KafkaPartition::kBytesMax;
// Limit for a partition that waits for a retry, and is not read beyond it. All together have the limit above.
constexpr std::size_t kRefusedRecordsMax = 2 * KafkaPartition::kRecordsMax;
constexpr std::size_t kRefusedBytesMax = 2 * KafkaPartition::kBytesMax;
constexpr std::int64_t kBackoffMinMs = 100;
constexpr std::int64_t kBackoffMaxMs = 10'000;
constexpr std::int64_t kUnavailableMs = 1'000;
constexpr std::int64_t kRetryAfterErrorMs = 5'000;  // of a topic, or of a partition
constexpr std::int64_t kLagTimeoutMs = 1'000;
constexpr std::int64_t kRejectedLogMs = 10'000;
constexpr std::int64_t kWaitForReplyMs = 5;
constexpr std::int64_t kStepMs = 500;

// Whether time can mend it. A message that is being delivered will soon have ended, or can be replaced.
bool is_worth_a_retry(const Error& error) {
    const ErrorCodeRow* row = row_of(error.code);
    if (error.code == "in_flight"_code) return true;
    return row != nullptr && has_retry_after(row->status);
}

}  // namespace

KafkaReader::KafkaReader(KafkaCluster& cluster, KafkaReaderOptions options, const Positions& positions, Submit submit,
                         LogSink& log)
    : cluster_(cluster),
      options_(std::move(options)),
      positions_(positions),
      submit_(std::move(submit)),
      log_(log),
      errors_topic_(cluster, options_.errors_topic, options_.timeout_ms) {
    for (const KafkaInput& input : options_.commands.inputs) topics_[input.topic];
}

void KafkaReader::run() {
    while (!is_stopping()) step(kStepMs);
}

void KafkaReader::stop() {
    {
        const std::lock_guard lock(replies_->mutex);
        replies_->is_stopping = true;
    }
    replies_->changed.notify_all();
}

bool KafkaReader::is_stopping() const {
    const std::lock_guard lock(replies_->mutex);
    return replies_->is_stopping;
}

void KafkaReader::step(std::int64_t wait_ms) {
    handle_replies();
    look_at_topics();
    open_consumer();
    for (const auto& [input, partition] : partitions_) {
        assign(*partition);
        advance(*partition);
    }
    if (may_poll()) {
        poll(wait_ms);
    } else {
        wait(wait_ms);
    }
    handle_replies();
    for (const auto& [input, partition] : partitions_) advance(*partition);
    look_at_lag();
}

// ---- topics and partitions

void KafkaReader::look_at_topics() {
    for (auto& [name, topic] : topics_) {
        if (is_stopping()) return;
        const std::int64_t now_ns = options_.monotonic_ns();
        if (now_ns < topic.look_at_ns) continue;
        const Result<KafkaTopic> found = cluster_.look_at(name, options_.timeout_ms);
        if (!found) {
            topic.look_at_ns = options_.monotonic_ns() + kRetryAfterErrorMs * kMsNs;
            topic_failed(name, topic, found.error());
            if (found.error().code == "unknown_topic"_code || found.error().code == "kafka_refused"_code) continue;
            return;  // no broker answers: the lookup of each further topic might take as long
        }
        if (topic.partitions == 0) {
            const std::lock_guard lock(published_mutex_);
            published_.erase(name);
        }
        topic.look_at_ns = now_ns + options_.look_again_ms * kMsNs;
        if (std::exchange(topic.said_code, ErrorCode::none) != ErrorCode::none) {
            log_.info("kafka_input_available", "The partitions of the input topic could be looked up.",
                      {{"topic", name}});
        }
        for (; topic.partitions < found->partitions; ++topic.partitions) {
            const auto number = static_cast<std::uint32_t>(topic.partitions);
            if (number % options_.shards == options_.shard) add_partition(name, topic.partitions);
        }
    }
}

void KafkaReader::topic_failed(const std::string& name, Topic& topic, const Error& error) {
    if (topic.said_code == error.code) return;
    topic.said_code = error.code;
    log_.warning("kafka_input_unavailable",
                 "The partitions of the input topic cannot be looked up. This is repeated. If the topic does "
                 "not exist, create it with `duewheel kafka create-topics`.",
                 {{"topic", name}, {"code", name_of(error.code)}, {"error", error.message}});
    if (topic.partitions > 0) return;
    KafkaPartitionStatus status;
    status.topic = name;
    status.partition = -1;
    status.state = KafkaPartitionStatus::State::waiting;
    status.reason = error.code;
    const std::lock_guard lock(published_mutex_);
    published_[name] = std::move(status);
}

void KafkaReader::add_partition(const std::string& topic, std::int32_t number) {
    const auto known = positions_.find(kafka_input_name(topic, number));
    const std::int64_t position = known == positions_.end() ? kNoInputPosition : known->second;
    auto partition = std::make_unique<Partition>(KafkaPartition(topic, number, position));
    partition->read_from = position;
    partition->status.topic = topic;
    partition->status.partition = number;
    publish(*partition);
    partitions_[partition->records.input()] = std::move(partition);
}

void KafkaReader::open_consumer() {
    if (consumer_ || options_.monotonic_ns() < poll_at_ns_) return;
    Result<std::unique_ptr<KafkaConsumer>> opened = cluster_.open_consumer();
    if (!opened) return consumer_failed(opened.error());
    consumer_ = *std::move(opened);
}

// Reads the partition, unless it must not be read, or not yet.
void KafkaReader::assign(Partition& partition) {
    if (!consumer_ || partition.is_assigned || partition.is_stopped || partition.is_trimmed) return;
    if (has_enough_for_now(partition) || options_.monotonic_ns() < partition.assign_at_ns) return;
    const KafkaPartition& records = partition.records;
    const std::int64_t from = partition.read_from == kNoInputPosition ? KafkaConsumer::kBeginning : partition.read_from;
    Status assigned = consumer_->assign(records.topic(), records.partition(), from);
    if (!assigned) return consumer_failed(assigned.error());
    partition.is_assigned = true;
}

void KafkaReader::unassign(Partition& partition) {
    if (!std::exchange(partition.is_assigned, false)) return;
    const KafkaPartition& records = partition.records;
    static_cast<void>(consumer_->unassign(records.topic(), records.partition()));  // it was assigned
}

// ---- reading

bool KafkaReader::may_poll() const {
    if (!consumer_ || options_.monotonic_ns() < poll_at_ns_) return false;
    std::size_t records = 0;
    std::size_t bytes = 0;
    for (const auto& [input, partition] : partitions_) {
        if (partition->refusal) continue;
        records += partition->records.records();
        bytes += partition->records.bytes();
    }
    return records < kWaitingRecordsMax && bytes < kWaitingBytesMax;
}

void KafkaReader::poll(std::int64_t wait_ms) {
    Result<std::vector<KafkaRecord>> polled = consumer_->poll(kPollMax, until_next_work_ms(wait_ms));
    if (!polled) return consumer_failed(polled.error());
    if (!polled->empty() && std::exchange(said_code_, ErrorCode::none) != ErrorCode::none) {
        log_.info("kafka_read_recovered", "Records can be read from Kafka again.");
    }
    Partition* last = nullptr;  // most records have the partition of the one before
    for (KafkaRecord& record : *polled) {
        if (last == nullptr || last->records.partition() != record.partition || last->records.topic() != record.topic) {
            const auto found = partitions_.find(kafka_input_name(record.topic, record.partition));
            last = found == partitions_.end() ? nullptr : found->second.get();
        }
        if (last == nullptr || !last->is_assigned || record.offset < last->read_from) continue;
        last->read_from = record.offset + 1;
        last->read_error = ErrorCode::none;
        last->records.add(std::move(record));
        if (has_enough_for_now(*last)) unassign(*last);
    }
}

std::size_t KafkaReader::refused_records_max() const {
    return std::min(kRefusedRecordsMax, kWaitingRecordsMax / partitions_.size());
}

std::size_t KafkaReader::refused_bytes_max() const {
    return std::min(kRefusedBytesMax, kWaitingBytesMax / partitions_.size());
}

// It waits for a retry, and what it would read would only take memory.
bool KafkaReader::has_enough_for_now(const Partition& partition) const {
    const KafkaPartition& records = partition.records;
    return partition.refusal && (records.records() >= refused_records_max() || records.bytes() >= refused_bytes_max());
}

// An error of a partition ends the reading of that one until it is assigned again. Any other is an outage, which the
// consumer survives.
void KafkaReader::consumer_failed(const Error& error) {
    const std::int64_t now_ns = options_.monotonic_ns();
    if (const auto found = partitions_.find(error.field); found != partitions_.end()) {
        Partition& partition = *found->second;
        unassign(partition);
        if (error.code == "position_trimmed"_code) return trimmed(partition, error);
        partition.assign_at_ns = now_ns + kRetryAfterErrorMs * kMsNs;
        partition.read_error = error.code;
        publish(partition);
    } else {
        poll_at_ns_ = now_ns + kUnavailableMs * kMsNs;
    }
    if (said_code_ == error.code) return;
    said_code_ = error.code;
    log_.warning("kafka_read_failing", "Records cannot be read from Kafka. This is repeated until it succeeds.",
                 {{"input", error.field}, {"code", name_of(error.code)}, {"error", error.message}});
}

void KafkaReader::trimmed(Partition& partition, const Error& error) {
    partition.is_trimmed = true;
    count(&KafkaReaderCounters::trimmed);
    const KafkaPartition& records = partition.records;
    const char* const text =
        options_.skips_trimmed
            ? "Records were lost: the topic no longer has the record at the position of the partition. It is read on "
              "from the first record that is left, as the settings say."
            : "Records were lost: the topic no longer has the record at the position of the partition, which is not "
              "read any more. To read on from the first record that is left, set kafka.in.skip_trimmed and restart "
              "the server.";
    log_.error("kafka_position_trimmed", text,
               {{"topic", records.topic()},
                {"partition", records.partition()},
                {"position", partition.read_from},
                {"error", error.message}});
    if (options_.skips_trimmed) return;
    partition.status.state = KafkaPartitionStatus::State::stopped;
    partition.status.reason = error.code;
    publish(partition);
}

// All that was read before is taken: sets the position to the first record that is left.
void KafkaReader::pass_trimmed(Partition& partition) {
    if (!consumer_) return;
    const KafkaPartition& records = partition.records;
    const auto offsets = consumer_->offsets(records.topic(), records.partition(), options_.timeout_ms);
    if (!offsets) return refused(partition, offsets.error());
    TakeRecordsCommand passes;
    passes.input = records.input();
    passes.position = records.position();
    passes.next = offsets->low;
    partition.passes_trimmed = true;
    submit(partition, std::nullopt, std::move(passes));
}

void KafkaReader::look_at_lag() {
    if (!consumer_ || options_.monotonic_ns() < poll_at_ns_) return;
    const std::int64_t now_ns = options_.monotonic_ns();
    for (const auto& [input, partition] : partitions_) {
        if (now_ns < partition->lag_at_ns) continue;
        partition->lag_at_ns = now_ns + options_.lag_every_ms * kMsNs;
        const KafkaPartition& records = partition->records;
        const auto offsets = consumer_->offsets(records.topic(), records.partition(), kLagTimeoutMs);
        partition->offsets.reset();
        if (offsets) partition->offsets = *offsets;
        // An error would have come again by now.
        const bool is_read = partition->is_assigned && now_ns >= partition->assign_at_ns + kRetryAfterErrorMs * kMsNs;
        if (offsets && is_read) partition->read_error = ErrorCode::none;
        return publish(*partition);  // one in a step
    }
}

// ---- taking

void KafkaReader::advance(Partition& partition) {
    const auto may_go_on = [&] {
        return !partition.is_stopped && partition.replies_awaited == 0 &&
               options_.monotonic_ns() >= partition.retry_at_ns;
    };
    while (may_go_on()) {
        KafkaWork work = partition.records.work(options_.commands, options_.now_ms());
        if (!work.rejected.empty()) {
            if (!write_errors(partition, work.rejected)) return;
            continue;
        }
        for (KafkaWork::Other& other : work.others) submit(partition, other.item, std::move(other.command));
        if (work.take) submit(partition, std::nullopt, *std::move(work.take));
        if (partition.records.records() > 0) return;
        if (partition.is_trimmed && options_.skips_trimmed) return pass_trimmed(partition);
        return;
    }
}

void KafkaReader::submit(Partition& partition, std::optional<std::size_t> item, Command command) {
    ++partition.replies_awaited;
    submit_(std::move(command), [replies = replies_, &partition, item](Reply reply) {
        {
            const std::lock_guard lock(replies->mutex);
            replies->arrived.push_back({&partition, item, std::move(reply)});
        }
        replies->changed.notify_all();
    });
}

void KafkaReader::handle_replies() {
    std::vector<Replies::One> arrived;
    {
        const std::lock_guard lock(replies_->mutex);
        arrived.swap(replies_->arrived);
    }
    for (const Replies::One& one : arrived) {
        Partition& partition = *one.partition;
        --partition.replies_awaited;
        if (partition.is_stopped) continue;
        if (one.item) {
            handle(partition, *one.item, one.reply);
        } else {
            handle(partition, one.reply);
        }
        if (partition.replies_awaited == 0 && partition.last_refusal) {
            refused(partition, *std::exchange(partition.last_refusal, std::nullopt));
        }
    }
}

// The reply to the command of a record that is no put.
void KafkaReader::handle(Partition& partition, std::size_t item, const Reply& reply) {
    const auto settle = [&](std::uint64_t KafkaReaderCounters::*what, bool has_effect) {
        count(what);
        if (!has_effect) count(&KafkaReaderCounters::cancels_without_effect);
        partition.records.finish(item);
    };
    if (const auto* changed = std::get_if<ChangeAnswer>(&reply)) {
        return settle(&KafkaReaderCounters::cancels, changed->outcome == ChangeOutcome::cancelled);
    }
    if (std::holds_alternative<ScheduleAnswer>(reply)) return settle(&KafkaReaderCounters::schedules, true);
    const Error& error = std::get<Error>(reply);
    if (error.code == "unknown_key"_code) return settle(&KafkaReaderCounters::cancels, false);
    if (is_worth_a_retry(error)) {
        partition.last_refusal = error;
    } else {
        partition.records.reject(item, error);
    }
}

// The reply to the puts, and to a change of the position alone.
void KafkaReader::handle(Partition& partition, const Reply& reply) {
    if (const auto* error = std::get_if<Error>(&reply)) {
        if (error->code == "position_moved"_code) return stop_taking(partition, *error);
        partition.passes_trimmed = false;
        partition.last_refusal = *error;
        return;
    }
    const auto& answer = std::get<TakeRecordsAnswer>(reply);
    const KafkaPartition::Taken taken = partition.records.taken(answer);
    count(&KafkaReaderCounters::messages, answer.taken);
    count(&KafkaReaderCounters::records, taken.records);
    if (std::exchange(partition.passes_trimmed, false)) {
        partition.is_trimmed = false;
        partition.read_from = answer.position;
    }
    if (taken.records > 0 || !answer.refused) partition.backoff_ms = 0;
    if (!answer.refused) return went_on(partition);
    if (is_worth_a_retry(*answer.refused)) {
        partition.last_refusal = answer.refused;
    } else {
        partition.records.reject(*taken.refused_item, *answer.refused);
    }
    publish(partition);
}

bool KafkaReader::write_errors(Partition& partition, const std::vector<KafkaWork::Rejected>& rejected) {
    std::vector<KafkaErrorsTopic::Rejected> records;
    records.reserve(rejected.size());
    for (const KafkaWork::Rejected& each : rejected) {
        records.push_back({&partition.records.record(each.item), &each.error});
    }
    if (Status written = errors_topic_.write(records); !written) {
        Error error = std::move(written).error();
        error.message = "errors topic `" + options_.errors_topic + "`: " + error.message;
        refused(partition, error);
        return false;
    }
    for (const KafkaWork::Rejected& each : rejected) partition.records.finish(each.item);
    count(&KafkaReaderCounters::errors, rejected.size());
    if (const std::int64_t now_ns = options_.monotonic_ns(); now_ns >= say_rejected_at_ns_) {
        say_rejected_at_ns_ = now_ns + kRejectedLogMs * kMsNs;
        log_.warning("kafka_record_rejected",
                     "A record of an input topic can never be taken and is in the errors topic. Further ones are only "
                     "counted for 10 seconds.",
                     {{"input", partition.records.input()},
                      {"offset", records.front().record->offset},
                      {"errors_topic", options_.errors_topic},
                      {"code", name_of(rejected.front().error.code)},
                      {"error", rejected.front().error.message}});
    }
    return true;
}

// ---- refusals

void KafkaReader::refused(Partition& partition, const Error& error) {
    count(&KafkaReaderCounters::refusals);
    partition.backoff_ms = std::clamp(2 * partition.backoff_ms, kBackoffMinMs, kBackoffMaxMs);
    partition.retry_at_ns = options_.monotonic_ns() + partition.backoff_ms * kMsNs;
    if (!partition.refusal || partition.refusal->code != error.code) {
        log_.warning("kafka_input_waits",
                     "The records of a partition cannot be taken now. This is repeated until it succeeds.",
                     {{"input", partition.records.input()}, {"code", name_of(error.code)}, {"error", error.message}});
    }
    partition.refusal = error;
    if (has_enough_for_now(partition)) {
        unassign(partition);
        if (!partition.is_trimmed) {  // otherwise it could not read them again
            const auto dropped = partition.records.drop_surplus(refused_records_max(), refused_bytes_max());
            partition.read_from = dropped.value_or(partition.read_from);
        }
    }
    publish(partition);
}

void KafkaReader::went_on(Partition& partition) {
    partition.backoff_ms = 0;
    partition.retry_at_ns = 0;
    if (partition.refusal) {
        log_.info("kafka_input_goes_on", "The records of a partition are taken again.",
                  {{"input", partition.records.input()}});
        partition.refusal.reset();
    }
    publish(partition);
}

void KafkaReader::stop_taking(Partition& partition, const Error& error) {
    log_.error("kafka_input_stopped", "A partition is not read any more.",
               {{"input", partition.records.input()}, {"code", name_of(error.code)}, {"error", error.message}});
    partition.is_stopped = true;
    unassign(partition);
    partition.records.clear(partition.records.position());
    partition.status.state = KafkaPartitionStatus::State::stopped;
    partition.status.reason = error.code;
    publish(partition);
}

// ---- waiting

// While replies are open, or a refused command is to be repeated, the wait for records is shorter.
std::int64_t KafkaReader::until_next_work_ms(std::int64_t wait_ms) const {
    const std::int64_t now_ns = options_.monotonic_ns();
    for (const auto& [input, partition] : partitions_) {
        if (partition->replies_awaited > 0) wait_ms = std::min(wait_ms, kWaitForReplyMs);
        if (partition->refusal && !partition->is_stopped) {
            wait_ms = std::min(wait_ms, std::max<std::int64_t>(partition->retry_at_ns - now_ns, 0) / kMsNs + 1);
        }
    }
    return wait_ms;
}

void KafkaReader::wait(std::int64_t wait_ms) {
    std::unique_lock lock(replies_->mutex);
    replies_->changed.wait_for(lock, std::chrono::milliseconds(wait_ms),
                               [this] { return !replies_->arrived.empty() || replies_->is_stopping; });
}

// ---- what others see

void KafkaReader::count(std::uint64_t KafkaReaderCounters::*what, std::uint64_t by) {
    const std::lock_guard lock(published_mutex_);
    counters_.*what += by;
}

void KafkaReader::publish(Partition& partition) {
    KafkaPartitionStatus& status = partition.status;
    status.position = partition.records.position();
    status.waiting_records = partition.records.records();
    status.lag.reset();
    if (const auto& offsets = partition.offsets) {
        status.lag = std::max<std::int64_t>(offsets->high - std::max(status.position, offsets->low), 0);
    }
    if (status.state != KafkaPartitionStatus::State::stopped) {
        status.reason = partition.refusal ? partition.refusal->code : partition.read_error;
        const bool waits = status.reason != ErrorCode::none;
        status.state = waits ? KafkaPartitionStatus::State::waiting : KafkaPartitionStatus::State::reading;
    }
    const std::lock_guard lock(published_mutex_);
    published_[partition.records.input()] = status;
}

KafkaReaderCounters KafkaReader::counters() const {
    const std::lock_guard lock(published_mutex_);
    return counters_;
}

std::vector<KafkaPartitionStatus> KafkaReader::partitions() const {
    const std::lock_guard lock(published_mutex_);
    std::vector<KafkaPartitionStatus> all;
    all.reserve(published_.size());
    for (const auto& [input, status] : published_) all.push_back(status);
    return all;
}

}  // namespace duewheel
