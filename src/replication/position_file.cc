#include "replication/position_file.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/error_codes.h"
#include "base/read_file.h"
#include "journal/segment_format.h"

namespace duewheel {
namespace {

struct Stored {
    std::array<char, 8> magic{'d', 'u', 'e', 'w', 'h', 'P', 'O', 'S'};
    std::int64_t next_offset = 0;
    std::int64_t epoch = 0;
    std::uint64_t commit = 0;
    std::uint64_t link = 0;
    std::uint64_t checksum = 0;  // of what is before it

    std::uint64_t sum() const {
        return area_hash(std::string_view(reinterpret_cast<const char*>(this), offsetof(Stored, checksum)));
    }
};
static_assert(sizeof(Stored) == 48);

void append(std::string& bytes, const ChainPosition& position) {
    Stored stored;
    stored.next_offset = position.next_offset;
    stored.epoch = position.epoch;
    stored.commit = position.commit;
    stored.link = position.link;
    stored.checksum = stored.sum();
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
}

}  // namespace

Result<std::vector<ChainPosition>> PositionFile::read() const {
    std::vector<ChainPosition> positions;
    const Result<std::unique_ptr<File>> file = files_.open(path(), OpenMode::read);
    if (!file && file.error().code == "not_found"_code) return positions;
    if (!file) return file.error();
    const Result<std::string> bytes = read_file(**file);
    if (!bytes) return bytes.error();
    for (std::size_t at = 0; at + sizeof(Stored) <= bytes->size(); at += sizeof(Stored)) {
        Stored stored;
        std::memcpy(&stored, bytes->data() + at, sizeof stored);
        if (stored.magic != Stored().magic || stored.checksum != stored.sum()) break;
        positions.push_back(
            {.next_offset = stored.next_offset, .epoch = stored.epoch, .commit = stored.commit, .link = stored.link});
    }
    return positions;
}

Status PositionFile::add(const ChainPosition& position, std::uint64_t front_commit) {
    const Result<std::vector<ChainPosition>> before = read();
    if (!before) return before.error();
    std::string bytes;
    for (const ChainPosition& each : *before) {
        if (each.commit >= position.commit || each.next_offset >= position.next_offset) break;
        if (each.commit >= front_commit) append(bytes, each);
    }
    append(bytes, position);
    return write(bytes);
}

Status PositionFile::write(const std::string& bytes) {
    const std::string partial = path() + ".partial";
    if (Status removed = files_.remove(partial); !removed && removed.error().code != "not_found"_code) return removed;
    Result<std::unique_ptr<File>> file = files_.open(partial, OpenMode::create);
    if (!file) return std::move(file).error();
    Status done = (*file)->write_at(0, std::as_bytes(std::span(bytes)));
    if (done) done = (*file)->sync_data();
    if (done) done = files_.rename(partial, path());
    if (done) done = files_.sync_directory(directory_);
    return done;
}

Status PositionFile::remove() {
    Status removed = files_.remove(path());
    if (!removed && removed.error().code == "not_found"_code) return {};
    return removed ? files_.sync_directory(directory_) : removed;
}

}  // namespace duewheel
