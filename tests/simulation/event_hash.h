// A hash of everything that happened in a run, in order: two runs of one seed have the same hash, with any compiler and
// optimization level; otherwise something depends on what it must not depend on.
#pragma once

#include <cstdint>
#include <string_view>

#include "shared/random.h"

namespace duewheel {

class EventHash {
  public:
    void add(std::uint64_t word) {
        std::uint64_t state = value_ ^ word;
        value_ = splitmix64(state) + (value_ << 1);
        ++events_;
    }
    void add(std::string_view text) {
        std::uint64_t sum = text.size();
        for (const char letter : text) sum = sum * 1099511628211u + static_cast<unsigned char>(letter);
        add(sum);
    }
    std::uint64_t value() const { return value_; }
    std::uint64_t events() const { return events_; }

  private:
    std::uint64_t value_ = 0x9e3779b97f4a7c15;
    std::uint64_t events_ = 0;
};

}  // namespace duewheel
