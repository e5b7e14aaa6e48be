#include "replication/topic_record.h"

#define XXH_INLINE_ALL
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>

#include <xxhash.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kMagic = "duewhTPC";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kCheckedFrom = 16;

static_assert(std::endian::native == std::endian::little, "integers are copied as they stand in memory");

template <class T>
void append_integer(std::string& out, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take_integer(std::string_view& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
}

Error damaged(std::string what) {
    return {"damaged_topic"_code, std::move(what)};
}

}  // namespace

std::string encode_topic_record(const TopicRecordHead& head, std::string_view payload) {
    std::string out;
    out.reserve(kTopicRecordHeadBytes + payload.size());
    out += kMagic;
    append_integer(out, std::uint64_t{0});
    append_integer(out, kVersion);
    append_integer(out, head.kind);
    append_integer(out, std::uint8_t{0});
    append_integer(out, head.shard);
    append_integer(out, head.cluster);
    append_integer(out, head.epoch);
    append_integer(out, head.node);
    append_integer(out, head.commit);
    append_integer(out, head.part);
    append_integer(out, head.parts);
    assert(out.size() == kTopicRecordHeadBytes);
    out += payload;
    const std::uint64_t checksum = XXH3_64bits(out.data() + kCheckedFrom, out.size() - kCheckedFrom);
    std::memcpy(out.data() + kMagic.size(), &checksum, sizeof checksum);
    return out;
}

Result<TopicRecord> decode_topic_record(std::string_view bytes) {
    if (bytes.size() < kTopicRecordHeadBytes || !bytes.starts_with(kMagic)) {
        return damaged("it is not a record of a log");
    }
    const std::uint64_t checksum = XXH3_64bits(bytes.data() + kCheckedFrom, bytes.size() - kCheckedFrom);
    bytes.remove_prefix(kMagic.size());
    if (take_integer<std::uint64_t>(bytes) != checksum) return damaged("it does not match its checksum");
    const auto version = take_integer<std::uint16_t>(bytes);
    if (version > kVersion) return Error{"newer_format"_code, "it was written by a newer version"};
    TopicRecord record;
    TopicRecordHead& head = record.head;
    head.kind = take_integer<TopicRecordKind>(bytes);
    bytes.remove_prefix(1);
    head.shard = take_integer<std::uint32_t>(bytes);
    head.cluster = take_integer<std::uint64_t>(bytes);
    head.epoch = take_integer<std::int64_t>(bytes);
    head.node = take_integer<std::uint64_t>(bytes);
    head.commit = take_integer<std::uint64_t>(bytes);
    head.part = take_integer<std::uint32_t>(bytes);
    head.parts = take_integer<std::uint32_t>(bytes);
    record.payload = bytes;
    const bool is_known = head.kind >= TopicRecordKind::claim && head.kind <= TopicRecordKind::release;
    if (version == 0 || !is_known || head.part >= head.parts) return damaged("its head contradicts itself");
    return record;
}

std::string encode_claim(const Claim& claim) {
    std::string out;
    append_integer(out, claim.link);
    out += claim.url;
    return out;
}

Result<Claim> decode_claim(std::string_view payload) {
    if (payload.size() < sizeof(std::uint64_t)) return damaged("a claim is too short");
    Claim claim;
    claim.link = take_integer<std::uint64_t>(payload);
    claim.url = payload;
    return claim;
}

std::uint64_t hash_of_cluster(std::string_view name) {
    return XXH3_64bits(name.data(), name.size());
}

}  // namespace duewheel
