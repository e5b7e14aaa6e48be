#include "support/sim_file_bytes.h"

#include <algorithm>
#include <cassert>

#include "support/sim_disk.h"

namespace duewheel {
namespace {

void put(std::vector<std::byte>& content, std::uint64_t offset, ConstBytes bytes) {
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
}

// Calls `visit(sector, offset, piece)` for the part of `bytes` in each sector that they touch.
template <class Visit>
void for_each_sector(std::uint64_t offset, ConstBytes bytes, Visit visit) {
    while (!bytes.empty()) {
        const std::uint64_t sector = offset / SimDisk::kSectorBytes;
        const std::uint64_t left_in_sector = (sector + 1) * SimDisk::kSectorBytes - offset;
        const std::size_t length = std::min<std::uint64_t>(left_in_sector, bytes.size());
        visit(sector, offset, bytes.first(length));
        bytes = bytes.subspan(length);
        offset += length;
    }
}

}  // namespace

void SimFileBytes::write(std::uint64_t offset, ConstBytes bytes) {
    if (bytes.empty()) return;
    put(seen_, offset, bytes);
    waiting_.push_back({offset, {bytes.begin(), bytes.end()}});
}

void SimFileBytes::truncate(std::uint64_t size) {
    seen_.resize(size);
    waiting_.push_back({size, {}});
}

void SimFileBytes::sync() {
    for (const Change& change : waiting_) {
        if (change.bytes.empty()) {
            durable_.resize(change.offset);
        } else {
            put(durable_, change.offset, change.bytes);
        }
    }
    waiting_.clear();
}

void SimFileBytes::sync_in_part(Random& random, std::uint64_t survival) {
    Sectors sectors = draw_versions(random, survival);
    for (const Change& change : waiting_) keep_in_part(change, sectors, random, survival);
    waiting_.clear();
}

SimFileBytes::Sectors SimFileBytes::draw_versions(Random& random, std::uint64_t survival) const {
    Sectors sectors;
    for (const Change& change : waiting_) {
        for_each_sector(change.offset, change.bytes,
                        [&](std::uint64_t sector, std::uint64_t, ConstBytes) { ++sectors[sector].written; });
    }
    for (auto& [sector, versions] : sectors) {
        while (versions.surviving < versions.written && random.chance(survival)) ++versions.surviving;
    }
    return sectors;
}

void SimFileBytes::keep_in_part(const Change& change, Sectors& sectors, Random& random, std::uint64_t survival) {
    if (change.bytes.empty()) {
        if (random.chance(survival)) durable_.resize(change.offset);
        return;
    }
    for_each_sector(change.offset, change.bytes, [&](std::uint64_t sector, std::uint64_t offset, ConstBytes piece) {
        SectorVersions& versions = sectors[sector];
        const bool survives = versions.passed++ < versions.surviving;
        const bool grows = offset + piece.size() > durable_.size();
        if (survives) {
            put(durable_, offset, piece);
        } else if (grows && random.chance(survival)) {
            durable_.resize(offset + piece.size());
        }
    });
}

void SimFileBytes::flip(std::uint64_t offset, std::byte mask) {
    assert(offset < seen_.size());
    seen_[offset] ^= mask;
    if (offset < durable_.size()) durable_[offset] ^= mask;
}

}  // namespace duewheel
