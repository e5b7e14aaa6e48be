// Every order, up to two or three preemptions, in which threads can meet inside a timer service: posting against
// sleeping, cancelling against firing, stopping against everything. Built on a second library of the same sources whose
// marked points are alive and whose mailbox holds two entries, so that it also runs over in every order.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "timer/baton.h"
#include "timer/interleaving_explorer.h"
#include "timer/interleaving_point.h"
#include "timer/timer_service_probe.h"
#include <duewheel/coroutine.h>
#include <duewheel/embedded_timer.h>
#include <duewheel/manual_clock.h>
#include <duewheel/task.h>
#include <duewheel/timer_service.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

// Notes what it is set to.
class NotedAlarm final : public TimerAlarm {
  public:
    void set(TimerInstant instant) override { at = instant; }
    void wait() override {}
    TimerInstant at = kNeverInstant;
};

// What each scenario has: a service, its driver's moves, and figures that the check compares.
struct World {
    explicit World(TimerOptions options = {}) : service(std::move(options), clock) { service.set_alarm(&alarm); }

    // A pass at 10 ms, at which all timers of the scenarios are due.
    void drive() {
        service.advance(TimerInstant(10ms));
        service.rest();
    }
    Timeout schedule(std::chrono::nanoseconds at) {
        return service.schedule_at(TimerInstant(at), [this, token = token] { ++ran; }).value();
    }
    // Nothing is left, and nothing is kept that should have gone.
    void check_end() {
        service.advance(TimerInstant(1h));
        EXPECT_EQ(service.pending(), 0U);
        EXPECT_EQ(token.use_count(), 1);
    }

    ManualClock clock;
    NotedAlarm alarm;
    std::shared_ptr<int> token = std::make_shared<int>();
    std::atomic<int> ran{0};
    std::atomic<int> removed{0};
    TimerService service;
};

void expect_all(const std::function<Interleaved()>& make, unsigned preemptions) {
    const Exploration found = explore(make, preemptions, [] { return testing::Test::HasFailure(); });
    std::string decisions;
    for (const unsigned decision : found.failed) decisions += " " + std::to_string(decision);
    EXPECT_TRUE(found.failed.empty()) << "after " << found.runs << " runs, with the decisions" << decisions;
    EXPECT_TRUE(found.is_complete) << "too many orders: " << found.runs;
    EXPECT_GT(found.runs, 10U) << "no order was explored";
    testing::Test::RecordProperty("runs", static_cast<int>(found.runs));
    std::printf("             %zu runs, %zu decisions\n", found.runs, found.decisions);
}

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

TEST(Interleavings, who_drives_by_turns_has_the_baton_alone) {
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

TEST(Interleavings, who_posts_and_who_goes_to_sleep_do_not_miss_each_other) {
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

TEST(Interleavings, the_alarm_is_set_to_the_earliest_whoever_is_first) {
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
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(5ms));
            const auto cancel = [world, timeout] {
                Timeout mine = *timeout;
                world->removed += mine.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{[world] { world->drive(); }, cancel, cancel}, [world, timeout] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   EXPECT_EQ(timeout->is_expired(), world->ran == 1);
                                   EXPECT_EQ(timeout->is_cancelled(), world->removed == 1);
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_cancel_meets_the_posting_of_its_timer) {
    // Others lost what was cancelled while it lay in a mailbox.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            const auto come_and_go = [world] {
                Timeout timeout = world->schedule(5ms);
                world->removed += timeout.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{[world] { world->drive(); }, come_and_go, come_and_go}, [world] {
                                   EXPECT_EQ(world->ran + world->removed, 2);
                                   world->check_end();
                               }};
        },
        2);
}

TEST(Interleavings, a_move_is_either_done_or_refused) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(5ms));
            auto moved = std::make_shared<bool>(false);
            const auto move = [world, timeout, moved] { *moved = timeout->reschedule_at(TimerInstant(50ms)); };
            return Interleaved{{[world] { world->drive(); }, move}, [world, timeout, moved] {
                                   EXPECT_EQ(world->ran, *moved ? 0 : 1);
                                   world->service.advance(TimerInstant(49ms));
                                   EXPECT_EQ(world->ran, *moved ? 0 : 1);
                                   world->service.advance(TimerInstant(50ms));
                                   EXPECT_EQ(world->ran, 1);
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        4);
}

TEST(Interleavings, moves_and_a_cancel_of_one_timer) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(20ms));
            const auto move = [timeout](std::chrono::nanoseconds at) {
                return [timeout, at] {
                    Timeout mine = *timeout;
                    static_cast<void>(mine.reschedule_at(TimerInstant(at)));
                };
            };
            const auto cancel = [world, timeout] {
                Timeout mine = *timeout;
                world->removed += mine.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{[world] { world->drive(); }, move(5ms), move(40ms), cancel}, [world, timeout] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        2);
}

