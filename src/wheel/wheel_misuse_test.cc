// That check() of the fronts passes over no damage, that of TimingWheel is in timing_wheel_test.cc; and that a wheel
// says so when it is destroyed in the middle of a pass.
#include <cstdint>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "wheel/fronts_by_id.h"
#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

struct IdTimingWheelProbe {
    static void miscount(IdTimingWheel& wheel) { ++wheel.size_; }
    static void set_deadline(IdTimingWheel& wheel, IdTimingWheel::Id id, Tick deadline) {
        wheel.levels_[IdTimingWheel::timer_of(id)].deadline = deadline;
    }
    static void set_place(IdTimingWheel& wheel, IdTimingWheel::Id id, std::uint32_t place) {
        wheel.levels_[IdTimingWheel::timer_of(id)].place = place;
    }
};

struct IntrusiveTimingWheelProbe {
    template <class Wheel>
    static void miscount(Wheel& wheel) {
        ++wheel.size_;
    }
    template <class Wheel>
    static void clear_slot_bit(Wheel& wheel, unsigned level, unsigned slot) {
        wheel.occupied_[level] &= ~(std::uint64_t{1} << slot);
    }
    template <class Wheel>
    static void clear_level_bit(Wheel& wheel, unsigned level) {
        wheel.occupied_levels_ &= ~(1U << level);
    }
    template <class Wheel>
    static void set_position(Wheel& wheel, Tick position) {
        wheel.position_ = position;
    }
    template <class Wheel>
    static void remember_earliest(Wheel& wheel, Tick earliest) {
        wheel.earliest_ = earliest;
    }
};

namespace {

// With timers enough that the wheel would go on with the next one.
template <class Front>
void destroy_in_sink() {
    auto* const front = new Front(100);
    for (Id id = 0; id < 100; ++id) front->arm(id, 5);
    front->wheel.advance_to(5, [front](const auto&...) { delete front; });
}

TEST(WheelDeathTest, says_when_a_wheel_is_destroyed_by_its_own_sink) {
    // Trap: a callback that destroys the wheel, which was forbidden in words alone: the pass went on in freed memory.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(destroy_in_sink<Handles>(), "destroyed by its own sink");
    EXPECT_DEATH(destroy_in_sink<OwnIds>(), "destroyed by its own sink");
    EXPECT_DEATH(destroy_in_sink<Members>(), "destroyed by its own sink");
}

TEST(WheelDeathTest, is_destroyed_after_a_pass_that_stopped_or_threw) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 100; ++cookie) wheel.schedule(5, cookie);
    EXPECT_EQ(wheel.advance_to(
                  5, [](std::uint64_t, Tick) {}, 10),
              10U);
    EXPECT_THROW(wheel.advance_to(5, [](std::uint64_t, Tick) { throw std::runtime_error("poison"); }),
                 std::runtime_error);
}

TEST(IdTimingWheelDeathTest, check_finds_damage) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto damaged = [](const std::function<void(IdTimingWheel&)>& damage) {
        IdTimingWheel wheel(10, 10);
        wheel.schedule(1, 130);
        wheel.schedule(2, 131);
        wheel.schedule(3, 7);  // late
        EXPECT_EQ(wheel.next_expiry(), 10U);
        wheel.check();
        damage(wheel);
        wheel.check();
    };
    using Probe = IdTimingWheelProbe;
    constexpr std::uint32_t kNowhere = 11 * 128;
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::miscount(wheel); }), "size");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_deadline(wheel, 1, kNever); }), "size");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_deadline(wheel, 1, 127); }), "begins no later");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_deadline(wheel, 3, 11); }), "late timer is due");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_place(wheel, 1, 128 + 3); }), "has an entry");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_place(wheel, 1, kNowhere + 2); }), "has an entry");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_place(wheel, 2, kNowhere); }), "lies in a slot");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_place(wheel, 3, kNowhere); }), "only one there");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_place(wheel, 1, 4000); }), "place is a slot");
}

TEST(IntrusiveTimingWheelDeathTest, check_finds_damage) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    struct Timer : IntrusiveTimer {};
    using Wheel = IntrusiveTimingWheel<Timer>;
    const auto damaged = [](const std::function<void(Wheel&)>& damage) {
        Wheel wheel(100);
        Timer near;
        Timer far;
        wheel.schedule(near, 101);
        wheel.schedule(far, 5000);
        wheel.check();
        damage(wheel);
        wheel.check();
        wheel.clear();  // or the timers' own assertion would pass for a finding
    };
    using Probe = IntrusiveTimingWheelProbe;
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::miscount(wheel); }), "size");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::clear_slot_bit(wheel, 0, 37); }), "slot's bit");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::clear_level_bit(wheel, 2); }), "level's bit");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_position(wheel, 0); }), "highest differing digit");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::set_position(wheel, 101); }), "not after the time");
    EXPECT_DEATH(damaged([](auto& wheel) { Probe::remember_earliest(wheel, 200); }), "earliest");
}

}  // namespace
}  // namespace duewheel
