// All orders in which periodic timers are moved, cancelled and shut down while they run.
#include <memory>
#include <utility>
#include <vector>

#include "timer/interleaving_world.h"

namespace duewheel {
namespace {

std::shared_ptr<Timeout> repeat(World& world) {
    return std::make_shared<Timeout>(
        world.service.schedule_at_fixed_rate(5ms, 1h, [&world, token = world.token] { ++world.ran; }).value());
}

TEST(Interleavings, a_move_of_a_periodic_timer_is_done_or_refused_as_it_runs) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = repeat(*world);
            auto moved = std::make_shared<bool>(false);
            const auto move = [timeout, moved] {
                Timeout mine = *timeout;
                *moved = mine.reschedule_at(TimerInstant(20ms));
            };
            return Interleaved{{[world] { world->drive(); }, move}, [=] {
                                   const int ran = world->ran;
                                   world->service.advance(TimerInstant(20ms));
                                   EXPECT_EQ(world->ran - ran, *moved ? 1 : 0);
                                   timeout->cancel();
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        4);
}

TEST(Interleavings, a_periodic_timer_is_changed_and_cancelled_as_an_executor_ends_its_run) {
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(
                TimerOptions{.executor = [held](TimerTask task) { held->push_back(std::move(task)); }});
            auto timeout = repeat(*world);
            world->drive();
            const auto change = [timeout] {
                Timeout mine = *timeout;
                static_cast<void>(mine.set_period(2h));
                static_cast<void>(mine.reschedule_at(TimerInstant(20ms)));
            };
            const auto cancel = [timeout] {
                Timeout mine = *timeout;
                mine.cancel();
            };
            return Interleaved{{[held] { held->front()(); }, change, cancel}, [world, held, timeout] {
                                   held->clear();
                                   EXPECT_TRUE(timeout->is_cancelled());
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_timer_that_arms_itself_again_is_cancelled_at_any_moment) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto again = [world = world.get(), token = world->token] {
                ++world->ran;
                static_cast<void>(TimerService::current().reschedule_at(TimerInstant(30min)));
            };
            auto timeout =
                std::make_shared<Timeout>(world->service.schedule_at(TimerInstant(5ms), std::move(again)).value());
            const auto cancel = [timeout] {
                Timeout mine = *timeout;
                EXPECT_NE(mine.cancel_and_wait(), CancelOutcome::already_done);
            };
            return Interleaved{{[world] { world->drive(); }, cancel}, [world, timeout] {
                                   const int ran = world->ran;
                                   world->service.advance(TimerInstant(1h));
                                   EXPECT_EQ(world->ran, ran) << "a run after the cancel";
                                   EXPECT_FALSE(timeout->is_pending());
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        4);
}

TEST(Interleavings, a_shutdown_meets_a_pass_and_what_comes) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = repeat(*world);
            auto refused = std::make_shared<int>(0);
            auto once = std::make_shared<Timeout>(world->schedule(8ms));
            const auto come = [world, refused] {
                const auto count = [world = world.get(), token = world->token] { ++world->removed; };
                *refused += !world->service.schedule_at(TimerInstant(5ms), count).ok();
            };
            const auto shut = [world] { static_cast<void>(world->service.shutdown()); };
            return Interleaved{{[world] { world->drive(); }, shut, come}, [=] {
                                   world->service.advance(TimerInstant(10ms));
                                   EXPECT_EQ(world->removed + *refused, 1);
                                   EXPECT_TRUE(once->is_expired());
                                   EXPECT_TRUE(timeout->is_cancelled());
                                   *timeout = *once = Timeout();
                                   world->check_end();
                               }};
        },
        2);
}

}  // namespace
}  // namespace duewheel
