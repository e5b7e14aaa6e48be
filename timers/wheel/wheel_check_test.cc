// That check() of each front has no requirement in vain: for every sentence in its source there is a wheel that is
// sound but for the one thing, and check() answers with that sentence and no other. A condition of several parts has a
// damage for each part.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wheel/wheel_probes.h"
#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {
namespace {

constexpr auto kIgnoreAny = [](const auto&...) {};

// What it prints tells damage found from a sample that was not sound before.
template <class Sample>
std::function<void()> damaged(void (*damage)(Sample&)) {
    return [damage] {
        Sample sample;
        sample.wheel.check();
        std::fputs("sound before\n", stderr);
        damage(sample);
        sample.wheel.check();
        std::_Exit(0);  // not found: and nothing else that the damage leads to may pass for it
    };
}

// At tick 10: two timers in slot 2 of level 1, one late, one asleep, one cancelled whose entry lies in level 2.
struct WithHandles {
    WithHandles()
        : near(wheel.schedule(130, 1)),
          next(wheel.schedule(131, 2)),
          late(wheel.schedule(7, 3)),
          asleep(wheel.schedule(kNever, 4)),
          cancelled(wheel.schedule(5000, 5)) {
        EXPECT_TRUE(wheel.cancel(cancelled));
    }

    TimingWheel wheel{10};
    TimerHandle near;
    TimerHandle next;
    TimerHandle late;
    TimerHandle asleep;
    TimerHandle cancelled;
};

struct WithIds {
    WithIds() {
        wheel.schedule(1, 130);
        EXPECT_EQ(wheel.size(), 1U);
    }

    IdTimingWheel wheel{10, 10};
};

// At tick 100.
struct WithMembers {
    struct Timer : IntrusiveTimer {};

    WithMembers() {
        wheel.schedule(near, 101);
        wheel.schedule(far, 5000);
        wheel.schedule(farther, 5001);
        wheel.schedule(late, 50);
        wheel.schedule(asleep, kNever);
    }
    ~WithMembers() { wheel.clear(); }

    Timer near;
    Timer far;
    Timer farther;
    Timer late;
    Timer asleep;
    IntrusiveTimingWheel<Timer> wheel{100};
};

}  // namespace

std::vector<Damage> TimingWheelProbe::damages_of_levels() {
    using Levels = ParkingLevels<TimingWheel::Node>;
    constexpr unsigned kSlot = 128 + 2;  // the timers'
    static const auto levels = [](WithHandles& sample) -> Levels& { return sample.wheel.levels_; };
    static const auto node = [](WithHandles& sample, TimerHandle timer) -> TimingWheel::Node& {
        return sample.wheel.levels_[TimingWheel::index_of(timer)];
    };
    std::vector<Damage> all;
    const auto add = [&all](const char* sentence, void (*damage)(WithHandles&)) {
        all.push_back(Damage{"parking_levels.h", sentence, damaged(damage)});
    };

    const char* sentence = "the position is not after the time, which is not after the last tick";
    add(sentence, [](auto& sample) { levels(sample).position_ = 11; });
    add(sentence, [](auto& sample) { levels(sample).now_ = kNever; });

    sentence = "a level's bit says whether it holds timers";
    add(sentence, [](auto& sample) { levels(sample).occupied_levels_ &= ~2U; });
    add(sentence, [](auto& sample) { levels(sample).occupied_levels_ |= 1U << 5; });

    sentence = "how far a level reaches goes with the position";
    add(sentence, [](auto& sample) { levels(sample).reach_[0] += 64; });
    add(sentence, [](auto& sample) { levels(sample).reach_[Levels::kLevelCount - 2] -= 1; });

    add("every strip lies in a slot or is being read", [](auto& sample) { levels(sample).strips_.take(); });
    add("the number of occupied slots is known", [](auto& sample) { ++levels(sample).occupied_slots_; });
    add("no more are late than there are", [](auto& sample) { levels(sample).late_strips_due_ = 2; });
    add("the next event comes no later than the next work", [](auto& sample) { levels(sample).next_event_ = 11; });

    sentence = "a slot's bit says whether it holds timers";
    add(sentence, [](auto& sample) { levels(sample).occupied_[1][0] &= ~(std::uint64_t{1} << 2); });
    add(sentence, [](auto& sample) { levels(sample).occupied_[1][0] |= std::uint64_t{1} << 3; });

    add("no more strips are old than there are", [](auto& sample) { levels(sample).old_strips_[kSlot] = 2; });

    sentence = "a slot begins after the position, in this block or the next";
    add(sentence, [](auto& sample) { levels(sample).slots_[kSlot].start += 64; });
    add(sentence, [](auto& sample) { levels(sample).slots_[kSlot].start += 128 * 64; });
    add(sentence, [](auto& sample) {
        levels(sample).caught_up_ = false;
        levels(sample).set_position(levels(sample).now_ = 140);
    });

    add("nothing is left behind", [](auto& sample) { levels(sample).now_ = 200; });

    add("an entry names a node", [](auto& sample) {
        Levels& all_levels = levels(sample);
        all_levels.slots_[kSlot].append(static_cast<TimerIndex>(all_levels.node_count()));
    });

    sentence = "a late entry is its timer's only one there";
    add(sentence, [](auto& sample) { node(sample, sample.late).place = Levels::kNowhere; });
    add(sentence,
        [](auto& sample) { levels(sample).slots_[Levels::kLate].append(TimingWheel::index_of(sample.late)); });

    add("a place is a slot", [](auto& sample) { node(sample, sample.near).place = Levels::kPlaceCount; });

    sentence = "a timer with a deadline lies in a slot";
    add(sentence, [](auto& sample) { node(sample, sample.near).place = Levels::kNowhere; });
    add(sentence, [](auto& sample) { node(sample, sample.near).place = Levels::kAsleep; });
    add(sentence, [](auto& sample) { node(sample, sample.late).place = Levels::kLateAsleep; });

    sentence = "a timer has an entry in the slot it says";
    add(sentence, [](auto& sample) { node(sample, sample.near).place = kSlot + 1; });
    add(sentence, [](auto& sample) { node(sample, sample.near).place = Levels::kLate; });
    add(sentence, [](auto& sample) { node(sample, sample.asleep).place = Levels::kLateAsleep; });
    add(sentence, [](auto& sample) { node(sample, sample.cancelled).place = kSlot; });

    add("a late timer is due", [](auto& sample) { node(sample, sample.late).deadline = 11; });
    add("a timer parked among the late ones is not due",
        [](auto& sample) { node(sample, sample.late).place = Levels::kLateParked; });
    add("a slot begins no later than its timers are due",
        [](auto& sample) { node(sample, sample.near).deadline = 127; });
    add("an entry is of a round that is still to be read",
        [](auto& sample) { node(sample, sample.near).place ^= Levels::kRound; });

    sentence = "the remembered earliest deadline is the earliest";
    add(sentence, [](auto& sample) {
        levels(sample).earliest_ = 131;
        levels(sample).earliest_timer_ = TimingWheel::index_of(sample.next);
    });
    add(sentence, [](auto& sample) { levels(sample).earliest_ = kNever; });
    return all;
}

