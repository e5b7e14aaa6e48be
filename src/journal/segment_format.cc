#include "journal/segment_format.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstring>

#include <xxhash.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kHeaderMagic = "duewhSEG";
constexpr std::string_view kFooterMagic = "duewhEND";
constexpr std::uint16_t kClosesSegment = 1;
constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kCheckedFrom = 16;  // after magic and checksum
constexpr std::string_view kSegmentNameStart = "seg-";
constexpr std::string_view kSegmentNameEnd = ".log";
constexpr std::size_t kSegmentNameDigits = 20;

static_assert(std::endian::native == std::endian::little, "integers are copied as they stand in memory");

// Writes values one after the other.
class FixedWriter {
  public:
    explicit FixedWriter(char* to) : to_(to) {}

    template <class... Values>
    void operator()(const Values&... values) {
        (put(values), ...);
    }

  private:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(to_, &value, sizeof value);
        to_ += sizeof value;
    }

    char* to_;
};

// The reverse.
class FixedReader {
  public:
    explicit FixedReader(const char* from) : from_(from) {}

    template <class... Values>
    void operator()(Values&... values) {
        (get(values), ...);
    }

  private:
    template <class T>
    void get(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(&value, from_, sizeof value);
        from_ += sizeof value;
    }

    const char* from_;
};

// The fields of a struct in their order, for a FixedWriter or a FixedReader.
template <class Stream, class OfTotals>
void totals_fields(Stream& stream, OfTotals& totals) {
    stream(totals.commit, totals.sequence, totals.digest, totals.live_count, totals.needed_bytes, totals.id_counter,
           totals.server_time_ms);
}

// After the version and the flags. `other_shards`: 0 in the logs of older versions.
template <class Stream, class Header, class Number>
void header_fields(Stream& stream, Header& header, Number& first_sequence, Number& first_commit, auto& other_shards) {
    stream(header.block_bytes, header.segment_bytes, header.number, first_sequence, first_commit, header.link);
    totals_fields(stream, header.before);
    stream(header.identity.instance, header.identity.token_key, header.identity.shard, other_shards);
}

// The fields of a footer after the version and the flags.
template <class Stream, class Footer>
void footer_fields(Stream& stream, Footer& footer) {
    stream(footer.count, footer.first_sequence, footer.record_bytes, footer.area_hash);
    totals_fields(stream, footer.totals);
    stream(footer.identity_hash, footer.link);
}

std::uint64_t checksum_of(std::string_view bytes) {
    return XXH3_64bits(bytes.data() + kCheckedFrom, bytes.size() - kCheckedFrom);
}

// Both begin with magic, checksum and format version; a newer version may change all that follows.
enum class Opening { readable, unreadable, newer };

Opening opening_of(std::string_view bytes, std::string_view magic) {
    if (!bytes.starts_with(magic)) return Opening::unreadable;
    std::uint64_t checksum = 0;
    std::uint16_t version = 0;
    FixedReader reader(bytes.data() + kMagicBytes);
    reader(checksum, version);
    if (checksum != checksum_of(bytes)) return Opening::unreadable;
    if (version > kLogFormatVersion) return Opening::newer;
    return version == 0 ? Opening::unreadable : Opening::readable;
}

}  // namespace

std::uint64_t commit_size_in_segment(std::uint64_t record_bytes, std::uint32_t block_bytes) {
    return commit_end(record_bytes, block_bytes);
}

std::uint64_t LogIdentity::hash() const {
    std::array<std::byte, 32> both;
    std::copy(token_key.begin(), token_key.end(), std::copy(instance.begin(), instance.end(), both.begin()));
    return XXH3_64bits(both.data(), both.size());
}

Status check_shard(const LogIdentity& log, const LogIdentity& wanted, const std::string& where) {
    if (log.shard == wanted.shard && log.shards == wanted.shards) return {};
    const auto name = [](const LogIdentity& identity) {
        return "shard " + std::to_string(identity.shard) + " of " + std::to_string(identity.shards);
    };
    return Error{"shards_changed"_code,
                 where + " has the log of " + name(log) + ", and the settings shards.number and shards.count say " +
                     name(wanted) +
                     ". The number of shards of existing data cannot be changed, and a namespace cannot be moved to "
                     "another shard: restore the settings. To have another number of shards, start new servers without "
                     "data, and move the messages with `duewheel export` and `duewheel import`"};
}

std::string encode_segment_header(const SegmentHeader& header) {
    assert(header.segment_bytes <= kSegmentBytesMax);
    std::string bytes(kSegmentHeaderBytes, '\0');
    bytes.replace(0, kMagicBytes, kHeaderMagic);
    FixedWriter writer(bytes.data() + kCheckedFrom);
    writer(kLogFormatVersion, std::uint16_t{0});
    const std::uint64_t first_sequence = header.first_sequence();
    const std::uint64_t first_commit = header.first_commit();
    const auto other_shards = static_cast<std::uint16_t>(header.identity.shards - 1);
    header_fields(writer, header, first_sequence, first_commit, other_shards);
    FixedWriter(bytes.data() + kMagicBytes)(checksum_of(bytes));
    return bytes;
}

