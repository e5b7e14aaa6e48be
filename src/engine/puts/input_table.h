// How far each input of a shard has been taken.
//
// What is here is durable and applied; inputs whose position the batch being built or in flight changes are noted
// beside it. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "message/records/record.h"

namespace duewheel {

struct InputPosition {
    std::string input;        // its name
    std::int64_t offset = 0;  // of the next record to take
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

class InputTable {
  public:
    using Positions = std::map<std::string, InputPosition, std::less<>>;

    // Null where nothing has been taken. O(log n).
    const InputPosition* find(std::string_view input) const {
        const auto found = by_name_.find(input);
        return found == by_name_.end() ? nullptr : &found->second;
    }
    const Positions& all() const { return by_name_; }

    void set(InputPosition position) {
        std::string name = position.input;
        by_name_.insert_or_assign(std::move(name), std::move(position));
    }

    // The offsets that inputs get by the batch.
    std::map<std::string, std::int64_t, std::less<>> in_batch;

  private:
    Positions by_name_;
};

}  // namespace duewheel