std::vector<Damage> TimingWheelProbe::damages() {
    static const auto node = [](WithHandles& sample, TimerIndex timer) -> TimingWheel::Node& {
        return sample.wheel.levels_[timer];
    };
    std::vector<Damage> all;
    const auto add = [&all](const char* sentence, void (*damage)(WithHandles&)) {
        all.push_back(Damage{"timing_wheel.h", sentence, damaged(damage)});
    };

    add("the free list leads to nodes",
        [](auto& sample) { sample.wheel.free_ = static_cast<TimerIndex>(sample.wheel.levels_.node_count()); });
    add("the free list ends", [](auto& sample) { node(sample, sample.wheel.free_).cookie = sample.wheel.free_; });

    const char* sentence = "a node on the free list is not pending";
    add(sentence, [](auto& sample) { sample.wheel.free_ = TimingWheel::index_of(sample.near); });
    add(sentence, [](auto& sample) { sample.wheel.free_ = TimingWheel::index_of(sample.asleep); });

    sentence = "the size is the number of pending timers";
    add(sentence, [](auto& sample) { ++sample.wheel.size_; });
    add(sentence, [](auto& sample) { --sample.wheel.size_; });

    sentence = "every node is pending, free, firing or retired";
    add(sentence, [](auto& sample) { sample.wheel.free_ = kNoTimer; });
    add(sentence, [](auto& sample) { sample.wheel.firing_ = TimingWheel::index_of(sample.near); });
    add(sentence, [](auto& sample) { node(sample, TimingWheel::index_of(sample.near)).generation = 0; });
    return all;
}

std::vector<Damage> IdTimingWheelProbe::damages() {
    std::vector<Damage> all;
    const auto add = [&all](const char* sentence, void (*damage)(WithIds&)) {
        all.push_back(Damage{"id_timing_wheel.h", sentence, damaged(damage)});
    };
    const char* sentence = "the size is the number of pending timers";
    add(sentence, [](auto& sample) { ++sample.wheel.size_; });
    add(sentence, [](auto& sample) { --sample.wheel.size_; });
    return all;
}

