// All orders, up to two or three preemptions, in which threads can meet inside a timer service: posting and sleeping,
// cancelling and firing, moving and both. Stopping and destruction are tested in interleaving_ends_test.cc. Built with
// a second library of the same sources, in which the marked points are active and the mailbox holds two entries, so
// that it overflows in every order too.
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/baton.h"
#include "runtime/interleaving_world.h"
#include "runtime/timer_service_probe.h"
#include <duewheel/embedded_timer.h>

namespace duewheel {
namespace {

TEST(Interleavings, the_explorer_finds_a_lost_update) {
    int wrong = 0;
    explore(
        [&] {
            auto value = std::make_shared<int>(0);
            const auto add = [value] {
                const int seen = *value;
                interleaving_point();
                *value = seen + 1;
            };
            return Interleaved{{add, add}, [value, &wrong] { wrong += *value != 2; }};
        },
        1, [] { return false; });
    EXPECT_GT(wrong, 0);
}

TEST(Interleavings, one_at_a_time_has_the_baton_favoured_or_not) {
    expect_all(
        [] {
            auto baton = std::make_shared<Baton>();
            auto inside = std::make_shared<int>(0);
            const auto work = [inside] {
                EXPECT_EQ(++*inside, 1);
                interleaving_point();
                EXPECT_EQ(--*inside, 0);
            };
            const auto drive = [=] {
                for (int i = 0; i < 3; ++i) {
                    const DriverLock lock(*baton);
                    work();
                }
            };
            const auto visit = [=] {
                const std::lock_guard lock(*baton);
                work();
            };
            return Interleaved{{drive, visit, visit}, [] {}};
        },
        2);
}

TEST(Interleavings, alternating_drivers_have_the_baton_one_at_a_time) {
    expect_all(
        [] {
            auto baton = std::make_shared<Baton>();
            auto inside = std::make_shared<int>(0);
            const auto drive = [=] {
                for (int i = 0; i < 3; ++i) {
                    const DriverLock lock(*baton);
                    EXPECT_EQ(++*inside, 1);
                    interleaving_point();
                    EXPECT_EQ(--*inside, 0);
                }
            };
            return Interleaved{{drive, drive}, [] {}};
        },
        3);
}

TEST(Interleavings, a_post_and_a_driver_that_goes_to_sleep_do_not_miss_each_other) {
    // The order at sleep: publish the time, fence, look at the mailbox again, sleep.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            const auto post = [world](std::chrono::nanoseconds at) {
                return [world, at] { static_cast<void>(world->schedule(at)); };
            };
            const auto drive = [world] {
                world->service.advance(TimerInstant(1ms));
                world->service.rest();
                world->service.advance(TimerInstant(2ms));
                world->service.rest();
            };
            return Interleaved{{drive, post(20ms), post(30ms)}, [world] {
                                   EXPECT_LE(world->alarm.at, TimerInstant(20ms)) << "the driver sleeps too long";
                                   EXPECT_EQ(world->service.next_expiry(), TimerInstant(20ms));
                               }};
        },
        2);
}

TEST(Interleavings, the_alarm_is_set_to_the_earliest_in_any_order) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            world->service.rest();
            const auto post = [world](std::chrono::nanoseconds at) {
                return [world, at] { static_cast<void>(world->schedule(at)); };
            };
            return Interleaved{{post(5ms), post(7ms), post(6ms)},
                               [world] { EXPECT_EQ(world->alarm.at, TimerInstant(5ms)); }};
        },
        3);
}

TEST(Interleavings, cancel_and_fire_have_one_winner) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(5ms);
            return Interleaved{{driving(world), cancelling(world), cancelling(world)}, [world] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   EXPECT_EQ(world->timeout.is_expired(), world->ran == 1);
                                   EXPECT_EQ(world->timeout.is_cancelled(), world->removed == 1);
                               }};
        },
        3);
}

TEST(Interleavings, a_cancel_meets_the_posting_of_its_timer) {
    // Others lost what was cancelled while it lay in a mailbox.
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            const auto come_and_go = [world] {
                Timeout timeout = world->schedule(5ms);
                world->removed += timeout.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{driving(world), come_and_go, come_and_go},
                               [world] { EXPECT_EQ(world->ran + world->removed, 2); }};
        },
        2);
}

TEST(Interleavings, a_move_is_either_done_or_refused) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(5ms);
            auto moved = std::make_shared<bool>(false);
            const auto move = [world, moved] { *moved = world->timeout.reschedule_at(TimerInstant(50ms)); };
            return Interleaved{{driving(world), move}, [world, moved] {
                                   EXPECT_EQ(world->ran, *moved ? 0 : 1);
                                   world->service.advance(TimerInstant(49ms));
                                   EXPECT_EQ(world->ran, *moved ? 0 : 1);
                                   world->service.advance(TimerInstant(50ms));
                                   EXPECT_EQ(world->ran, 1);
                               }};
        },
        4);
}

TEST(Interleavings, of_two_moves_at_once_the_earlier_one_wakes_the_driver) {
    // The one that came to the mailbox first woke the driver for its own deadline alone, and the other one, which found
    // the timer on its way there, had woken it in vain: it slept past the earlier deadline.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            world->timeout = world->schedule(1h);
            world->service.advance(TimerInstant(1ms));
            world->service.rest();
            const auto move = [world](std::chrono::nanoseconds at) {
                return [world, at] {
                    Timeout mine = world->timeout;
                    EXPECT_TRUE(mine.reschedule_at(TimerInstant(at)));
                };
            };
            const auto drive = [world] {
                world->service.advance(TimerInstant(2ms));
                world->service.rest();
            };
            return Interleaved{{drive, move(2h), move(20ms)},
                               [world] { EXPECT_LE(world->alarm.at, TimerInstant(world->timeout.remaining())); }};
        },
        2);
}

