#include "kafka/out/kafka_sender.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kLedgerRecordsPerPoll = 1'000;
constexpr std::int64_t kTrimUs = 60'000'000;

Error stopped() {
    return {"kafka_unavailable"_code, "the server is stopping"};
}

}  // namespace

KafkaSender::KafkaSender(KafkaCluster& cluster, const KafkaOutOptions& options, std::string owner,
                         Surroundings surroundings, LogSink& log)
    : cluster_(cluster),
      options_(options),
      surroundings_(std::move(surroundings)),
      log_(log),
      ledger_(std::move(owner)),
      topics_(cluster, options.transaction_timeout_ms),
      run_(std::to_string(surroundings_.random()) + ".") {}

KafkaSender::~KafkaSender() = default;

void KafkaSender::send(KafkaBatch& batch) {
    const std::int64_t began_us = surroundings_.now_us();
    for (const MessageId id : batch.settled) ledger_.end(id);
    // A message whose lease was lost and that was leased again can be there twice; the second one is found in the
    // ledger when it comes again.
    Indexes all;
    std::unordered_set<MessageId> ids;
    for (std::size_t i = 0; i < batch.messages.size(); ++i) {
        if (ids.insert(batch.messages[i].name.id).second) all.push_back(i);
    }
    if (const Status ready = be_ready(batch); ready) {
        send_parts(batch, all);
        batch.is_ready = be_ready(batch).ok();
        if (batch.is_ready && batch.was_fenced) send_again(batch, all);
    } else {
        fail(batch, all, ready.error());
    }
    if (batch.is_ready) trim_ledger();
    batch.counters = counters_;
    batch.counters.ledger_open = ledger_.open_messages();
    batch.took_us = surroundings_.now_us() - began_us;
}

// ---- opening

// Tries once for each batch: each try may take several timeouts.
Status KafkaSender::be_ready(KafkaBatch& batch) {
    if (batch.error.code != ErrorCode::none) return batch.error;
    if (producers_[0] && !stopping_) return {};
    Status opened = stopping_ ? Status(stopped()) : open(batch);
    if (!opened) {
        close();
        batch.error = opened.error();
    }
    return opened;
}

// After it every earlier transaction with these ids has ended, and the ledger says how.
Status KafkaSender::open(KafkaBatch& batch) {
    if (Status found = find_ledger(); !found) return found;
    if (stopping_) return stopped();
    for (std::size_t turn = 0; turn < producers_.size(); ++turn) {
        Result<std::unique_ptr<KafkaProducer>> opened = cluster_.open_producer(options_.transactional_id(turn));
        if (!opened) return std::move(opened).error();
        producers_[turn] = *std::move(opened);
        ++counters_.producers_opened;
        if (stopping_) return stopped();
        if (Status begun = producers_[turn]->init_transactions(timeout_ms()); !begun) return begun;
    }
    if (stopping_) return stopped();
    if (surroundings_.confirm_owner) {
        if (Status owns = surroundings_.confirm_owner(); !owns) return owns;
    }
    const std::string nonce = run_ + std::to_string(surroundings_.random());
    if (Status committed = commit_barrier(nonce); !committed) return committed;
    if (Status read = read_ledger(nonce, batch); !read) return read;
    is_read_on_ = true;
    if (std::exchange(has_rival_, false)) {
        ++counters_.fenced;
        batch.was_fenced = true;
    }
    unknown_.clear();
    return {};
}

// Before a producer uses it: some brokers create a topic that a producer asks for, with settings that lose records.
Status KafkaSender::find_ledger() {
    const std::string topic = options_.ledger_topic();
    const Result<KafkaTopic> found = cluster_.look_at(topic, timeout_ms());
    if (found || found.error().code == "kafka_refused"_code) return {};  // what is refused is said when it is written
    if (found.error().code != "unknown_topic"_code) return found.error();
    return Error{"unknown_topic"_code,
                 "the ledger topic " + topic + " does not exist: run duewheel kafka create-topics"};
}

void KafkaSender::close() {
    for (std::unique_ptr<KafkaProducer>& each : producers_) each.reset();
    reader_.reset();
    trim_.reset();
}