std::vector<Damage> IntrusiveTimingWheelProbe::damages() {
    std::vector<Damage> all;
    const auto add = [&all](const char* sentence, void (*damage)(WithMembers&)) {
        all.push_back(Damage{"intrusive_timing_wheel.h", sentence, damaged(damage)});
    };

    const char* sentence = "the position is not after the time, which is not after the last tick";
    add(sentence, [](auto& sample) { sample.wheel.position_ = 101; });
    add(sentence, [](auto& sample) { sample.wheel.now_ = kNever; });

    sentence = "a slot's bit says whether it holds a timer";
    add(sentence, [](auto& sample) { sample.wheel.occupied_[0] &= ~(std::uint64_t{1} << 37); });
    add(sentence, [](auto& sample) { sample.wheel.occupied_[0] |= std::uint64_t{1} << 38; });

    sentence = "a level's bit says whether it holds a timer";
    add(sentence, [](auto& sample) { sample.wheel.occupied_levels_ &= ~4U; });
    add(sentence, [](auto& sample) { sample.wheel.occupied_levels_ |= 1U << 5; });

    sentence = "the size is the number of timers in all lists";
    add(sentence, [](auto& sample) { ++sample.wheel.size_; });
    add(sentence, [](auto& sample) { --sample.wheel.size_; });

    sentence = "links agree in both directions";
    add(sentence, [](auto& sample) { sample.near.prev_ = &sample.near; });
    add(sentence, [](auto& sample) { sample.near.next_ = &sample.near; });
    add(sentence, [](auto& sample) { sample.farther.prev_ = &sample.near; });
    add(sentence, [](auto& sample) { sample.wheel.slots_[37].prev_ = &sample.wheel.slots_[37]; });
    add(sentence, [](auto& sample) { sample.wheel.slots_[5].prev_ = &sample.near; });

    sentence = "only timers without a deadline sleep";
    add(sentence, [](auto& sample) { sample.near.deadline_ = kNever; });
    add(sentence, [](auto& sample) { sample.asleep.deadline_ = 200; });

    sentence = "a timer lies in the slot of its highest differing digit";
    add(sentence, [](auto& sample) { sample.wheel.position_ = sample.wheel.now_ = 110; });
    add(sentence, [](auto& sample) { sample.wheel.position_ = 0; });
    add(sentence, [](auto& sample) {
        sample.wheel.cancel(sample.near);
        sample.wheel.position_ = sample.wheel.now_ = 4100;
    });
    add(sentence, [](auto& sample) { sample.near.deadline_ = 102; });

    add("the remembered earliest deadline is the earliest", [](auto& sample) { sample.wheel.earliest_ = 200; });

    sentence = "what waits to fire is due";
    add(sentence, [](auto& sample) { sample.late.deadline_ = 150; });
    add(sentence, [](auto& sample) {
        sample.wheel.advance_to(100, kIgnoreAny, 0);
        sample.wheel.check();
        sample.late.deadline_ = 150;  // it waits for its turn now
    });
    add(sentence, [](auto& sample) {
        sample.wheel.schedule(sample.far, 101);
        sample.wheel.advance_to(101, kIgnoreAny, 2);
        sample.wheel.check();
        sample.far.deadline_ = 150;  // the other one of its tick has fired
    });

    add("what is moved down is not overdue", [](auto& sample) {
        sample.wheel.advance_to(4096, kIgnoreAny, 3);  // two have fired, one of two was moved down
        sample.wheel.check();
        sample.farther.deadline_ = 4095;
    });
    return all;
}

namespace {

std::vector<Damage> every_damage() {
    std::vector<Damage> all = TimingWheelProbe::damages_of_levels();
    for (const auto& damages :
         {TimingWheelProbe::damages(), IdTimingWheelProbe::damages(), IntrusiveTimingWheelProbe::damages()}) {
        all.insert(all.end(), damages.begin(), damages.end());
    }
    return all;
}

TEST(WheelCheckDeathTest, finds_each_damage_and_says_what_it_is) {
    // Half of the requirements could be taken out of check() and no test saw it.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (const Damage& damage : every_damage()) {
        const std::string said = "sound before\ntiming wheel check: " + std::string(damage.sentence) + "\n";
        EXPECT_DEATH(damage.happen(), said) << damage.header;
    }
}

// Every sentence that the header requires.
std::set<std::string> requirements_of(const std::string& header) {
    std::ifstream file(DUEWHEEL_HEADERS + header);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string call = "require_of_wheel(";
    std::set<std::string> sentences;
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
        const std::string arguments = text.substr(at, text.find(");", at) - at);
        const std::size_t begin = arguments.find('"');
        if (begin == std::string::npos) continue;  // where it is defined
        sentences.insert(arguments.substr(begin + 1, arguments.rfind('"') - begin - 1));
    }
    return sentences;
}

TEST(WheelCheck, requires_nothing_that_no_damage_breaks) {
    using Sentences = std::set<std::pair<std::string, std::string>>;
    Sentences required;
    for (const char* header : {"parking_levels.h", "timing_wheel.h", "id_timing_wheel.h", "intrusive_timing_wheel.h"}) {
        for (const std::string& sentence : requirements_of(header)) required.emplace(header, sentence);
    }
    Sentences broken;
    for (const Damage& damage : every_damage()) broken.emplace(damage.header, damage.sentence);
    EXPECT_EQ(required, broken) << "a new requirement wants a damage in the tables above";
}

}  // namespace
}  // namespace duewheel
