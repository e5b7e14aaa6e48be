// All orders in which periodic timers are moved, cancelled and shut down while they run.
#include <memory>
#include <utility>
#include <vector>

#include "runtime/interleaving_world.h"

namespace duewheel {
namespace {

Timeout repeat(World& world) {
    return world.service.schedule_at_fixed_rate(5ms, 1h, [&world, token = world.token] { ++world.ran; }).value();
}

TEST(Interleavings, a_move_of_a_periodic_timer_is_done_or_refused_as_it_runs) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = repeat(*world);
            auto moved = std::make_shared<bool>(false);
            const auto move = [world, moved] {
                Timeout mine = world->timeout;
                *moved = mine.reschedule_at(TimerInstant(20ms));
            };
            return Interleaved{{driving(world), move}, [=] {
                                   const int ran = world->ran;
                                   world->service.advance(TimerInstant(20ms));
                                   EXPECT_EQ(world->ran - ran, *moved ? 1 : 0);
                                   world->timeout.cancel();
                               }};
        },
        4);
}

TEST(Interleavings, a_periodic_timer_is_changed_and_cancelled_as_an_executor_ends_its_run) {
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(holding(held));
            world->timeout = repeat(*world);
            world->drive();
            const auto change = [world] {
                Timeout mine = world->timeout;
                static_cast<void>(mine.set_period(2h));
                static_cast<void>(mine.reschedule_at(TimerInstant(20ms)));
            };
            return Interleaved{{[held] { held->front()(); }, change, cancelling(world)}, [world, held] {
                                   held->clear();
                                   EXPECT_TRUE(world->timeout.is_cancelled());
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_timer_that_arms_itself_again_is_cancelled_at_any_moment) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            auto again = [world = world.get(), token = world->token] {
                ++world->ran;
                static_cast<void>(TimerService::current().reschedule_at(TimerInstant(30min)));
            };
            world->timeout = world->service.schedule_at(TimerInstant(5ms), std::move(again)).value();
            const auto cancel = [world] {
                Timeout mine = world->timeout;
                EXPECT_NE(mine.cancel_and_wait(), CancelOutcome::already_done);
            };
            return Interleaved{{driving(world), cancel}, [world] {
                                   expect_no_run(*world);
                                   EXPECT_FALSE(world->timeout.is_pending());
                               }};
        },
        4);
}

TEST(Interleavings, a_shutdown_meets_a_pass_and_what_comes) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = repeat(*world);
            auto refused = std::make_shared<int>(0);
            auto once = std::make_shared<Timeout>(world->schedule(8ms));
            const auto come = [world, refused] {
                const auto count = [world = world.get(), token = world->token] { ++world->removed; };
                *refused += !world->service.schedule_at(TimerInstant(5ms), count).ok();
            };
            const auto shut = [world] { static_cast<void>(world->service.shutdown()); };
            return Interleaved{{driving(world), shut, come}, [=] {
                                   world->service.advance(TimerInstant(10ms));
                                   EXPECT_EQ(world->removed + *refused, 1);
                                   EXPECT_TRUE(once->is_expired());
                                   EXPECT_TRUE(world->timeout.is_cancelled());
                                   *once = Timeout();
                               }};
        },
        2);
}

}  // namespace
}  // namespace duewheel
