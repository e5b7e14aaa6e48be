#include "schemes/tested_schemes.h"

#include <cstddef>

#include "schemes/every_scheme.h"
#include "wheel/front_queues.h"

namespace duewheel {
namespace {

template <TimerQueue Queue, class... Arguments>
std::function<AnyTimerQueue(Tick)> maker(const Arguments&... arguments) {
    return [=](Tick now) { return AnyTimerQueue::of<Queue>(now, arguments...); };
}

std::vector<TestedScheme> schemes_with(std::size_t simple_wheel_slots) {
    using Slots = std::vector<std::size_t>;
    return {
        {"unordered_list", maker<UnorderedList>()},
        {"ordered_list", maker<OrderedList>()},
        {"binary_heap", maker<BinaryHeap>()},
        {"quaternary_heap", maker<QuaternaryHeap>()},
        {"simple_wheel", maker<SimpleWheel>(simple_wheel_slots)},
        {"hashed_sorted_wheel", maker<HashedSortedWheel>(std::size_t{8})},
        {"hashed_rounds_wheel", maker<HashedRoundsWheel>(std::size_t{8})},
        {"hierarchical_wheel", maker<HierarchicalWheel>()},
        {"hierarchical_wheel_of_4_3_5", maker<HierarchicalWheel>(Slots{4, 3, 5})},
        {"hierarchical_wheel_of_one_ring", maker<HierarchicalWheel>(Slots{8})},
        {"overflow_wheel", maker<OverflowWheel>()},
        {"overflow_wheel_of_3", maker<OverflowWheel>(std::size_t{3})},
        {"non_cascading_wheel", maker<NonCascadingWheel>()},
        {"calendar_wheel", maker<CalendarWheel>()},
        {"duration_lanes", maker<DurationLanes>()},
        {"timing_wheel", maker<TimingWheel>()},
        {"id_timing_wheel", maker<IdFront>()},
        {"intrusive_timing_wheel", maker<IntrusiveFront>()},
    };
}

}  // namespace

const std::vector<TestedScheme>& tested_schemes() {
    static const std::vector<TestedScheme> kSchemes = schemes_with(8192);
    return kSchemes;
}

const std::vector<TestedScheme>& tested_small_schemes() {
    static const std::vector<TestedScheme> kSchemes = schemes_with(300);
    return kSchemes;
}

}  // namespace duewheel