Result<SegmentHeader> decode_segment_header(std::string_view bytes) {
    if (bytes.size() < kSegmentHeaderBytes) return Error{"bad_header"_code, "the file ends inside its header"};
    bytes = bytes.substr(0, kSegmentHeaderBytes);
    const Opening opening = opening_of(bytes, kHeaderMagic);
    if (opening == Opening::newer) return Error{"newer_format"_code, "written by a newer version"};
    if (opening == Opening::unreadable) return Error{"bad_header"_code, "its header does not match its checksum"};
    SegmentHeader header;
    std::uint16_t version = 0;
    std::uint16_t reserved = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t first_commit = 0;
    FixedReader reader(bytes.data() + kCheckedFrom);
    std::uint16_t other_shards = 0;
    reader(version, reserved);
    header_fields(reader, header, first_sequence, first_commit, other_shards);
    header.identity.shards = static_cast<std::uint16_t>(other_shards + 1);
    const bool sound = (header.block_bytes == 512 || header.block_bytes == 4096) && header.number > 0 &&
                       header.segment_bytes % header.block_bytes == 0 && header.segment_bytes <= kSegmentBytesMax &&
                       first_sequence == header.first_sequence() && first_commit == header.first_commit() &&
                       header.identity.shard <= other_shards;
    if (!sound) return Error{"bad_header"_code, "its header contradicts itself"};
    return header;
}

std::uint64_t append_footer(std::string& out, const CommitFooter& footer) {
    const std::size_t start = out.size();
    out.append(kFooterBytes, '\0');
    char* const bytes = out.data() + start;
    std::memcpy(bytes, kFooterMagic.data(), kMagicBytes);
    FixedWriter writer(bytes + kCheckedFrom);
    writer(kLogFormatVersion, footer.closes_segment ? kClosesSegment : std::uint16_t{0});
    footer_fields(writer, footer);
    const std::uint64_t checksum = checksum_of(std::string_view(bytes, kFooterBytes));
    FixedWriter(bytes + kMagicBytes)(checksum);
    return checksum;
}

bool begins_like_footer(std::string_view bytes) {
    return bytes.starts_with(kFooterMagic);
}

Result<CommitFooter> decode_footer(std::string_view bytes) {
    assert(bytes.size() == kFooterBytes);
    const Opening opening = opening_of(bytes, kFooterMagic);
    if (opening == Opening::newer) return Error{"newer_format"_code, "written by a newer version"};
    if (opening == Opening::unreadable) return Error{"bad_footer"_code, "no whole footer"};
    CommitFooter footer;
    std::uint16_t version = 0;
    std::uint16_t flags = 0;
    FixedReader(bytes.data() + kMagicBytes)(footer.checksum);
    FixedReader reader(bytes.data() + kCheckedFrom);
    reader(version, flags);
    footer_fields(reader, footer);
    footer.closes_segment = (flags & kClosesSegment) != 0;
    return footer;
}

std::uint64_t area_hash(std::string_view area) {
    return XXH3_64bits(area.data(), area.size());
}

std::uint64_t area_hash(std::string_view records, std::size_t zeros) {
    static constexpr std::array<char, 4096> kZeros{};  // the largest block
    assert(zeros <= kZeros.size());
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, records.data(), records.size());
    XXH3_64bits_update(&state, kZeros.data(), zeros);
    return XXH3_64bits_digest(&state);
}

std::string segment_name(Sequence first_sequence) {
    const std::string digits = std::to_string(first_sequence);
    return std::string(kSegmentNameStart) + std::string(kSegmentNameDigits - digits.size(), '0') + digits +
           std::string(kSegmentNameEnd);
}

Sequence sequence_of_segment_name(std::string_view name) {
    if (name.size() != kSegmentNameStart.size() + kSegmentNameDigits + kSegmentNameEnd.size() ||
        !name.starts_with(kSegmentNameStart) || !name.ends_with(kSegmentNameEnd)) {
        return 0;
    }
    Sequence sequence = 0;
    for (const char c : name.substr(kSegmentNameStart.size(), kSegmentNameDigits)) {
        if (c < '0' || c > '9') return 0;
        sequence = sequence * 10 + static_cast<Sequence>(c - '0');
    }
    return segment_name(sequence) == name ? sequence : 0;
}

Error damaged_log(const std::string& path, std::uint64_t offset, std::string_view what) {
    return Error{"damaged_log"_code,
                 "the log is damaged in " + path + " at offset " + std::to_string(offset) + ": " + std::string(what) +
                     "; nothing was changed. Put an undamaged copy of this file back, from a backup, or save all other "
                     "messages with `duewheel export --skip-damaged`: see `The log is damaged` in operating.md.",
                 path.substr(path.rfind('/') + 1) + ":" + std::to_string(offset)};
}

std::optional<DamagePlace> damage_place(const Error& error) {
    const std::size_t colon = error.field.rfind(':');
    if (error.code != "damaged_log"_code || colon == std::string::npos) return std::nullopt;
    DamagePlace place{error.field.substr(0, colon), 0};
    const char* end = error.field.data() + error.field.size();
    const auto [stopped, wrong] = std::from_chars(error.field.data() + colon + 1, end, place.offset);
    if (wrong != std::errc() || stopped != end || sequence_of_segment_name(place.file) == 0) return std::nullopt;
    return place;
}

Error newer_log(const std::string& path, std::uint64_t offset) {
    return Error{"newer_format"_code, path + " was written by a newer version (seen at offset " +
                                          std::to_string(offset) +
                                          "); nothing was changed. Start the version that wrote it."};
}

}  // namespace duewheel
