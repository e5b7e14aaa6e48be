// The records of the topic of a replicated log: a head of 64 bytes, then a payload.
//
// The topic has one partition per shard, and its records are never changed by a key or a transaction, so that their
// offsets have no gaps: the order of the partition decides which node writes the log.
//
//     magic 8 | checksum 8 | version 2 | kind 1 | 0 | shard 4 | cluster 8
//     epoch 8 | node 8 | commit 8 | part 4 | parts 4
//
// Integers are little-endian. The checksum is the XXH3 of everything after it, payload included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

enum class TopicRecordKind : std::uint8_t {
    claim = 1,    // a node owns the log from here on; its offset is the epoch of the records that follow
    segment = 2,  // the header of a segment, which begins after `commit`
    commit = 3,   // the bytes of a commit as in a segment, or a part of them
    beat = 4,     // the owner is alive; `commit` is its last one
    release = 5,  // the owner has ended
};

struct TopicRecordHead {
    TopicRecordKind kind = TopicRecordKind::beat;
    std::uint32_t shard = 0;
    std::uint64_t cluster = 0;  // hash of its name
    std::int64_t epoch = 0;     // offset of the claim of its writer; 0 in claims
    std::uint64_t node = 0;     // chosen at random by each process
    std::uint64_t commit = 0;
    std::uint32_t part = 0;
    std::uint32_t parts = 1;

    bool operator==(const TopicRecordHead&) const = default;
};

inline constexpr std::size_t kTopicRecordHeadBytes = 64;
// Commits with more bytes are sent in parts of this size, so that the default limit of a topic is never met.
inline constexpr std::size_t kTopicPartBytes = 512 << 10;

struct TopicRecord {
    TopicRecordHead head;
    std::string_view payload;  // in the bytes that were decoded
};

// What a claim says about its node.
struct Claim {
    std::uint64_t link = 0;  // checksum of the last footer of its own log, which is that of `commit` of the head
    std::string url;         // where it answers HTTP requests

    bool operator==(const Claim&) const = default;
};

std::string encode_topic_record(const TopicRecordHead& head, std::string_view payload);
// Codes: `damaged_topic` (with what is wrong), `newer_format`.
Result<TopicRecord> decode_topic_record(std::string_view bytes);

std::string encode_claim(const Claim& claim);
Result<Claim> decode_claim(std::string_view payload);

std::uint64_t hash_of_cluster(std::string_view name);

}  // namespace duewheel
