// The encoding of a segment's header and of the footer of each commit.
// docs/storage_format.md draws both. All integers are little-endian.
//
// A segment is a header of 4096 bytes and commits, each on a block boundary:
//
//     [header 4096][records | zeros | footer 128][records | zeros | footer 128] ... zeros up to the segment's size
//                  ^ block                       ^ block: a footer ends on one
//
// So every footer can be found in the last 128 bytes of a block, even if the records before it are damaged; and no
// acknowledged block is ever written again.
//
// Commits form a chain: each footer contains the checksum of the previous one (its link), and a segment's header
// contains the link and the totals at the end of the previous segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "journal/journal.h"

namespace duewheel {

inline constexpr std::uint16_t kLogFormatVersion = 1;
inline constexpr std::uint64_t kFooterBytes = 128;
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{1} << 32;

// Chosen when the data directory is created, the bytes at random; the same in all segments of a log.
struct LogIdentity {
    std::array<std::byte, 16> instance{};   // identifies the log
    std::array<std::byte, 16> token_key{};  // secret; authenticates lease tokens
    std::uint16_t shard = 0;                // which part of the namespaces the log has
    std::uint16_t shards = 1;               // number of such parts

    // Part of every footer. It depends on the secret, so that clients that can only put messages cannot create bytes
    // that look like a footer of this log.
    std::uint64_t hash() const;
    bool operator==(const LogIdentity&) const = default;
};

struct SegmentHeader {
    std::uint64_t number = 1;  // the first segment of a log is 1
    Totals before;             // the totals of the log before this segment
    std::uint64_t link = 0;    // checksum of the previous footer; 0 in the first segment
    LogIdentity identity;
    std::uint64_t segment_bytes = 0;  // file size; zero-filled from the start
    std::uint32_t block_bytes = 512;  // 512 or 4096

    Sequence first_sequence() const { return before.sequence + 1; }
    std::uint64_t first_commit() const { return before.commit + 1; }
    bool operator==(const SegmentHeader&) const = default;
};

// Whether the log at `where`, a directory or a topic, is that of the shard that the settings name. Code:
// `shards_changed`, with what to do.
Status check_shard(const LogIdentity& log, const LogIdentity& wanted, const std::string& where);

// The kSegmentHeaderBytes bytes of a header.
std::string encode_segment_header(const SegmentHeader& header);

// Codes: `bad_header` (no header, torn or damaged), `newer_format` (regardless of the rest).
Result<SegmentHeader> decode_segment_header(std::string_view bytes);

struct CommitFooter {
    Sequence first_sequence = 0;
    std::uint32_t count = 0;
    bool closes_segment = false;
    std::uint64_t record_bytes = 0;
    std::uint64_t area_hash = 0;  // of the records and the zeros after them
    Totals totals;
    std::uint64_t identity_hash = 0;
    std::uint64_t link = 0;      // checksum of the previous footer
    std::uint64_t checksum = 0;  // of this footer; set by encoding and decoding

    bool operator==(const CommitFooter&) const = default;
};

// Appends kFooterBytes bytes to `out` and returns the checksum of the footer: the link in the next one.
std::uint64_t append_footer(std::string& out, const CommitFooter& footer);

// Codes: `bad_footer` (none here, torn or damaged), `newer_format`.
Result<CommitFooter> decode_footer(std::string_view bytes);

// True if the bytes may be a footer: they start like one. Fast, without allocations.
bool begins_like_footer(std::string_view bytes);

// 64-bit hash of a commit's area before its footer, or of its records and the number of zeros after them.
std::uint64_t area_hash(std::string_view area);
std::uint64_t area_hash(std::string_view records, std::size_t zeros);

// `bytes` rounded up to the next block boundary.
constexpr std::uint64_t to_block(std::uint64_t bytes, std::uint64_t block_bytes) {
    return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

// The end of a commit whose records end at `records_end`; both are offsets in the file.
constexpr std::uint64_t commit_end(std::uint64_t records_end, std::uint64_t block_bytes) {
    return to_block(records_end + kFooterBytes, block_bytes);
}

// `seg-<first sequence, 20 digits>.log`, so that names sort as sequences do.
std::string segment_name(Sequence first_sequence);
// The first sequence in such a name; 0 if it is not the name of a segment.
Sequence sequence_of_segment_name(std::string_view name);

// The errors of a log that cannot be trusted, with file and offset and what to do. The field of `damaged_log` is the
// place, `<name of the file>:<offset>`.
Error damaged_log(const std::string& path, std::uint64_t offset, std::string_view what);
Error newer_log(const std::string& path, std::uint64_t offset);

// Where a segment is damaged.
struct DamagePlace {
    std::string file;  // its name in DIR/journal
    std::uint64_t offset = 0;

    bool operator==(const DamagePlace&) const = default;
};
// The place that such an error names; nothing if it names none.
std::optional<DamagePlace> damage_place(const Error& error);

}  // namespace duewheel
