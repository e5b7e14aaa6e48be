// Where a timer lies, and what a scheme looks like from outside: enough to draw it and to test the literature's worked
// examples, and not more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <duewheel/timing_wheel.h>

namespace duewheel {

// A slot of one of the rows that rows() lists.
struct Place {
    std::size_t row = 0;
    std::size_t slot = 0;
    Tick rounds = 0;  // how often the hand comes by before it is the timer's turn

    friend bool operator==(const Place&, const Place&) = default;
};

// A wheel, a list or a lane.
struct Row {
    std::string name;
    std::size_t slots = 0;
    std::optional<std::size_t> hand;  // the slot it points at
};

}  // namespace duewheel
