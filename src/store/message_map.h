// A hash map by message id that never pauses to grow as a whole: a table of a million would be copied in 40 ms, in
// which nothing is delivered.
//
// It consists of 32 maps, and a hash of the id chooses one. Their shares of the ids rise from the first to the last to
// twice as much, so that they do not all double at the same size: each time about a thirty-second is copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "message/message.h"

namespace duewheel {

template <class Value>
class MessageMap {
  public:
    std::size_t size() const { return size_; }
    bool contains(MessageId id) const { return find(id) != nullptr; }
    // Null if there is none. Valid until the next change.
    const Value* find(MessageId id) const {
        const Map& map = maps_[map_of(id)];
        const auto found = map.find(id);
        return found == map.end() ? nullptr : &found->second;
    }
    void set(MessageId id, const Value& value) { size_ += maps_[map_of(id)].insert_or_assign(id, value).second; }
    void erase(MessageId id) { size_ -= maps_[map_of(id)].erase(id); }
    // Calls `visit` with each id and value, in no particular order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Map& map : maps_) {
            for (const auto& [id, value] : map) visit(id, value);
        }
    }
    // Its memory.
    std::size_t bytes() const {
        std::size_t buckets = 0;
        for (const Map& map : maps_) buckets += map.bucket_count();
        return buckets * (sizeof(std::pair<MessageId, Value>) + 1);
    }

  private:
    using Map = boost::unordered_flat_map<MessageId, Value>;

    static constexpr std::size_t kMaps = 32;
    static constexpr unsigned kSlotBits = 10;
    static constexpr std::array<std::uint8_t, 1u << kSlotBits> kMapOfSlot = [] {
        constexpr double kRatio = 1.0218971486541166;  // of the shares of neighbours: the 32nd root of 2
        std::array<std::uint8_t, 1u << kSlotBits> map_of_slot{};
        double share = (kRatio - 1) * static_cast<double>(map_of_slot.size());
        double end = share;
        std::uint8_t map = 0;
        for (std::size_t slot = 0; slot < map_of_slot.size(); ++slot) {
            while (static_cast<double>(slot) >= end && map < kMaps - 1) {
                ++map;
                end += share *= kRatio;
            }
            map_of_slot[slot] = map;
        }
        return map_of_slot;
    }();
    static std::size_t map_of(MessageId id) {
        constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, volume 3, section 6.4
        return kMapOfSlot[(id * kGolden) >> (64 - kSlotBits)];
    }

    std::array<Map, kMaps> maps_;
    std::size_t size_ = 0;
};

}  // namespace duewheel
