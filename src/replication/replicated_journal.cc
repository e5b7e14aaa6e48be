#include "replication/replicated_journal.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "journal/segment.h"

namespace duewheel {
namespace {

constexpr std::size_t kGapRecords = 1'000;

bool are_contiguous(const std::vector<std::int64_t>& offsets, std::int64_t from) {
    return std::all_of(offsets.begin(), offsets.end(), [&](std::int64_t offset) { return offset == from++; });
}

}  // namespace

ReplicatedJournal::ReplicatedJournal(KafkaCluster& cluster, LocalJournal& local, PositionFile position,
                                     TopicChain chain, std::uint64_t node, Wait wait)
    : cluster_(cluster),
      local_(local),
      node_(node),
      wait_(std::move(wait)),
      epoch_(chain.position().epoch),
      position_(std::move(position)),
      chain_(std::move(chain)) {
    assert(local_.totals().commit == chain_.position().commit);
}

Status ReplicatedJournal::commit(const Commit& commit) {
    const std::lock_guard lock(mutex_);
    if (failed_) return *failed_;
    const Result<CommitPlace> place = local_.prepare(commit);
    if (!place) return place.error().code == "no_space"_code ? place.error() : fail(place.error());
    // It is in the topic already if the disk was full after it had been sent.
    if (chain_.position().commit < commit.totals.commit) {
        if (Status sent = send_commit(commit, *place); !sent) return fail(sent.error());
        count([](ReplicationCounters& counters) { ++counters.commits; });
    }
    Status done = local_.commit(commit);
    return done || done.error().code == "no_space"_code ? done : fail(done.error());
}

Status ReplicatedJournal::send_commit(const Commit& commit, const CommitPlace& place) {
    std::vector<std::string> values;
    const bool begins_segment = place.begins_segment || !chain_.has_begun();
    if (begins_segment) {
        values.push_back(
            encode(TopicRecordKind::segment, commit.totals.commit - 1, encode_segment_header(place.header)));
    }
    const std::size_t in_place = commit.records.size() / kTopicPartBytes * kTopicPartBytes;
    std::string rest;
    const std::uint64_t link = encode_commit(rest, commit, place.header, place.link, in_place);
    const std::size_t bytes = in_place + rest.size();
    const auto parts = static_cast<std::uint32_t>((bytes + kTopicPartBytes - 1) / kTopicPartBytes);
    for (std::size_t at = 0; at < bytes; at += kTopicPartBytes) {  // copied once, behind the head of a record
        const std::string_view payload = at < in_place ? std::string_view(commit.records).substr(at, kTopicPartBytes)
                                                       : std::string_view(rest).substr(at - in_place, kTopicPartBytes);
        values.push_back(encode(TopicRecordKind::commit, commit.totals.commit, payload,
                                static_cast<std::uint32_t>(at / kTopicPartBytes), parts));
    }
    const Result<Sent> sent = send(values, [&] { return chain_.position().commit == commit.totals.commit; });
    if (!sent) return sent.error();
    if (*sent == Sent::as_expected) {
        if (begins_segment) chain_.sent_segment(place.header);
        chain_.sent_commit(commit, link);
        chain_.sent_to(chain_.position().next_offset + static_cast<std::int64_t>(values.size()));
    }
    if (!begins_segment) return {};
    // A start reads on from here, and finds the header of the segment first.
    const std::uint64_t front = local_.catalog().snapshot().front()->header().before.commit;
    Status written = position_.add(chain_.segment_position(), front);
    return written || written.error().code == "no_space"_code ? Status() : written;
}

Status ReplicatedJournal::beat() {
    return send_note(TopicRecordKind::beat);
}

Status ReplicatedJournal::release() {
    Status sent = send_note(TopicRecordKind::release);
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = Error{"log_released"_code, "the log was released to another node"};
    return sent;
}

Status ReplicatedJournal::send_note(TopicRecordKind kind) {
    const std::lock_guard lock(mutex_);
    if (failed_) return *failed_;
    const Result<Sent> sent = send({encode(kind, chain_.position().commit, {})}, [] { return true; });
    if (!sent) return fail(sent.error());
    if (*sent == Sent::as_expected) chain_.sent_to(chain_.position().next_offset + 1);
    return {};
}

Result<ReplicatedJournal::Sent> ReplicatedJournal::send(const std::vector<std::string>& values,
                                                        const std::function<bool()>& is_counted) {
    for (;;) {
        const std::int64_t expected = chain_.position().next_offset;
        Error reason;
        if (!appender_) {
            const TopicLog& log = chain_.log();
            Result<std::unique_ptr<KafkaAppender>> opened =
                cluster_.open_appender(log.topic, static_cast<std::int32_t>(log.shard));
            if (opened) appender_ = *std::move(opened);
            if (!opened) reason = opened.error();
        }
        if (appender_) {
            const Result<std::vector<std::int64_t>> offsets = appender_->append(values, kAppendTimeoutMs);
            if (offsets) count([](ReplicationCounters& counters) { counters.is_waiting = false; });
            if (offsets && are_contiguous(*offsets, expected)) return Sent::as_expected;
            if (offsets && offsets->front() < expected) {
                return Error{"log_went_back"_code,
                             "topic " + chain_.log().topic + ", partition " + std::to_string(chain_.log().shard) +
                                 ", ends at offset " + std::to_string(offsets->front()) + ", but acknowledged up to " +
                                 std::to_string(expected - 1) +
                                 ": the cluster has lost records. The server stops, because a standby node would lack "
                                 "them. Check the brokers (unclean leader election must be off)"};
            }
            if (offsets) {
                if (Status read = read_to(offsets->back() + 1); !read) return std::move(read).error();
                if (chain_.position().epoch != epoch_) return fenced();
                if (is_counted()) return Sent::among_others;
                continue;
            }
            // It may have been written all the same. Then the next one does not get the offset that is expected.
            appender_.reset();
            count([](ReplicationCounters& counters) { ++counters.appenders_recreated; });
            reason = offsets.error();
        }
        if (reason.code == "unknown_topic"_code) {
            return Error{"log_went_back"_code,
                         "topic " + chain_.log().topic +
                             " is gone, and with it the log of the other nodes. The server stops; "
                             "its own log is complete"};
        }
        count([&](ReplicationCounters& counters) {
            counters.is_waiting = true;
            counters.waiting_for = reason.message;
        });
        if (!wait_(kRetryMs)) return unavailable(reason.message);
    }
}

// Takes the records up to this offset into the chain.
Status ReplicatedJournal::read_to(std::int64_t offset) {
    count([](ReplicationCounters& counters) { ++counters.gaps_read; });
    const TopicLog& log = chain_.log();
    const auto partition = static_cast<std::int32_t>(log.shard);
    std::unique_ptr<KafkaConsumer> consumer;
    while (chain_.position().next_offset < offset) {
        Status ready;
        if (!consumer) {
            Result<std::unique_ptr<KafkaConsumer>> opened = cluster_.open_consumer();
            if (opened) consumer = *std::move(opened);
            ready =
                opened ? consumer->assign(log.topic, partition, chain_.position().next_offset) : Status(opened.error());
        }
        const Result<std::vector<KafkaRecord>> records =
            ready ? consumer->poll(kGapRecords, kAppendTimeoutMs) : Result<std::vector<KafkaRecord>>(ready.error());
        if (!records) {
            consumer.reset();
            if (!wait_(kRetryMs)) return unavailable(records.error().message);
            continue;
        }
        for (const KafkaRecord& record : *records) {
            if (record.offset >= offset) break;
            if (const Result<TopicChain::Step> taken = chain_.append(record); !taken) return taken.error();
        }
    }
    return {};
}

std::string ReplicatedJournal::encode(TopicRecordKind kind, std::uint64_t commit, std::string_view payload,
                                      std::uint32_t part, std::uint32_t parts) const {
    return encode_topic_record({.kind = kind,
                                .shard = chain_.log().shard,
                                .cluster = hash_of_cluster(chain_.log().cluster),
                                .epoch = epoch_,
                                .node = node_,
                                .commit = commit,
                                .part = part,
                                .parts = parts},
                               payload);
}

ReplicationCounters ReplicatedJournal::counters() const {
    const std::lock_guard lock(counters_mutex_);
    return counters_;
}

// Under mutex_.
void ReplicatedJournal::count(const std::function<void(ReplicationCounters&)>& change) {
    const std::lock_guard lock(counters_mutex_);
    change(counters_);
    counters_.ignored = chain_.ignored();
    counters_.next_offset = chain_.position().next_offset;
}

Status ReplicatedJournal::fail(Error error) {
    if (!failed_) failed_ = std::move(error);
    return *failed_;
}

Error ReplicatedJournal::fenced() const {
    const std::string by = chain_.claim() ? " (" + chain_.claim()->url + ")" : "";
    return {"log_fenced"_code, "another node" + by + " has taken over shard " + std::to_string(chain_.log().shard) +
                                   ". The server stops; started again, it is a standby node"};
}

Error ReplicatedJournal::unavailable(const std::string& reason) const {
    return {"log_unavailable"_code, "topic " + chain_.log().topic + ", partition " +
                                        std::to_string(chain_.log().shard) + ", cannot be written: " + reason};
}

}  // namespace duewheel