// With a record, because a client that was fenced may call an empty transaction committed without asking a broker.
Status KafkaSender::commit_barrier(const std::string& nonce) {
    const std::int64_t began_us = surroundings_.now_us();
    if (Status begun = producer().begin_transaction(); !begun) return begun;
    if (Status queued = producer().produce(record_of(ledger_.barrier(nonce))); !queued) return queued;
    if (Status committed = producer().commit_transaction(timeout_ms()); !committed) return committed;
    turn_ = 1 - turn_;
    if (!is_slow(began_us)) return {};
    return Error{"kafka_unavailable"_code, "a transaction took too long: the brokers are slow"};
}

Status KafkaSender::read_ledger(const std::string& nonce, KafkaBatch& batch) {
    const std::string topic = options_.ledger_topic();
    Result<std::unique_ptr<KafkaConsumer>> opened = cluster_.open_consumer();
    if (!opened) return std::move(opened).error();
    reader_ = *std::move(opened);
    const Result<KafkaConsumer::Offsets> offsets = reader_->offsets(topic, options_.shard, timeout_ms(), read_to_);
    if (!offsets) return offsets.error();
    if (offsets->high < read_to_) {
        log_.error("kafka_ledger_lost",
                   "The ledger topic lost records, or was created again. A message that was sent shortly before may be "
                   "sent again after a restart. Keep the topic, with three replicas.",
                   {{"topic", topic}, {"read_to", read_to_}, {"end", offsets->high}});
        read_to_ = 0;
        is_read_on_ = false;
    }
    read_to_ = std::max(read_to_, offsets->low);
    if (Status assigned = reader_->assign(topic, options_.shard, read_to_); !assigned) return assigned;
    for (std::int64_t until_us = surroundings_.now_us() + timeout_ms() * 1000; surroundings_.now_us() < until_us;) {
        Result<std::vector<KafkaRecord>> records = reader_->poll(kLedgerRecordsPerPoll, timeout_ms() / 10);
        if (stopping_) return stopped();
        if (!records && records.error().field.empty()) continue;  // of no partition: reading goes on by itself
        if (!records) return std::move(records).error();
        for (const KafkaRecord& record : *records) {
            Status status;
            const bool is_barrier = take_ledger_record(record, nonce, batch, status);
            if (!status) return status;
            if (!is_barrier) continue;
            std::erase_if(batch.found, [&](const auto& each) { return !ledger_.holds(each.id); });
            return {};
        }
        if (!records->empty()) until_us = surroundings_.now_us() + timeout_ms() * 1000;
    }
    read_to_ = 0;  // in case the topic was created again, and is longer already
    is_read_on_ = false;
    return Error{"kafka_unavailable"_code,
                 "the barrier cannot be read in " + topic + ": an open transaction before it may hold it up"};
}

// True: it is the barrier, behind which nothing is undecided.
bool KafkaSender::take_ledger_record(const KafkaRecord& record, const std::string& nonce, KafkaBatch& batch,
                                     Status& status) {
    read_to_ = record.offset + 1;
    const Result<KafkaLedgerRecord> entry = decode_kafka_ledger_record(record.value.value_or(""));
    if (!entry && entry.error().code == "newer_format"_code) {
        status = entry.error();
        return false;
    }
    if (!entry) {
        log_.warning(
            "kafka_ledger_record_invalid",
            "A record of the ledger topic cannot be read and is ignored. Only this server may write the topic.",
            {{"topic", options_.ledger_topic()}, {"offset", record.offset}});
        return false;
    }
    const bool is_mine = entry->owner == ledger_.owner();
    if (is_read_on_ && (!is_mine || (entry->number == 0 && !entry->nonce.starts_with(run_)))) has_rival_ = true;
    if (!is_mine && !std::exchange(was_shared_, true)) {
        log_.warning("kafka_ledger_shared",
                     "The ledger topic has records of another data directory, which are ignored. If another server "
                     "still uses this cluster name, give this one another name.",
                     {{"topic", options_.ledger_topic()}, {"cluster", options_.cluster}});
    }
    std::vector<KafkaMessageName> added = ledger_.add(*entry);
    std::move(added.begin(), added.end(), std::back_inserter(batch.found));
    return is_mine && entry->nonce == nonce;
}

// ---- sending

