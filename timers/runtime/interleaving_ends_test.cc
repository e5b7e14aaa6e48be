// All orders in which stopping or destroying a service can coincide with work on other threads, and with coroutines
// that are resumed: nothing is lost, and nothing runs in two places at once.
#include <memory>
#include <vector>

#include "runtime/interleaving_world.h"
#include <duewheel/coroutine.h>
#include <duewheel/embedded_timer.h>
#include <duewheel/task.h>

namespace duewheel {
namespace {

// Coroutines of one chain, of which one goes on at a time.
struct Chain {
    void go_on() {
        EXPECT_EQ(++running, 1);
        interleaving_point();
        --running;
    }

    World world;
    int running = 0;
    int ended = 0;
};

Task<void> doze(Chain& chain, std::chrono::nanoseconds takes) {
    static_cast<void>(co_await sleep_for(chain.world.service, takes));
    chain.go_on();
    ++chain.ended;
}

Task<void> doze_at_most(Chain& chain, std::chrono::nanoseconds limit, std::chrono::nanoseconds takes) {
    const auto work = [](Chain& of, std::chrono::nanoseconds time) -> Task<void> {
        static_cast<void>(co_await sleep_for(of.world.service, time));
        of.go_on();
    };
    static_cast<void>(co_await with_timeout(chain.world.service, limit, work(chain, takes)));
    chain.go_on();
    ++chain.ended;
}

TEST(Interleavings, a_periodic_timer_is_cancelled_and_the_service_stopped_as_its_run_ends) {
    // Who cancels what is on its way to the mailbox has its task; who finds the mailbox closed must not touch that.
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(holding(held));
            world->timeout = repeat_with_delay(*world);
            world->drive();
            return Interleaved{{[held] { held->front()(); }, cancelling(world), stopping(world)}, [world, held] {
                                   held->clear();
                                   EXPECT_TRUE(world->timeout.is_cancelled());
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_move_and_a_cancel_of_one_timer_while_the_service_stops) {
    // A move that found the mailbox closed left alone what had been cancelled meanwhile, and so did the canceller, who
    // had found it on its way to the mailbox: its node was lost.
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(20ms);
            world->service.advance(TimerInstant(1ms));
            return Interleaved{{moving(world, 40ms), cancelling(world), stopping(world)}, [world] {
                                   EXPECT_EQ(world->removed + world->returned, 1);
                                   EXPECT_EQ(world->service.statistics().cancelled, 1U);
                               }};
        },
        3);
}

TEST(Interleavings, a_move_a_pass_and_a_stop_lose_no_timer) {
    // A pass found the timer that was about to be posted for its move, and did not add it to the wheel; then the
    // mailbox was closed, and the timer had no owner: it never ran, and stop() did not return it.
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(5ms);
            world->service.advance(TimerInstant(1ms));
            return Interleaved{{driving(world), moving(world, 50ms), stopping(world)}, [world] {
                                   EXPECT_EQ(world->ran + world->returned, 1);
                                   EXPECT_FALSE(world->timeout.is_pending());
                               }};
        },
        3);
}

TEST(Interleavings, a_sleep_that_is_cancelled_as_its_service_stops_ends) {
    // The same of a coroutine whose stop token says stop: it hung for ever.
    struct Scene {
        World world;
        EmbeddedTimer timer;
        int ran = 0;
    };
    expect_all(
        [] {
            auto scene = std::make_shared<Scene>();
            EXPECT_EQ(scene->timer.arm_at(scene->world.service, TimerInstant(5ms), [of = scene.get()] { ++of->ran; }),
                      EmbeddedTimer::Arming::armed);
            scene->world.service.advance(TimerInstant(1ms));
            return Interleaved{{[scene] { scene->world.drive(); }, [scene] { scene->timer.fire_now(); },
                                [scene] { static_cast<void>(scene->world.service.stop()); }},
                               [scene] { EXPECT_EQ(scene->ran, 1); }};
        },
        3);
}

TEST(Interleavings, a_limit_that_comes_while_its_work_begins_elsewhere_does_not_destroy_it) {
    // Work was begun on another thread than the driver's, and its limit came before the coroutine had suspended. That
    // went on on its own thread and destroyed the work, which the driver went on with.
    for (const bool stops : {false, true}) {
        expect_all(
            [stops] {
                auto scene = std::make_shared<Chain>();
                const auto drive = [scene, stops] {
                    scene->world.drive();
                    if (stops) static_cast<void>(scene->world.service.stop());
                };
                return Interleaved{{[scene] { start(doze_at_most(*scene, 0ns, 1ns)); }, drive}, [scene] {
                                       scene->world.drive();
                                       EXPECT_EQ(scene->ended, 1);
                                   }};
            },
            3);
    }
}

TEST(Interleavings, reading_the_service_beside_its_driver_does_not_make_a_driver) {
    // Asio's waits end on any thread, and the last one sets the alarm again: that thread was mistaken for the driver's,
    // and a stop on it continued coroutines beside the driver.
    expect_all(
        [] {
            auto scene = std::make_shared<Chain>();
            start(doze(*scene, 5ms));
            start(doze(*scene, 5ms));
            const auto look_and_stop = [scene] {
                scene->world.service.rest();
                static_cast<void>(scene->world.service.stop());
            };
            return Interleaved{{look_and_stop, [scene] { scene->world.drive(); }},
                               [scene] { EXPECT_EQ(scene->ended, 2); }};
        },
        3);
}

TEST(Interleavings, a_service_goes_when_the_executor_has_run_what_was_dispatched) {
    // It waited for timers alone: what an executor ran later found a service that was gone.
    struct Scene {
        explicit Scene(TimerOptions options) : world(std::make_unique<World>(std::move(options))) {}
        std::unique_ptr<World> world;
        bool is_gone = false;
        int ran = 0;
    };
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto scene = std::make_shared<Scene>(holding(held));
            scene->world->service.dispatch([&of = *scene, &service = scene->world->service] {
                EXPECT_FALSE(of.is_gone);
                of.ran += service.schedule_after(5ms, [] {}).ok() ? 1 : 2;
            });
            const auto end = [scene] {
                scene->world.reset();
                scene->is_gone = true;
            };
            return Interleaved{{end, [held] { held->front()(); }}, [scene] { EXPECT_NE(scene->ran, 0); }};
        },
        3);
}

TEST(Interleavings, a_stop_and_the_driver_never_resume_a_coroutine_twice) {
    // Work and its limit are due as the service is stopped; the thread that stopped went on with one of them while the
    // driver went on with the other, and one destroyed what the other ran.
    expect_all(
        [] {
            auto scene = std::make_shared<Chain>();
            start(doze_at_most(*scene, 5ms, 5ms));
            return Interleaved{
                {[scene] { static_cast<void>(scene->world.service.stop()); }, [scene] { scene->world.drive(); }},
                [scene] { EXPECT_EQ(scene->ended, 1); }};
        },
        3);
}

TEST(Interleavings, an_embedded_timer_is_withdrawn_or_runs) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            auto timer = std::make_shared<EmbeddedTimer>();
            timer->arm_at(world->service, TimerInstant(5ms), [world = world.get()] { ++world->ran; });
            const auto withdraw = [world, timer] { world->removed += timer->withdraw() && world->ran == 0; };
            return Interleaved{{driving(world), withdraw},
                               [world, timer] { EXPECT_EQ(world->ran + world->removed, 1); }};
        },
        4);
}

}  // namespace
}  // namespace duewheel
