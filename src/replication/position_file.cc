#include "replication/position_file.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>

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

}  // namespace

Result<std::optional<ChainPosition>> PositionFile::read() const {
    const Result<std::unique_ptr<File>> file = files_.open(path(), OpenMode::read);
    if (!file && file.error().code == "not_found") return std::optional<ChainPosition>();
    if (!file) return file.error();
    Stored stored;
    const Result<std::size_t> got = (*file)->read_at(0, std::as_writable_bytes(std::span(&stored, 1)));
    if (!got) return got.error();
    const bool is_whole = *got == sizeof stored && stored.magic == Stored().magic && stored.checksum == stored.sum();
    if (!is_whole) return std::optional<ChainPosition>();
    return std::optional(ChainPosition{
        .next_offset = stored.next_offset, .epoch = stored.epoch, .commit = stored.commit, .link = stored.link});
}

Status PositionFile::write(const ChainPosition& position) {
    Stored stored;
    stored.next_offset = position.next_offset;
    stored.epoch = position.epoch;
    stored.commit = position.commit;
    stored.link = position.link;
    stored.checksum = stored.sum();
    const std::string partial = path() + ".partial";
    if (Status removed = files_.remove(partial); !removed && removed.error().code != "not_found") return removed;
    Result<std::unique_ptr<File>> file = files_.open(partial, OpenMode::create);
    if (!file) return std::move(file).error();
    Status done = (*file)->write_at(0, std::as_bytes(std::span(&stored, 1)));
    if (done) done = (*file)->sync_data();
    if (done) done = files_.rename(partial, path());
    if (done) done = files_.sync_directory(directory_);
    return done;
}

Status PositionFile::remove() {
    Status removed = files_.remove(path());
    if (!removed && removed.error().code == "not_found") return {};
    return removed ? files_.sync_directory(directory_) : removed;
}

}  // namespace duewheel
