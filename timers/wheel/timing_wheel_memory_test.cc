// What the wheels promise about memory: if allocation fails, nothing is lost; in steady use, nothing is allocated. This
// program replaces operator new with one that counts, and fails on request.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include "wheel/fronts_by_id.h"

namespace {

// Only what a wheel asks for while it is watched is counted, and may fail: the tests need memory of their own.
struct Memory {
    bool watched = false;
    std::uint64_t asked = 0;
    std::uint64_t first_refused = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_refused = 0;
    std::uint64_t refused = 0;
    std::size_t bytes_refused = 0;  // blocks that are smaller are never refused
};
Memory memory;

void* take(std::size_t bytes, std::size_t alignment) {
    if (memory.watched) {
        ++memory.asked;
        if (memory.asked >= memory.first_refused && memory.asked <= memory.last_refused &&
            bytes >= memory.bytes_refused) {
            ++memory.refused;
            throw std::bad_alloc();
        }
    }
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* const block =
        alignment <= alignof(std::max_align_t) ? std::malloc(whole) : std::aligned_alloc(alignment, whole);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

// Not inlined, as g++ would else take the pair of new and free() for a mistake.
[[gnu::noinline]] void give_back(void* block) {
    std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
    return take(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
// The forms for arrays too: a sanitizer has its own.
void* operator new[](std::size_t bytes) {
    return take(bytes, 1);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
    give_back(block);
}
void operator delete(void* block, std::size_t) noexcept {
    give_back(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
    give_back(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    give_back(block);
}
void operator delete[](void* block) noexcept {
    give_back(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    give_back(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
    give_back(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    give_back(block);
}

namespace duewheel {

struct TimingWheelProbe {
    // As if there were this number of timers; their content must not be read.
    static void set_node_count(TimingWheel& wheel, std::size_t nodes) { wheel.levels_.nodes_.size_ = nodes; }
    static std::size_t node_count(const TimingWheel& wheel) { return wheel.levels_.node_count(); }
};

namespace {

struct Watched {
    Watched() { memory.watched = true; }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched() { memory.watched = false; }
};

// Timers that come ever nearer, are parked, late, late and parked, and cancelled, beside a model of them.
template <class Front>
class ScarceHistory {
  public:
    explicit ScarceHistory(std::uint64_t seed) : random_(seed), front_(kIds), deadlines_(kIds, kNever) {}

    void run() {
        for (Id id = 0; id < kIds; ++id) arm(id, kFar + random_.below(1000));
        for (std::uint64_t step = 0; step < 40'000 && !testing::Test::HasFailure(); ++step) {
            nearest_ -= 20;
            const auto id = static_cast<Id>(random_.below(kIds));
            switch (random_.below(12)) {
                case 0:
                    disarm(id);
                    break;
                case 1:
                    arm(id, front_.wheel.now());
                    break;
                case 2:
                    if (!by_deadline_.empty()) disarm(by_deadline_.begin()->second);
                    break;
                case 3:  // parked: for long
                    if (!by_deadline_.empty()) arm(by_deadline_.begin()->second, kFar + random_.below(Tick{1} << 39));
                    break;
                case 4:
                    arm(id, front_.wheel.now() + 1 + random_.below(Tick{1} << random_.below(38)));
                    break;
                default:
                    arm(id, nearest_ - (random_.below(4) == 0 ? random_.below(Tick{1} << 20) : 0));
            }
            if (step % 32 == 0) compare();
            if (step % 64 == 0) advance(front_.wheel.now() + random_.below(100), 20);
        }
        memory.last_refused = 0;  // there is memory again
        while (!by_deadline_.empty() && !testing::Test::HasFailure()) advance(kFar * 2, 1000);
        compare();
    }

  private:
    static constexpr std::size_t kIds = 2000;
    static constexpr Tick kFar = Tick{1} << 40;

    // False if there was no memory.
    template <class Call>
    bool attempt(Call&& call) {
        try {
            const Watched watched;
            call();
            return true;
        } catch (const std::bad_alloc&) {
        }
        front_.wheel.check();
        return false;
    }

    void arm(Id id, Tick deadline) {
        if (!attempt([&] { front_.arm(id, deadline); })) return;
        forget(id);
        deadlines_[id] = deadline;
        by_deadline_.emplace(deadline, id);
    }

    void disarm(Id id) {
        if (attempt([&] { front_.disarm(id); })) forget(id);
    }

    void forget(Id id) {
        by_deadline_.erase({deadlines_[id], id});
        deadlines_[id] = kNever;
    }

    void advance(Tick now, std::size_t budget) {
        const auto sink = [&](std::uint64_t id, Tick deadline) {
            memory.watched = false;
            EXPECT_EQ(deadlines_[id], deadline) << "fired what was not scheduled";
            EXPECT_LE(deadline, front_.wheel.now());
            forget(static_cast<Id>(id));
            memory.watched = true;
        };
        static_cast<void>(attempt([&] { front_.wheel.advance_to(now, sink, budget); }));
    }

    void compare() {
        Tick told = 0;
        std::size_t size = 0;
        if (!attempt([&] {
                told = front_.wheel.next_expiry();
                size = front_.wheel.size();
            })) {
            return;
        }
        front_.wheel.check();
        ASSERT_EQ(size, by_deadline_.size());
        const Tick earliest = by_deadline_.empty() ? kNever : std::max(by_deadline_.begin()->first, front_.wheel.now());
        ASSERT_EQ(told, front_.wheel.caught_up() ? earliest : front_.wheel.now());
    }

    Random random_;
    Front front_;
    Tick nearest_ = kFar;
    std::vector<Tick> deadlines_;
    std::set<std::pair<Tick, Id>> by_deadline_;
};

template <class Front>
class WheelMemory : public testing::Test {
  protected:
    ~WheelMemory() override { memory = Memory{}; }
};

using Fronts = testing::Types<Handles, OwnIds>;
TYPED_TEST_SUITE(WheelMemory, Fronts);

TYPED_TEST(WheelMemory, running_out_loses_nothing_whichever_allocation_fails) {
    // After a std::bad_alloc timers were lost and others fired that were not scheduled: the deadline was written before
    // the old entries were swept out, and a strip was off its slot when there was none to write it back to. Here each
    // allocation fails in turn, alone or with all that follow for a while.
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        for (const std::uint64_t refusals : {1U, 50U, 2000U}) {
            for (std::uint64_t first = 1;; ++first) {
                SCOPED_TRACE(testing::Message()
                             << "seed " << seed << ", " << refusals << " refusals from allocation " << first);
                memory = Memory{};
                ScarceHistory<TypeParam> history(seed);
                memory.first_refused = first;
                memory.last_refused = first + refusals - 1;
                history.run();
                if (this->HasFailure()) return;
                if (memory.refused == 0) {
                    EXPECT_GT(first, 3U) << "or nothing is tested";
                    break;
                }
            }
        }
    }
}

TYPED_TEST(WheelMemory, knows_the_next_expiry_of_a_timer_that_no_strip_could_be_had_for) {
    // A timer that was armed late and then moved ahead lies among the late ones until it is filed. Where there was no
    // memory for that, looking at the slots alone found nothing, and the owner slept for ever.
    constexpr Id kParked = 0;
    constexpr Id kEarliest = 1;
    constexpr Id kFirstFiller = 2;
    constexpr std::size_t kBlockStrips = 64;
    TypeParam front(kFirstFiller + kBlockStrips);
    auto& wheel = front.wheel;
    const auto carry_out = [&wheel] { static_cast<void>(wheel.size()); };  // calls for an id may be delayed
    front.arm(kEarliest, 300);
    carry_out();
    front.arm(kParked, 0);
    carry_out();
    front.arm(kParked, 5000);
    // Each in a slot of its own, until all strips that there are have been taken: the two above have one each.
    for (Id id = 0; id < kBlockStrips - 2; ++id) front.arm(kFirstFiller + id, 4096 * (2 + id));
    carry_out();
    front.disarm(kEarliest);
    carry_out();
    {
        memory.first_refused = 1;
        memory.last_refused = std::numeric_limits<std::uint64_t>::max();
        const Watched watched;
        EXPECT_EQ(wheel.next_expiry(), 5000U);
    }
    EXPECT_GT(memory.refused, 0U) << "or nothing is tested";
    wheel.check();
    memory = Memory{};
    EXPECT_EQ(wheel.next_expiry(), 5000U);
    EXPECT_EQ(wheel.advance_to(5000, [](const auto&...) {}), 1U);
}

TYPED_TEST(WheelMemory, old_entries_are_limited) {
    // With 1.75 entries for each timer with a handle, and 3.5 for each with an id, whatever is done.
    constexpr std::size_t kTimers = 100'000;
    constexpr bool kHandles = std::is_same_v<TypeParam, Handles>;
    constexpr std::size_t kNodeBytes = kHandles ? 24 : 16;
    constexpr std::size_t kEntries = kTimers * (kHandles ? 7 : 14) / 4;
    TypeParam front(kTimers);
    Random random(5);
    for (Tick pass = 1; pass <= 15; ++pass) {
        // Into earlier slots of 4,096 ticks, so that every move makes an entry.
        for (Id id = 0; id < kTimers; ++id) front.arm(id, 4096 * (124 - 4 * pass) + random.below(4 * 4096));
    }
    front.wheel.check();
    const std::size_t nodes_bytes = (kTimers / 8192 + 1) * 8192 * kNodeBytes;
    const std::size_t slots_in_use = 500;
    EXPECT_LE(front.wheel.memory_bytes(),
              sizeof(front.wheel) + nodes_bytes + (kEntries / 62 + slots_in_use + 64) * 256 + 1024);
    EXPECT_GE(front.wheel.memory_bytes(), nodes_bytes + kEntries * 4) << "or nothing is tested";
}

template <class Front>
class WheelInSteadyUse : public WheelMemory<Front> {};

using AllFronts = testing::Types<Handles, OwnIds, Members>;
TYPED_TEST_SUITE(WheelInSteadyUse, AllFronts);

TYPED_TEST(WheelInSteadyUse, allocates_no_memory) {
    // Ten thousand timers of up to a minute that are armed, moved and cancelled at random; a few of them fire.
    constexpr std::size_t kTimers = 10'000;
    TypeParam front(kTimers);
    Random random(9);
    std::size_t fired = 0;
    const auto turn = [&](Tick ticks) {
        const Watched watched;
        for (const Tick end = front.wheel.now() + ticks; front.wheel.now() < end;) {
            for (int operation = 0; operation < 50; ++operation) {
                const auto id = static_cast<Id>(random.below(kTimers));
                if (random.below(4) == 0) {
                    front.disarm(id);
                } else {
                    front.arm(id, front.wheel.now() + random.below(60'000));
                }
            }
            front.wheel.advance_to(front.wheel.now() + 1, [&](const auto&...) { ++fired; });
        }
    };
    turn(30'000);
    const std::uint64_t asked = memory.asked;
    fired = 0;
    turn(30'000);
    EXPECT_EQ(memory.asked, asked);
    EXPECT_GT(fired, 0U);
    if (!std::is_same_v<TypeParam, Members>) {
        EXPECT_GT(asked, 0U) << "or nothing is counted";
    }
}

TYPED_TEST(WheelMemory, arming_late_repeatedly_uses_no_more_memory_and_starves_no_timer) {
    // A thousand timers armed late again before each call, of which the budget reached ten, left a thousand entries a
    // call behind: 86 MB after 20,000 calls, and what was due had to wait until all of them were read.
    constexpr std::size_t kTimers = 1000;
    TypeParam front(kTimers + 1);
    auto& wheel = front.wheel;
    Tick now = 10;
    bool all_in_sink = false;
    std::size_t due_fired = 0;
    const auto arm_all = [&] {
        for (Id id = 0; id < kTimers; ++id) front.arm(id, 0);
    };
    const auto sink = [&](std::uint64_t id, Tick) {
        if (id == kTimers) {
            ++due_fired;
        } else if (all_in_sink) {
            arm_all();
        } else {
            front.arm(static_cast<Id>(id), 0);
        }
    };
    arm_all();
    wheel.advance_to(now, sink, 10);
    const std::size_t memory_at_first = wheel.memory_bytes();
    for (const int way : {0, 1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << "way " << way);
        all_in_sink = way == 1;
        due_fired = 0;
        front.arm(kTimers, now + 2);
        for (int call = 0; call < 1000; ++call) {
            if (way == 2) {
                arm_all();
            } else if (way == 3) {
                for (Id id = 0; id < kTimers; ++id) front.arm(id, call % 2 == 0 ? kNever : now + 500);
                arm_all();
            }
            wheel.advance_to(++now, sink, 10);
            if (call == 2 * kTimers / 10 + 10) {
                EXPECT_EQ(due_fired, 1U) << "what is due comes after one turn of the late ones, or two";
            }
        }
        wheel.check();
        EXPECT_EQ(due_fired, 1U);
        EXPECT_LE(wheel.memory_bytes(), memory_at_first + 128 * 256) << "two blocks of strips at most";
    }
    for (Id id = 0; id < kTimers; ++id) front.disarm(id);
    front.arm(kTimers, ++now);
    std::size_t calls = 0;
    for (due_fired = 0; due_fired == 0; ++calls) {
        ASSERT_LE(calls, kTimers / 10 + 10) << "the entries of cancelled timers hold up what is due";
        wheel.advance_to(++now, sink, 10);
    }
}

class WheelLimits : public testing::Test {
  protected:
    ~WheelLimits() override { memory = Memory{}; }

    // What becomes of a call when there is no memory but for the words of an exception.
    template <class Error, class Call>
    static void expect_throws_without_memory(Call&& call) {
        memory = Memory{};
        memory.first_refused = 1;
        memory.last_refused = std::numeric_limits<std::uint64_t>::max();
        memory.bytes_refused = 1024;
        const Watched watched;
        try {
            call();
            memory.watched = false;
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error&) {
            memory.watched = false;
        }
    }
};

TEST_F(WheelLimits, reserved_memory_is_not_allocated_again) {
    // A reserve() that did nothing passed every other test.
    constexpr std::size_t kTimers = 100'000;
    TimingWheel wheel;
    const std::size_t empty = wheel.memory_bytes();
    const Watched watched;
    wheel.reserve(kTimers);
    const std::uint64_t asked = memory.asked;
    const std::size_t reserved = wheel.memory_bytes();
    EXPECT_GE(reserved, empty + (kTimers - 8192) * 24);
    for (std::uint64_t cookie = 0; cookie < kTimers; ++cookie) wheel.schedule(kNever, cookie);  // none needs a strip
    EXPECT_EQ(memory.asked, asked);
    EXPECT_EQ(wheel.memory_bytes(), reserved);
    wheel.reserve(kTimers / 2);
    EXPECT_EQ(memory.asked, asked) << "less than there is";
}

TEST_F(WheelLimits, exactly_the_requested_number_is_reserved) {
    // Node 0 is no timer's. A reserve() that forgot it broke its promise for each multiple of 8,192, and only there.
    constexpr std::size_t kTimers = 8192;
    TimingWheel wheel;
    const Watched watched;
    wheel.reserve(kTimers);
    const std::uint64_t asked = memory.asked;
    for (std::uint64_t cookie = 0; cookie < kTimers; ++cookie) wheel.schedule(kNever, cookie);
    EXPECT_EQ(memory.asked, asked);
}

TEST_F(WheelLimits, ids_that_find_no_memory_are_not_added_in_part) {
    IdTimingWheel wheel(10);
    wheel.schedule(3, 100);
    memory.first_refused = 4;  // a segment holds 8,192 ids, so there are four or more
    memory.last_refused = 4;
    {
        const Watched watched;
        EXPECT_THROW(wheel.grow(100'000), std::bad_alloc);
    }
    EXPECT_EQ(wheel.ids(), 10U);
    wheel.check();
    wheel.grow(100'000);
    EXPECT_EQ(wheel.ids(), 100'000U);
    EXPECT_EQ(wheel.deadline_of(3), 100U);
    EXPECT_FALSE(wheel.is_pending(99'999));
    wheel.check();
}

// As many timers as an index can name would need fifty gigabytes. Where there is no memory, the limit still shows:
// below it that is what is wrong, beyond it the number is.
TEST_F(WheelLimits, hold_up_to_the_limit_and_refuse_one_more) {
    TimingWheel wheel;
    expect_throws_without_memory<std::bad_alloc>([&] { wheel.reserve(TimingWheel::kTimersMax); });
    expect_throws_without_memory<std::length_error>([&] { wheel.reserve(TimingWheel::kTimersMax + 1); });
    IdTimingWheel ids(5);
    expect_throws_without_memory<std::bad_alloc>([&] { ids.grow(IdTimingWheel::kIdsMax); });
    expect_throws_without_memory<std::length_error>([&] { ids.grow(IdTimingWheel::kIdsMax + 1); });
    EXPECT_EQ(ids.ids(), 5U);
    EXPECT_THROW(IdTimingWheel(IdTimingWheel::kIdsMax + 1), std::length_error);
    wheel.check();
    ids.check();
}

TEST_F(WheelLimits, refuse_a_timer_that_no_index_could_name) {
    TimingWheel wheel;
    const TimerHandle first = wheel.schedule(5, 1);
    const std::size_t nodes = TimingWheelProbe::node_count(wheel);
    ASSERT_EQ(nodes, 2U) << "node 0 is no timer's";

    TimingWheelProbe::set_node_count(wheel, TimingWheel::kTimersMax);  // one short of the limit
    expect_throws_without_memory<std::bad_alloc>([&] { wheel.schedule(7, 2); });
    TimingWheelProbe::set_node_count(wheel, TimingWheel::kTimersMax + 1);
    expect_throws_without_memory<std::length_error>([&] { wheel.schedule(7, 2); });
    TimingWheelProbe::set_node_count(wheel, nodes);

    wheel.check();
    EXPECT_EQ(wheel.size(), 1U);
    EXPECT_EQ(wheel.deadline_of(first), 5U);
    EXPECT_EQ(wheel.next_expiry(), 5U);
    std::vector<TimingWheel::Fired> fired(2);
    ASSERT_EQ(wheel.advance_to(10, fired), 1U);
    EXPECT_EQ(fired[0], (TimingWheel::Fired{1, 5}));
}

}  // namespace
}  // namespace duewheel