TEST(Interleavings, stop_returns_each_timer_that_neither_ran_nor_was_cancelled) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(5ms));
            auto refused = std::make_shared<int>(0);
            auto returned = std::make_shared<std::size_t>(0);
            const auto stop = [world, returned] { *returned += world->service.stop().size(); };
            const auto others = [world, timeout, refused] {
                Result<Timeout> second = world->service.schedule_at(TimerInstant(6ms), [world] { ++world->ran; });
                *refused += !second;
                world->removed += timeout->cancel() == CancelOutcome::removed;
            };
            return Interleaved{{[world] { world->drive(); }, stop, others}, [=] {
                                   EXPECT_EQ(world->ran + world->removed + *refused + static_cast<int>(*returned), 2);
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        2);
}

TEST(Interleavings, the_driver_cancels_what_it_alone_knows_while_another_thread_stops) {
    // Of such a timer the driver changes the word by a plain store, for which it has to have the baton.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto refused = std::make_shared<int>(0);
            auto returned = std::make_shared<std::size_t>(0);
            const auto come_and_go = [world, refused] {
                world->service.advance(TimerInstant(1ms));
                world->service.advance(TimerInstant(2ms));
                Result<Timeout> timeout = world->service.schedule_at(TimerInstant(5ms), [world] { ++world->ran; });
                *refused += !timeout;
                if (timeout) world->removed += timeout->cancel() == CancelOutcome::removed;
            };
            const auto stop = [world, returned] { *returned += world->service.stop().size(); };
            return Interleaved{{come_and_go, stop}, [=] {
                                   EXPECT_EQ(world->removed + *refused + static_cast<int>(*returned), 1);
                                   EXPECT_EQ(world->service.statistics().cancelled,
                                             1U - static_cast<unsigned>(*refused));
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, stop_twice_at_once_and_a_move) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(5ms));
            world->service.advance(TimerInstant(1ms));
            auto returned = std::make_shared<std::atomic<std::size_t>>(0);
            const auto stop = [world, returned] { *returned += world->service.stop().size(); };
            const auto move = [timeout] { static_cast<void>(timeout->reschedule_at(TimerInstant(40ms))); };
            return Interleaved{{stop, stop, move}, [=] {
                                   EXPECT_EQ(*returned, 1U);
                                   EXPECT_TRUE(timeout->is_cancelled());
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_periodic_timer_is_cancelled_in_the_gap_before_its_next_run) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(
                world->service
                    .schedule_with_fixed_delay(0ms, 1h, [world = world.get(), token = world->token] { ++world->ran; })
                    .value());
            const auto cancel = [timeout] {
                Timeout mine = *timeout;
                EXPECT_NE(mine.cancel(), CancelOutcome::already_done);
            };
            return Interleaved{{[world] { world->drive(); }, cancel}, [world, timeout] {
                                   const int ran = world->ran;
                                   world->service.advance(TimerInstant(2h));
                                   EXPECT_EQ(world->ran, ran) << "a run after the cancel";
                                   EXPECT_TRUE(timeout->is_cancelled());
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        4);
}

TEST(Interleavings, a_timer_at_the_wall_is_cancelled_as_it_falls_due) {
    // Who cancelled it between the driver's look at the mailbox and its firing left it in the list of those at the
    // wall, which was followed into its next use when somebody set the wall.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(
                world->service.schedule_at(world->clock.wall_now() + 5ms, [world = world.get()] { ++world->ran; })
                    .value());
            world->service.rest();
            world->clock.advance(10ms);
            const auto cancel = [world, timeout] { world->removed += timeout->cancel() == CancelOutcome::removed; };
            return Interleaved{{[world] { world->drive(); }, cancel}, [world, timeout] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   EXPECT_EQ(world->service.pending(), 0U);
                                   EXPECT_FALSE(TimerServiceProbe::lists_any_at_wall(world->service));
                                   *timeout = Timeout();
                                   world->check_end();
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
            auto world = std::make_shared<World>(
                TimerOptions{.executor = [held](TimerTask task) { held->push_back(std::move(task)); }});
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
            auto world = std::make_shared<World>(
                TimerOptions{.executor = [held](TimerTask task) { held->push_back(std::move(task)); }});
            auto timeout = std::make_shared<Timeout>(world->schedule(5ms));
            world->drive();
            const auto cancel = [world, timeout] {
                Timeout mine = *timeout;
                world->removed += mine.cancel() == CancelOutcome::removed;
            };
            return Interleaved{{[held] { held->front()(); }, cancel, cancel}, [world, held, timeout] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   held->clear();
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_periodic_timer_is_cancelled_and_the_service_stopped_as_its_run_ends) {
    // Who cancels what is on its way to the mailbox has its task; who finds the mailbox closed must not touch that.
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto world = std::make_shared<World>(
                TimerOptions{.executor = [held](TimerTask task) { held->push_back(std::move(task)); }});
            auto timeout = std::make_shared<Timeout>(
                world->service
                    .schedule_with_fixed_delay(0ms, 1h, [world = world.get(), token = world->token] { ++world->ran; })
                    .value());
            world->drive();
            const auto cancel = [timeout] {
                Timeout mine = *timeout;
                mine.cancel();
            };
            const auto stop = [world] { static_cast<void>(world->service.stop()); };
            return Interleaved{{[held] { held->front()(); }, cancel, stop}, [world, held, timeout] {
                                   held->clear();
                                   EXPECT_TRUE(timeout->is_cancelled());
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_move_and_a_cancel_of_one_timer_while_the_service_stops) {
    // A move that found the mailbox closed left alone what had been cancelled meanwhile, and so did the canceller, who
    // had found it on its way to the mailbox: its node was lost.
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timeout = std::make_shared<Timeout>(world->schedule(20ms));
            world->service.advance(TimerInstant(1ms));
            auto returned = std::make_shared<std::size_t>(0);
            const auto move = [timeout] {
                Timeout mine = *timeout;
                static_cast<void>(mine.reschedule_at(TimerInstant(40ms)));
            };
            const auto cancel = [world, timeout] {
                Timeout mine = *timeout;
                world->removed += mine.cancel() == CancelOutcome::removed;
            };
            const auto stop = [world, returned] { *returned += world->service.stop().size(); };
            return Interleaved{{move, cancel, stop}, [world, timeout, returned] {
                                   EXPECT_EQ(world->removed + static_cast<int>(*returned), 1);
                                   EXPECT_EQ(world->service.statistics().cancelled, 1U);
                                   *timeout = Timeout();
                                   world->check_end();
                               }};
        },
        3);
}

TEST(Interleavings, a_service_goes_when_the_executor_has_run_what_was_dispatched) {
    // It waited for timers alone: what an executor ran later found a service that was gone.
    struct Scene {
        explicit Scene(const TimerExecutor& executor)
            : world(std::make_unique<World>(TimerOptions{.executor = executor})) {}
        std::unique_ptr<World> world;
        bool is_gone = false;
        int ran = 0;
    };
    expect_all(
        [] {
            auto held = std::make_shared<std::vector<TimerTask>>();
            auto scene = std::make_shared<Scene>([held](TimerTask task) { held->push_back(std::move(task)); });
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

TEST(Interleavings, a_stop_and_the_driver_never_go_on_with_a_coroutine_at_once) {
    // Work and its limit are due as the service is stopped; the thread that stopped went on with one of them while the
    // driver went on with the other, and one destroyed what the other ran.
    struct Scene {
        World world;
        int running = 0;
        int ended = 0;
    };
    const auto ask = [](Scene& scene) -> Task<void> {
        const auto work = [](Scene& of) -> Task<void> {
            static_cast<void>(co_await sleep_for(of.world.service, 5ms));
            EXPECT_EQ(++of.running, 1);
            interleaving_point();
            --of.running;
        };
        static_cast<void>(co_await with_timeout(scene.world.service, 5ms, work(scene)));
        EXPECT_EQ(++scene.running, 1);
        interleaving_point();
        --scene.running;
        ++scene.ended;
    };
    expect_all(
        [&ask] {
            auto scene = std::make_shared<Scene>();
            start(ask(*scene));
            return Interleaved{
                {[scene] { static_cast<void>(scene->world.service.stop()); }, [scene] { scene->world.drive(); }},
                [scene] { EXPECT_EQ(scene->ended, 1); }};
        },
        3);
}

TEST(Interleavings, an_embedded_timer_is_withdrawn_or_runs) {
    expect_all(
        [] {
            auto world = std::make_shared<World>();
            auto timer = std::make_shared<EmbeddedTimer>();
            timer->arm_at(world->service, TimerInstant(5ms), [world = world.get()] { ++world->ran; });
            const auto withdraw = [world, timer] { world->removed += timer->withdraw() && world->ran == 0; };
            return Interleaved{{[world] { world->drive(); }, withdraw}, [world, timer] {
                                   EXPECT_EQ(world->ran + world->removed, 1);
                                   world->check_end();
                               }};
        },
        4);
}

}  // namespace
}  // namespace duewheel