TEST(Interleavings, moves_and_a_cancel_of_one_timer) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(20ms);
            return Interleaved{{driving(world), moving(world, 5ms), moving(world, 40ms), cancelling(world)},
                               [world] { EXPECT_EQ(world->ran + world->removed, 1); }};
        },
        2);
}

TEST(Interleavings, stop_returns_each_timer_that_neither_ran_nor_was_cancelled) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(5ms);
            auto refused = std::make_shared<int>(0);
            const auto others = [world, refused] {
                Result<Timeout> second = world->service.schedule_at(TimerInstant(6ms), [world] { ++world->ran; });
                *refused += !second;
                world->removed += world->timeout.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{driving(world), stopping(world), others},
                               [=] { EXPECT_EQ(world->ran + world->removed + *refused + world->returned, 2); }};
        },
        2);
}

TEST(Interleavings, the_driver_cancels_a_timer_only_it_knows_while_another_thread_stops) {
    // The driver changes the word of such a timer by a plain store, for which it has to have the baton.
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            auto refused = std::make_shared<int>(0);
            const auto come_and_go = [world, refused] {
                world->service.advance(TimerInstant(1ms));
                world->service.advance(TimerInstant(2ms));
                Result<Timeout> timeout = world->service.schedule_at(TimerInstant(5ms), [world] { ++world->ran; });
                *refused += !timeout;
                if (timeout) world->removed += timeout->cancel() == CancelOutcome::removed;
            };
            return Interleaved{{come_and_go, stopping(world)}, [=] {
                                   EXPECT_EQ(world->removed + *refused + world->returned, 1);
                                   EXPECT_EQ(world->service.statistics().cancelled,
                                             1U - static_cast<unsigned>(*refused));
                               }};
        },
        3);
}

TEST(Interleavings, stop_twice_at_once_and_a_move) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = world->schedule(5ms);
            world->service.advance(TimerInstant(1ms));
            return Interleaved{{stopping(world), stopping(world), moving(world, 40ms)}, [world] {
                                   EXPECT_EQ(world->returned, 1);
                                   EXPECT_TRUE(world->timeout.is_cancelled());
                               }};
        },
        3);
}

TEST(Interleavings, a_periodic_timer_is_cancelled_in_the_gap_before_its_next_run) {
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout = repeat_with_delay(*world);
            const auto cancel = [world] {
                Timeout mine = world->timeout;
                EXPECT_NE(mine.cancel(), CancelOutcome::already_done);
            };
            return Interleaved{{driving(world), cancel}, [world] {
                                   expect_no_run(*world);
                                   EXPECT_TRUE(world->timeout.is_cancelled());
                               }};
        },
        4);
}

TEST(Interleavings, a_timer_at_the_wall_is_cancelled_as_it_falls_due) {
    // A cancel between the driver's check of the mailbox and the firing left it in the list of timers at the wall
    // clock, through which its next use was found when the wall clock was set.
    expect_all_in_world(
        [](const std::shared_ptr<World>& world) {
            world->timeout =
                world->service.schedule_at(world->clock.wall_now() + 5ms, [world = world.get()] { ++world->ran; })
                    .value();
            world->service.rest();
            world->clock.advance(10ms);
            return Interleaved{{driving(world), cancelling(world)}, [world] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   EXPECT_EQ(world->service.pending(), 0U);
                                   EXPECT_FALSE(TimerServiceProbe::lists_any_at_wall(world->service));
                               }};
        },
        3);
}

TEST(Interleavings, cancel_and_wait_returns_when_the_task_has) {
    // The number of the thread that ran the node before was still in it when the next run began; if that was the
    // waiting thread's own, it took itself for the one it would wait for, and returned at once.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto returned = std::make_shared<bool>(false);
            const auto wait = [world, returned] {
                {
                    TimerService other({}, world->clock);
                    static_cast<void>(other.schedule_at(TimerInstant(), [] {}));
                    other.advance();
                    static_cast<void>(other.schedule_at(TimerInstant(), [] {}));
                    other.advance();
                }
                // On the node that this thread has just run.
                Timeout timeout = world->service
                                      .schedule_at(TimerInstant(5ms),
                                                   [returned] {
                                                       interleaving_point();
                                                       *returned = true;
                                                   })
                                      .value();
                const bool removed = timeout.cancel_and_wait() == CancelOutcome::removed;
                EXPECT_TRUE(removed || *returned);
            };
            return Interleaved{{wait, [world] { world->drive(); }}, [world] { world->check_end(); }};
        },
        2);
}

TEST(Interleavings, tasks_that_wait_for_each_other_all_return) {
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(holding(held));
            auto ring = std::make_shared<std::array<Timeout, 2>>();
            for (std::size_t i = 0; i < 2; ++i) {
                (*ring)[i] = world->service
                                 .schedule_at(TimerInstant(5ms),
                                              [ring, i] {
                                                  interleaving_point();
                                                  (*ring)[1 - i].cancel_and_wait();
                                              })
                                 .value();
            }
            world->drive();
            const auto run = [held](std::size_t i) { return [held, i] { (*held)[i](); }; };
            return Interleaved{{run(0), run(1)}, [world, held, ring] {
                                   held->clear();
                                   ring->fill(Timeout());
                                   world->check_end();
                               }};
        },
        4);
}

TEST(Interleavings, a_handed_task_is_run_or_cancelled) {
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(holding(held));
            world->timeout = world->schedule(5ms);
            world->drive();
            return Interleaved{{[held] { held->front()(); }, cancelling(world), cancelling(world)}, [world, held] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   held->clear();
                                   world->check_end();
                               }};
        },
        3);
}

}  // namespace
}  // namespace duewheel
