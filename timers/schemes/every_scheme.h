// Every timer queue of this project, by name: for what has to be done with each of them.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "schemes/calendar_wheel.h"
#include "schemes/duration_lanes.h"
#include "schemes/hashed_rounds_wheel.h"
#include "schemes/hashed_sorted_wheel.h"
#include "schemes/hierarchical_wheel.h"
#include "schemes/non_cascading_wheel.h"
#include "schemes/ordered_list.h"
#include "schemes/overflow_wheel.h"
#include "schemes/simple_wheel.h"
#include "schemes/timer_heap.h"
#include "schemes/unordered_list.h"
#include "wheel/timer_queue.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

// Calls visitor(name, std::type_identity<Queue>{}) for each, in the order of the cost table in wheel/timer_queue.h.
template <class Visitor>
void visit_every_scheme(Visitor&& visitor) {
    const auto visit = [&]<TimerQueue Queue>(std::string_view name, std::type_identity<Queue> type) {
        visitor(name, type);
    };
    visit("unordered_list", std::type_identity<UnorderedList>{});
    visit("ordered_list", std::type_identity<OrderedList>{});
    visit("binary_heap", std::type_identity<BinaryHeap>{});
    visit("quaternary_heap", std::type_identity<QuaternaryHeap>{});
    visit("simple_wheel", std::type_identity<SimpleWheel>{});
    visit("hashed_sorted_wheel", std::type_identity<HashedSortedWheel>{});
    visit("hashed_rounds_wheel", std::type_identity<HashedRoundsWheel>{});
    visit("hierarchical_wheel", std::type_identity<HierarchicalWheel>{});
    visit("overflow_wheel", std::type_identity<OverflowWheel>{});
    visit("non_cascading_wheel", std::type_identity<NonCascadingWheel>{});
    visit("calendar_wheel", std::type_identity<CalendarWheel>{});
    visit("duration_lanes", std::type_identity<DurationLanes>{});
    visit("timing_wheel", std::type_identity<TimingWheel>{});
}

}  // namespace duewheel