void KafkaSender::send_parts(KafkaBatch& batch, Indexes all) {
    std::vector<Indexes> parts{std::move(all)};
    while (!parts.empty()) {
        Indexes part;
        for (const std::size_t index : parts.back()) {
            KafkaBatch::Message& message = batch.messages[index];
            if (!ledger_.holds(message.name.id)) {
                part.push_back(index);
                continue;
            }
            ++counters_.ledger_skips;
            message.outcome = {KafkaOutcome::Kind::already_sent, {}};
        }
        parts.pop_back();
        if (part.empty()) continue;
        if (const Status ready = be_ready(batch); !ready) {
            fail(batch, part, ready.error());
            continue;
        }
        part = topics_.keep_existing(batch, part);
        if (part.empty()) continue;
        Rest rest = transact(batch, part);
        topics_.forget_failed(batch, part);
        if (rest.refused.size() == 1) {
            batch.messages[rest.refused[0]].outcome.kind = KafkaOutcome::Kind::refused;
        } else if (!rest.refused.empty()) {
            const auto middle = rest.refused.begin() + static_cast<std::ptrdiff_t>(rest.refused.size() / 2);
            parts.emplace_back(rest.refused.begin(), middle);
            parts.emplace_back(middle, rest.refused.end());
        }
        if (!rest.others.empty()) parts.push_back(std::move(rest.others));
    }
}

// Before the pause of a sender that was fenced: after it, the other server has the transactional ids again.
void KafkaSender::send_again(KafkaBatch& batch, const Indexes& all) {
    Indexes left;
    for (const std::size_t index : all) {
        const KafkaOutcome::Kind kind = batch.messages[index].outcome.kind;
        if (kind == KafkaOutcome::Kind::not_sent || kind == KafkaOutcome::Kind::unknown) left.push_back(index);
    }
    send_parts(batch, std::move(left));
    batch.is_ready = be_ready(batch).ok();
}

KafkaSender::Rest KafkaSender::transact(KafkaBatch& batch, const Indexes& part) {
    std::vector<KafkaMessageName> names;
    for (const std::size_t index : part) names.push_back(batch.messages[index].name);
    const KafkaLedgerRecord entry = ledger_.next_record(std::move(names));
    const auto give_up = [&](const Error& error) {
        close();
        fail(batch, part, error);
        return Rest{};
    };

    if (const Status begun = producer().begin_transaction(); !begun) return give_up(begun.error());
    // First, so that its partition is added to the transaction by the same request as those of the first records.
    if (const Status queued = producer().produce(record_of(entry)); !queued) return give_up(queued.error());
    Rest rest;
    bool is_clean = true;
    for (const std::size_t index : part) {
        KafkaBatch::Message& message = batch.messages[index];
        const Status queued = producer().produce(message.record);
        if (queued) {
            rest.others.push_back(index);
        } else if (queued.error().code == "record_refused"_code) {
            message.outcome = {KafkaOutcome::Kind::refused, queued.error()};
        } else if (is_of_kafka_topic(queued.error())) {
            message.outcome = {KafkaOutcome::Kind::failed, queued.error()};
        } else {
            return give_up(queued.error());
        }
        is_clean = is_clean && queued;
    }
    if (!is_clean) {
        abort();
        return rest;
    }
    const Result<std::vector<Status>> flushed = producer().flush(timeout_ms());
    if (!flushed) return give_up(flushed.error());
    if (const std::optional<Error> error = judge(batch, part, *flushed, rest)) return give_up(*error);
    if (rest.others.size() == part.size()) {
        commit(batch, part, entry);
        return {};
    }
    const bool has_timed_out = std::any_of(flushed->begin(), flushed->end(), [](const Status& each) {
        return !each && each.error().code == "kafka_unavailable"_code;
    });
    if (has_timed_out) {
        close();
    } else {
        abort();
    }
    return rest;
}

// From the results of the ledger record and of the records behind it. An error: of all of them.
std::optional<Error> KafkaSender::judge(KafkaBatch& batch, const Indexes& part, const std::vector<Status>& results,
                                        Rest& rest) const {
    rest = {};
    Indexes timed_out;
    bool is_at_fault = false;  // one of the records, certainly
    for (std::size_t i = 0; i < part.size(); ++i) {
        KafkaOutcome& outcome = batch.messages[part[i]].outcome;
        const Status& result = results[i + 1];
        if (result) {
            rest.others.push_back(part[i]);
            continue;
        }
        const Error& error = result.error();
        outcome.error = error;
        if (error.code == "record_refused"_code) {
            rest.refused.push_back(part[i]);
            is_at_fault = true;
        } else if (is_of_kafka_topic(error)) {
            outcome.kind = KafkaOutcome::Kind::failed;
            is_at_fault = true;
        } else if (error.code == "kafka_unavailable"_code) {
            timed_out.push_back(part[i]);
        } else {
            return error;
        }
    }
    if (is_at_fault) {  // librdkafka sends nothing more of a transaction that cannot be committed
        rest.others.insert(rest.others.end(), timed_out.begin(), timed_out.end());
        return std::nullopt;
    }
    if (!results.front()) return results.front().error();
    for (const std::size_t index : timed_out) batch.messages[index].outcome.kind = KafkaOutcome::Kind::failed;
    return std::nullopt;
}

void KafkaSender::abort() {
    ++counters_.aborts;
    const std::int64_t began_us = surroundings_.now_us();
    const Status aborted = producer().abort_transaction(timeout_ms());
    turn_ = 1 - turn_;
    if (!aborted || is_slow(began_us)) close();
}

void KafkaSender::commit(KafkaBatch& batch, const Indexes& part, const KafkaLedgerRecord& entry) {
    const std::int64_t began_us = surroundings_.now_us();
    const Status committed = producer().commit_transaction(timeout_ms());
    turn_ = 1 - turn_;
    const auto set_sent = [&](std::size_t index) { batch.messages[index].outcome = {KafkaOutcome::Kind::sent, {}}; };
    if (committed) {
        ++counters_.transactions;
        static_cast<void>(ledger_.add(entry));
        std::for_each(part.begin(), part.end(), set_sent);
        if (!is_slow(began_us)) return;
        ++counters_.slow_commits;
        return close();
    }
    ++counters_.unknown_commits;
    for (const std::size_t index : part) unknown_.insert(batch.messages[index].name.id);
    close();
    if (const Status ready = be_ready(batch); !ready) return fail(batch, part, committed.error());
    const bool was_committed = ledger_.holds(entry.messages.front().id);
    if (!was_committed) return fail(batch, part, committed.error());
    ++counters_.transactions;
    std::for_each(part.begin(), part.end(), set_sent);
}

void KafkaSender::fail(KafkaBatch& batch, const Indexes& part, const Error& error) {
    for (const std::size_t index : part) {
        const bool is_unknown = unknown_.contains(batch.messages[index].name.id);
        const auto kind = is_unknown ? KafkaOutcome::Kind::unknown : KafkaOutcome::Kind::not_sent;
        batch.messages[index].outcome = {kind, error};
    }
}

// ---- the ledger

// Once a minute, up to the end of the minute before. At least one numbered record is left: otherwise numbers would
// begin again at 1, and records that a broker still has after a crash would seem to be newer.
void KafkaSender::trim_ledger() {
    if (surroundings_.now_us() < trim_at_us_) return;
    trim_at_us_ = surroundings_.now_us() + kTrimUs;
    const std::string topic = options_.ledger_topic();
    if (trim_ && ledger_.settled_before() >= trim_->number && ledger_.next_number() > trim_->number) {
        const Status trimmed = cluster_.delete_before(topic, options_.shard, trim_->offset, timeout_ms());
        trim_.reset();
        if (!trimmed && !std::exchange(is_trim_failing_, true)) {
            log_.warning(
                "kafka_ledger_not_trimmed",
                "Old records of the ledger topic cannot be deleted, and it grows. Allow this user to delete "
                "records of the topic.",
                {{"topic", topic}, {"code", name_of(trimmed.error().code)}, {"error", trimmed.error().message}});
        }
        if (trimmed) is_trim_failing_ = false;
    }
    if (trim_) return;
    const Result<KafkaConsumer::Offsets> offsets = reader_->offsets(topic, options_.shard, timeout_ms());
    if (offsets) trim_ = Trim{ledger_.next_number(), offsets->high};
}

KafkaRecord KafkaSender::record_of(const KafkaLedgerRecord& entry) const {
    KafkaRecord record;
    record.topic = options_.ledger_topic();
    record.partition = options_.shard;
    record.value = encode_kafka_ledger_record(entry);
    return record;
}

bool KafkaSender::is_slow(std::int64_t began_us) const {
    return surroundings_.now_us() - began_us > options_.slow_commit_ms() * 1000;
}

}  // namespace duewheel
