// The levels of a timing wheel in which a timer can stay parked: the basis of TimingWheel (handles) and IdTimingWheel
// (the caller's own ids). Timers here are numbers of nodes; their owner and the meaning of firing are decided by these.
//
// Levels. Time is divided into spans of 64 ticks, of 64 * 64, and so on; level L has slots of 64^L ticks and keeps two
// blocks of 64 slots: the current block and the next. A timer is on the lowest level whose two blocks include its
// deadline. Eleven levels cover all 64 bits, so there is no maximum delay, no overflow and no rotation, and the next
// used slot of a level is found by a bit scan.
//
// Example, the wheel at tick 100 (blocks 1 and 2 of level 0, ticks 64 to 191):
//
//     deadline   lies at                            then
//          130   level 0, slot 130                  fires at 130
//          300   level 1, slot 4 (256 to 319)       while the wheel is in 192 to 255 moves to level 0; fires at 300
//        20000   level 2, slot 4 (16384 to 20479)   in 12288 to 16383 to level 1, in 19904 to 19967 to level 0
//
// Parking. A node contains the slot of its entry, and its deadline. Cancelling a timer only changes the deadline, and
// so does moving it to a later one: the entry stays where it is, and when the slot is read in its turn, the timer is
// dropped or filed again. Only a move to before its slot makes a new entry; the old one, to which the node no longer
// points, is dropped when it is read. A single invariant is required:
//
//     a node that can fire has an entry in the slot named by its place, and that slot starts no later than its deadline
//
// It holds whatever a node is used for next, so the node of a cancelled timer can be reused at once. When old entries
// take up too much memory, each call that adds a strip also reads up to kSweepStrips strips and writes them back
// without the old entries (sweep): memory stays bounded, and so does the work of one call. Two entries of one node in
// one slot are distinguished by a bit that changes with each reading of the slot.
//
// Moving in advance. The slot after the current one of a level gets no new timers, because a lower level includes its
// span; so it is moved down a few strips at a time, with every advance, and is empty when its turn comes. No advance
// processes a whole slot unless time jumps over that turn. For an owner that sleeps until next_expiry() or next_work(),
// every sleep is such a jump: neither includes the moving. A budget bounds the calls of such an owner; but one below a
// strip, 62, leaves no room for moving in advance.
//
// Drawbacks: no order among equal deadlines; entries of cancelled timers take memory until they are read (bounded, see
// kEntriesPerNode); an empty wheel has 50 KiB beside its first 8,192 nodes, and each used slot 256 bytes. The file is
// long because it is the whole structure: first the functions for the wheels, then filing, reading, sweeping, time, and
// last the checker.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include <duewheel/node_table.h>
#include <duewheel/strip.h>
#include <duewheel/tick.h>

namespace duewheel {

[[noreturn]] inline void fail_wheel_check(const char* what) {
    std::fprintf(stderr, "timing wheel check: %s\n", what);
    std::abort();
}

// On a violated invariant, prints it and aborts, in all builds.
inline void require_of_wheel(bool holds, const char* what) {
    if (!holds) fail_wheel_check(what);
}

// Node has at least `Tick deadline` and `std::uint32_t place`, and a constant kEntriesPerNode: how many entries the
// strips may hold for each node there is, in quarters, before old ones are swept out (more than 4).
//
// Single-owner; the time is an argument. A timer is *late* if it was scheduled with a deadline at or before now().
template <class Node>
class ParkingLevels {
  public:
    // The place of a node that has no entry and is not armed.
    static constexpr std::uint32_t kNowhere = 11 * 128;

    explicit ParkingLevels(Tick now) : position_(std::min(now, kLastTick)), now_(position_) {
        for (unsigned level = 0; level < kLevelCount - 1; ++level) reach_[level] = reach_of(level);
        add_node();  // number 0, which is no timer's
        reset();
    }
    ParkingLevels(const ParkingLevels&) = delete;
    ParkingLevels& operator=(const ParkingLevels&) = delete;
    ~ParkingLevels() { assert(!advancing_ && "a wheel is destroyed by its own sink"); }

    Node& operator[](TimerIndex timer) { return nodes_[timer]; }
    const Node& operator[](TimerIndex timer) const { return nodes_[timer]; }
    void prefetch(TimerIndex timer) const { nodes_.prefetch(timer); }
    // One more than the largest number of a timer.
    std::size_t node_count() const { return nodes_.size(); }

    // Adds a node that is not armed.
    TimerIndex add_node() {
        Node node{};
        disarm(node);
        node.place = kNowhere;
        return nodes_.add(node);
    }
    void reserve(std::size_t timers) { nodes_.reserve(timers + 1); }

    // Makes a node one that is not armed; its entry, if it has one, stays where it is.
    static void disarm(Node& node) { node.deadline = kNever; }
    // Makes a node one that is armed for never; awake() makes it one that is not armed.
    static void put_to_sleep(Node& node) {
        disarm(node);
        node.place = is_among_late(node) ? kLateAsleep : kAsleep;
    }
    // Whether a node without a deadline is armed for never.
    static bool is_asleep(const Node& node) { return node.place == kAsleep || node.place == kLateAsleep; }
    static void awake(Node& node) { node.place = node.place == kLateAsleep ? kLateParked : kNowhere; }

    // Gives the node of `timer` its deadline, not kNever, whatever it had before. O(1). Throws std::bad_alloc; then
    // nothing has changed.
    void arm(TimerIndex timer, Node& node, Tick deadline);

    // Moves the time to `now`, calls fire(timer, deadline) for each timer due, in order of ticks, and touches at most
    // `budget` entries and fires at most `fired_max` timers. Before the call the node is disarmed and nowhere. fire()
    // may do anything but call advance_to(). Returns how many fired.
    template <class Fire>
    std::size_t advance_to(Tick now, Fire&& fire, std::size_t budget, std::size_t fired_max);

    Tick now() const { return now_; }
    bool is_advancing() const { return advancing_; }
    // These two also inside fire(), where what fires is out already: as TimingWheel says.
    bool caught_up() const { return advancing_ ? is_last_of_pass() : caught_up_; }
    // Clears a slot that is mostly of no use away before the answer, so that it is not read again.
    Tick next_expiry();
    // Never after next_expiry(). O(1).
    Tick next_work() const { return late_is_empty() && caught_up_ ? first_slot_start() : now_; }

    // Every node nowhere; the fronts disarm them.
    void reset();

    std::size_t memory_bytes() const { return sizeof(*this) + nodes_.memory_bytes() + strips_.memory_bytes(); }

    // How many entries advance_to(), sweeping and looking for the next expiry have touched so far: what bounds on one
    // call's work are stated in.
    std::uint64_t touched() const { return touched_; }

    // Calls visit(level, start, timers) for each slot of the levels that armed timers are in, with its first tick, and
    // returns how many are in none: those that are late, or being moved down by an advance that stopped at its budget.
    // O(nodes).
    template <class Visit>
    std::size_t visit_slots(Visit&& visit) const;

    // O(entries).
    void check() const;

  private:
    friend struct TimingWheelProbe;  // lets the tests damage a wheel

    static constexpr unsigned kDigitBits = 6;
    static constexpr unsigned kLevelCount = 11;
    static constexpr unsigned kLevelSlots = 128;
    static constexpr std::uint32_t kAsleep = kNowhere + 1;  // armed for never, without an entry
    static constexpr std::uint32_t kLate = kNowhere + 2;    // late, and not fired yet
    static constexpr unsigned kSlotCount = kLate + 1;       // those of the levels, then the special ones
    // Places only: the node has its entry in kLate and is not late any more.
    static constexpr std::uint32_t kLateParked = kLate + 1;
    static constexpr std::uint32_t kLateAsleep = kLate + 2;
    static constexpr std::uint32_t kPlaceCount = kLate + 3;

    // A place is a slot's number, and above it the slot's round: on the levels which reading of the slot the entry was
    // written in, of late ones in which call of advance_to(), or after it, the timer was armed.
    static constexpr unsigned kRoundShift = 12;
    static constexpr std::uint32_t kRound = std::uint32_t{1} << kRoundShift;
    static constexpr std::uint32_t kSlotMask = kRound - 1;
    static_assert(kPlaceCount <= kRound);

    static constexpr std::size_t kPrefetchAhead = 12;
    static constexpr unsigned kSweepStrips = 4;
    static constexpr Tick kUnknown = 0;  // of earliest_; no timer on the levels has deadline 0

    struct Slot : StripChain {
        std::uint32_t place = 0;  // of a node filed here now; in strips before the last close_strip(), the other round
        Tick start = kNever;      // its first tick; never after the deadline of a node that may stay parked here
    };
    static_assert(sizeof(Slot) == 32);

    // A strip being read: taken off its slot, so that what happens meanwhile cannot reach it.
    struct Reading {
        Strip* strip = nullptr;
        TimerIndex* next = nullptr;
        TimerIndex* end = nullptr;
        std::uint32_t place = 0;  // of the nodes that belong to it
    };

    static unsigned level_of(unsigned slot) { return slot / kLevelSlots; }
    static unsigned shift_of(unsigned level) { return level * kDigitBits; }
    static unsigned slot_number(unsigned level, Tick tick) {
        return level * kLevelSlots + static_cast<unsigned>(tick >> shift_of(level)) % kLevelSlots;
    }
    static bool is_level_slot(unsigned slot) { return slot < kNowhere; }
    // Whether it has an entry in kLate: one, and it has none when it says otherwise.
    static bool is_among_late(const Node& node) { return (node.place & kSlotMask) >= kLate; }

    // Filing.
    unsigned slot_for(Tick deadline) const;
    void set_position(Tick position);
    Tick reach_of(unsigned level) const;
    void arm_slowly(TimerIndex timer, Node& node, Tick deadline, unsigned number);
    void arm_late(TimerIndex timer, Node& node, Tick deadline);
    void append_late(TimerIndex timer);
    void note_earliest(TimerIndex timer, Tick deadline);
    void file(TimerIndex timer, Node& node);
    bool try_to_file(TimerIndex timer, Node& node);
    void open_strip(unsigned number, Tick tick);
    void add_strip(unsigned number, Tick tick, Strip* strip);
    void keep(unsigned number, TimerIndex timer, Strip*& spare);
    void close_slot(unsigned number);

    // Reading.
    Reading take_strip(unsigned number);
    template <class Fire>
    void read(Fire& fire, std::size_t& budget, std::size_t& fires_left);
    bool is_late_of_this_turn(const Node& node) const;
    void file_again(TimerIndex timer, Node& node);
    void file_late_again(TimerIndex timer, Node& node);
    void finish_reading();

    // Sweeping.
    void sweep();
    bool choose_slot_to_sweep();
    bool rewrite_strip(unsigned number, bool settles);
    bool settle(unsigned number);
    bool look_into(unsigned number, Tick& earliest, TimerIndex& timer);
    bool late_is_due();
    bool first_late_strip_is_due();
    void clear_first_late_strip();
    void find_earliest();
    void look_at_every_node();

    // Inside fire().
    bool is_last_of_pass() const;
    bool some_are_late() const;
    template <class Visit>
    void visit_rest_of_strip(Visit&& visit) const;
    Tick next_expiry_in_pass();

    // Time.
    Tick first_start(unsigned level) const;
    Tick first_slot_start() const;
    Tick last_tick_of(unsigned number) const;
    void begin_advance(Tick now);
    void begin_late_turn();
    bool next_strip();
    template <class Fire>
    void move_ahead(Fire& fire, std::size_t& budget);
    Tick next_event() const;
    bool late_is_empty() const { return slots_[kLate].is_empty(); }

    // The checker.
    void check_slot(unsigned number, std::vector<bool>& has_entry) const;
    void check_late_entry(TimerIndex timer, std::vector<bool>& has_entry) const;
    void check_node(TimerIndex timer, bool has_entry) const;
    void check_earliest() const;

    // What every advance looks at first; never after the next thing to do, 0 if there is something now.
    Tick next_event_ = kNever;
    Tick position_;  // nothing on the levels is due before it; never after now_
    Tick now_;
    std::array<Tick, kLevelCount - 1> reach_{};  // of each level but the last: the first tick it does not reach
    Tick earliest_ = kNever;  // smallest deadline on the levels, if that of earliest_timer_ still is that, or kNever
    TimerIndex earliest_timer_ = kNoTimer;
    std::uint32_t occupied_levels_ = 0;                                 // a bit for each level with an occupied slot
    std::array<std::array<std::uint64_t, 2>, kLevelCount> occupied_{};  // a bit for each slot with strips
    NodeTable<Node> nodes_;
    StripPool strips_;
    std::size_t occupied_slots_ = 0;
    std::array<Slot, kSlotCount> slots_;
    std::array<std::uint32_t, kSlotCount>
        old_strips_{};  // of a slot that is being rewritten: strips of the round before
    Reading reading_;
    bool caught_up_ = true;
    bool advancing_ = false;  // inside advance_to(), its sink included
    // The late ones take turns. Each has the strips of kLate that were there when it began; what becomes late
    // meanwhile has the next.
    std::uint32_t late_strips_due_ = 0;  // of kLate, those of this turn
    Tick waiting_tick_ = 0;              // whose timers fire when all due by this tick have
    Tick late_since_ = 0;                // that tick of the next turn: when the first of its timers was armed
    bool late_turn_waits_ = false;       // it has timers that were armed before this advance
    unsigned swept_slot_ = 0;
    std::uint32_t swept_strips_left_ = 0;
    std::uint64_t touched_ = 0;
};

// ---- filing ----

template <class Node>
inline void ParkingLevels<Node>::arm(TimerIndex timer, Node& node, Tick deadline) {
    if (deadline <= now_) [[unlikely]]
        return arm_late(timer, node, deadline);
    const unsigned number = slot_for(deadline);
    Slot& slot = slots_[number];
    const unsigned lies_in = node.place & kSlotMask;
    if (lies_in >= kLate || slot.is_full()) [[unlikely]]
        return arm_slowly(timer, node, deadline, number);
    note_earliest(timer, deadline);
    // Both done without a branch: which way it goes is as good as random, and is known only when the node has come from
    // memory.
    const bool moves = slots_[lies_in].start > deadline;
    slot.append(timer, moves);
    node.place ^= (node.place ^ slot.place) & (0U - moves);
    node.deadline = deadline;
}

template <class Node>
inline void ParkingLevels<Node>::note_earliest(TimerIndex timer, Tick deadline) {
    if (deadline < earliest_) [[unlikely]] {
        earliest_ = deadline;
        earliest_timer_ = timer;
    }
}

// Where the node's entry is among the late ones, or a strip may have to be added.
template <class Node>
void ParkingLevels<Node>::arm_slowly(TimerIndex timer, Node& node, Tick deadline, unsigned number) {
    const unsigned lies_in = node.place & kSlotMask;
    const bool moves = lies_in < kLate && slots_[lies_in].start > deadline;
    if (moves) {
        if (slots_[number].is_full()) open_strip(number, deadline);
        slots_[number].append(timer);
        node.place = slots_[number].place;
    } else if (lies_in >= kLate) {
        node.place = kLateParked;
    }
    node.deadline = deadline;
    note_earliest(timer, deadline);
    if (moves) sweep();
}

// The slot of a deadline after the position: on the lowest level that reaches it. Nearly all timers of nearly all
// owners are on the first three.
template <class Node>
inline unsigned ParkingLevels<Node>::slot_for(Tick deadline) const {
    assert(deadline > position_ && deadline < kNever);
    if (deadline < reach_[1]) return deadline < reach_[0] ? slot_number(0, deadline) : slot_number(1, deadline);
    if (deadline < reach_[2]) return slot_number(2, deadline);
    unsigned level = 3;
    while (level < kLevelCount - 1 && deadline >= reach_[level]) ++level;
    return slot_number(level, deadline);
}

// Level L reaches to the end of the block after the one that the position is in.
template <class Node>
inline void ParkingLevels<Node>::set_position(Tick position) {
    const Tick changed = position ^ position_;
    position_ = position;
    for (unsigned level = 0; level < kLevelCount - 1 && changed >> shift_of(level + 1) != 0; ++level) {
        reach_[level] = reach_of(level);
    }
}

template <class Node>
inline Tick ParkingLevels<Node>::reach_of(unsigned level) const {
    const unsigned shift = shift_of(level + 1);
    const Tick blocks = (position_ >> shift) + 2;
    return blocks > kNever >> shift ? kNever : blocks << shift;
}

template <class Node>
void ParkingLevels<Node>::arm_late(TimerIndex timer, Node& node, Tick deadline) {
    if (!is_among_late(node)) append_late(timer);
    node.place = slots_[kLate].place;
    node.deadline = deadline;
    next_event_ = 0;
}

// The strips of this turn are full, so what comes after them begins with a new strip.
template <class Node>
void ParkingLevels<Node>::append_late(TimerIndex timer) {
    Slot& late = slots_[kLate];
    if (late.is_full()) {
        const bool is_first = late.strips() == late_strips_due_;
        open_strip(kLate, 0);
        if (is_first) late_since_ = now_;
    }
    late.append(timer);
}

// Makes an entry for an armed node whose deadline is after the position.
template <class Node>
inline void ParkingLevels<Node>::file(TimerIndex timer, Node& node) {
    const unsigned number = slot_for(node.deadline);
    Slot& slot = slots_[number];
    if (slot.is_full()) [[unlikely]]
        open_strip(number, node.deadline);
    slot.append(timer);
    node.place = slot.place;
}

// False if there is no memory; then the node is as it was.
template <class Node>
bool ParkingLevels<Node>::try_to_file(TimerIndex timer, Node& node) {
    try {
        file(timer, node);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Puts an entry at the end of the slot whose first strip is being read. Where that needs a strip it is `spare`, the one
// just read from: no more is ever kept than was read, so neither memory nor an entry still to be read is in danger.
template <class Node>
void ParkingLevels<Node>::keep(unsigned number, TimerIndex timer, Strip*& spare) {
    Slot& slot = slots_[number];
    if (slot.is_full()) add_strip(number, slot.start, std::exchange(spare, nullptr));
    slot.append(timer);
}

// Adds a strip to a slot that has none or only full ones; `tick` lies in its span. Throws std::bad_alloc; then nothing
// has changed.
template <class Node>
void ParkingLevels<Node>::open_strip(unsigned number, Tick tick) {
    add_strip(number, tick, strips_.take());
}

template <class Node>
void ParkingLevels<Node>::add_strip(unsigned number, Tick tick, Strip* strip) {
    Slot& slot = slots_[number];
    const bool was_empty = slot.is_empty();
    slot.add_strip(strip);
    if (!was_empty || !is_level_slot(number)) return;
    const unsigned level = level_of(number);
    const unsigned shift = shift_of(level);
    const Tick first = tick >> shift;
    slot.start = first << shift;
    occupied_[level][first / 64 % 2] |= std::uint64_t{1} << first % 64;
    occupied_levels_ |= std::uint32_t{1} << level;
    ++occupied_slots_;
    // An upper slot is moved down while the wheel is in the slot before it.
    next_event_ = std::min(next_event_, level == 0 ? tick : (first - 1) << shift);
}

// Clears the bit of a slot that has lost its last strip.
template <class Node>
void ParkingLevels<Node>::close_slot(unsigned number) {
    const unsigned level = level_of(number);
    std::uint64_t& bits = occupied_[level][number / 64 % 2];
    bits &= ~(std::uint64_t{1} << number % 64);
    if ((occupied_[level][0] | occupied_[level][1]) == 0) occupied_levels_ &= ~(std::uint32_t{1} << level);
    --occupied_slots_;
}

// ---- reading ----

template <class Node>
inline typename ParkingLevels<Node>::Reading ParkingLevels<Node>::take_strip(unsigned number) {
    Slot& slot = slots_[number];
    const StripChain::Part part = slot.take_strip();
    Reading reading{part.strip, part.strip->timers, part.end, slot.place};
    if (is_level_slot(number)) {
        if (old_strips_[number] > 0) {
            --old_strips_[number];
            reading.place ^= kRound;
        }
        if (slot.is_empty()) close_slot(number);
    }
    for (TimerIndex* timer = reading.next; timer != reading.end && timer != reading.next + kPrefetchAhead; ++timer) {
        nodes_.prefetch(*timer);
    }
    return reading;
}

// Reads on in the strip: what is due fires, what still belongs here and is later is filed again, all else is dropped.
template <class Node>
template <class Fire>
void ParkingLevels<Node>::read(Fire& fire, std::size_t& budget, std::size_t& fires_left) {
    const bool late = (reading_.place & kSlotMask) == kLate;
    while (reading_.next != reading_.end && budget > 0 && fires_left > 0) {
        const TimerIndex timer = *reading_.next;
        if (timer == kNoTimer) {
            reading_.next = reading_.end;  // only the end of a strip is filled up
            break;
        }
        if (reading_.end - reading_.next > static_cast<std::ptrdiff_t>(kPrefetchAhead)) {
            nodes_.prefetch(reading_.next[kPrefetchAhead]);
        }
        --budget;
        ++touched_;
        Node& node = nodes_[timer];
        const bool belongs = late || node.place == reading_.place;
        const Tick deadline = node.deadline;
        const bool due = late ? is_late_of_this_turn(node) : deadline <= position_;
        if (belongs && !due) {
            // Before it is counted as read, as there may be no memory.
            late ? file_late_again(timer, node) : file_again(timer, node);
        }
        ++reading_.next;
        if (!belongs || !due) continue;
        disarm(node);
        node.place = kNowhere;
        --fires_left;
        fire(timer, deadline);
    }
    if (reading_.next == reading_.end) finish_reading();
}

// Whether a node with an entry in kLate is of this turn. One that became late after this advance had begun waits for
// the next. Rounds are used again after a million advances, so one that waited through all of them may wait once more.
template <class Node>
bool ParkingLevels<Node>::is_late_of_this_turn(const Node& node) const {
    return (node.place & kSlotMask) == kLate && node.place != slots_[kLate].place && node.deadline != kNever;
}

template <class Node>
inline void ParkingLevels<Node>::file_again(TimerIndex timer, Node& node) {
    if (node.deadline == kNever) {
        node.place = kNowhere;
    } else {
        file(timer, node);
    }
}

// Files a node whose entry in kLate was read, and which is not of this turn.
template <class Node>
void ParkingLevels<Node>::file_late_again(TimerIndex timer, Node& node) {
    if (node.deadline == kNever) {
        node.place = node.place == kLateAsleep ? kAsleep : kNowhere;
    } else if (node.place == kLateParked) {
        file(timer, node);
    } else {
        append_late(timer);
    }
}

template <class Node>
void ParkingLevels<Node>::finish_reading() {
    if (reading_.strip != nullptr) strips_.give_back(reading_.strip);
    reading_ = Reading{};
}

// ---- sweeping ----

// After a strip was added: if there are too many for the nodes, reads some and writes them back without the entries
// that are of no use. With 7 entries for 4 nodes at least 3 in 7 are, and four strips read give more than one back. It
// needs no memory.
template <class Node>
void ParkingLevels<Node>::sweep() {
    const std::size_t entries_max = nodes_.size() * Node::kEntriesPerNode / 4;
    if (strips_.taken() <= entries_max / kStripTimers + occupied_slots_ + kSweepStrips) return;
    for (unsigned count = 0; count < kSweepStrips && choose_slot_to_sweep(); ++count) {
        --swept_strips_left_;
        static_cast<void>(rewrite_strip(swept_slot_, false));
    }
}

// Goes round all occupied slots but the one being read, whose entries of no use are about to go anyway. False if there
// is none.
template <class Node>
bool ParkingLevels<Node>::choose_slot_to_sweep() {
    constexpr unsigned kWords = kLevelCount * kLevelSlots / 64;
    const unsigned read_slot = reading_.strip == nullptr ? kSlotCount : reading_.place & kSlotMask;
    if (swept_strips_left_ > 0 && swept_slot_ != read_slot && !slots_[swept_slot_].is_empty()) return true;
    unsigned from = swept_slot_ + 1;
    for (unsigned tried = 0; tried <= kWords; ++tried) {
        const unsigned word = from / 64 % kWords;
        std::uint64_t bits = occupied_[word / 2][word % 2] >> from % 64 << from % 64;
        if (read_slot / 64 == word) bits &= ~(std::uint64_t{1} << read_slot % 64);
        if (bits != 0) {
            swept_slot_ = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
            swept_strips_left_ = slots_[swept_slot_].strips();
            return true;
        }
        from = (word + 1) * 64;
    }
    return false;
}

// Takes the first strip of a slot and puts what belongs there at the slot's end, in the next round: a second entry of
// the same node, met later, is then of the round before and dropped. If it settles, those parked for a time after the
// slot are filed where they belong; false if there is no memory for that, and they stay parked.
template <class Node>
bool ParkingLevels<Node>::rewrite_strip(unsigned number, bool settles) {
    Slot& slot = slots_[number];
    if (old_strips_[number] == 0) {
        slot.close_strip();
        slot.place ^= kRound;
        old_strips_[number] = slot.strips();
    }
    const Tick last = last_tick_of(number);
    Reading reading = take_strip(number);
    Strip* spare = reading.strip;
    bool has_memory = true;
    for (; reading.next != reading.end && *reading.next != kNoTimer; ++reading.next) {
        const TimerIndex timer = *reading.next;
        if (reading.end - reading.next > static_cast<std::ptrdiff_t>(kPrefetchAhead)) {
            nodes_.prefetch(reading.next[kPrefetchAhead]);
        }
        ++touched_;
        Node& node = nodes_[timer];
        if (node.place != reading.place) continue;
        if (node.deadline == kNever) {
            node.place = kNowhere;
            continue;
        }
        if (settles && has_memory && node.deadline > last) {
            has_memory = try_to_file(timer, node);
            if (has_memory) continue;
        }
        keep(number, timer, spare);
        node.place = slot.place;
    }
    if (spare != nullptr) strips_.give_back(spare);
    return has_memory;
}

// Reads the whole slot. False if there is no memory.
template <class Node>
bool ParkingLevels<Node>::settle(unsigned number) {
    for (std::uint32_t left = slots_[number].strips(); left > 0; --left) {
        if (!rewrite_strip(number, true)) return false;
    }
    return true;
}

// Tells the earliest of what is due in the slot's span. False if there is none, or if most of what was read is of no
// use there: then the slot is to be settled, and what that costs is paid for by the entries that go.
template <class Node>
bool ParkingLevels<Node>::look_into(unsigned number, Tick& earliest, TimerIndex& earliest_timer) {
    const Slot& slot = slots_[number];
    const Tick last = last_tick_of(number);
    std::size_t read = 0;
    std::size_t due_here = 0;
    earliest = kNever;
    slot.visit([&](TimerIndex timer) {
        ++touched_;
        ++read;
        const Node& node = nodes_[timer];
        const bool here = (node.place & kSlotMask) == number && node.deadline <= last;
        due_here += here;
        if (here && node.deadline < earliest) {
            earliest = node.deadline;
            earliest_timer = timer;
        }
        return earliest != slot.start;
    });
    return earliest == slot.start || (earliest != kNever && 2 * due_here >= read);
}

template <class Node>
void ParkingLevels<Node>::find_earliest() {
    if (!late_is_empty()) return look_at_every_node();  // some are parked there, for want of memory
    earliest_ = kNever;
    earliest_timer_ = kNoTimer;
    for (unsigned level = 0; level < kLevelCount; ++level) {
        while ((occupied_levels_ >> level & 1) != 0 && first_start(level) < earliest_) {
            const unsigned number = slot_number(level, first_start(level));
            Tick earliest = kNever;
            TimerIndex timer = kNoTimer;
            if (!look_into(number, earliest, timer)) {
                if (!settle(number)) return look_at_every_node();
                continue;
            }
            if (earliest < earliest_) {
                earliest_ = earliest;
                earliest_timer_ = timer;
            }
            break;
        }
    }
}

// The same in O(nodes), without memory. None is late.
template <class Node>
void ParkingLevels<Node>::look_at_every_node() {
    earliest_ = kNever;
    touched_ += nodes_.size() - 1;
    for (std::size_t index = 1; index < nodes_.size(); ++index) {
        const auto timer = static_cast<TimerIndex>(index);
        if (nodes_[timer].deadline >= earliest_) continue;
        earliest_ = nodes_[timer].deadline;
        earliest_timer_ = timer;
    }
}

// Whether some timer is late; entries of others that lie before it are cleared away.
template <class Node>
bool ParkingLevels<Node>::late_is_due() {
    for (std::uint32_t left = slots_[kLate].strips(); left > 0; --left) {
        if (first_late_strip_is_due()) return true;
        clear_first_late_strip();
    }
    return false;
}

template <class Node>
bool ParkingLevels<Node>::first_late_strip_is_due() {
    bool due = false;
    std::size_t seen = 0;
    slots_[kLate].visit([&](TimerIndex timer) {
        ++touched_;
        const Node& node = nodes_[timer];
        due = (node.place & kSlotMask) == kLate && node.deadline != kNever;
        return !due && ++seen < kStripTimers;
    });
    return due;
}

// Files those of its timers that are parked; without memory they stay.
template <class Node>
void ParkingLevels<Node>::clear_first_late_strip() {
    const Reading reading = take_strip(kLate);
    Strip* spare = reading.strip;
    for (TimerIndex* next = reading.next; next != reading.end && *next != kNoTimer; ++next) {
        const TimerIndex timer = *next;
        ++touched_;
        Node& node = nodes_[timer];
        if (node.deadline == kNever) {
            file_late_again(timer, node);
        } else if (!try_to_file(timer, node)) {
            keep(kLate, timer, spare);
        }
    }
    if (spare != nullptr) strips_.give_back(spare);
}

template <class Node>
Tick ParkingLevels<Node>::next_expiry() {
    if (advancing_) return next_expiry_in_pass();
    if (!caught_up_ || (!late_is_empty() && late_is_due())) return now_;
    if (earliest_ != kNever && nodes_[earliest_timer_].deadline != earliest_) find_earliest();
    return earliest_;
}

// ---- inside a sink ----

// Calls visit(timer, node) for each armed timer named in what is left of the strip being read. An entry may be of no
// use there; then its timer is met where it lies, too.
template <class Node>
template <class Visit>
void ParkingLevels<Node>::visit_rest_of_strip(Visit&& visit) const {
    for (const TimerIndex* timer = reading_.next; timer != reading_.end && *timer != kNoTimer; ++timer) {
        const Node& node = nodes_[*timer];
        if (node.deadline != kNever) visit(*timer, node);
    }
}

// Whether the pass has nothing more to do, and may only have entries of no use left in the strip being read.
template <class Node>
bool ParkingLevels<Node>::is_last_of_pass() const {
    if (late_strips_due_ > 0 || late_turn_waits_ || first_slot_start() <= now_) return false;
    bool more = false;
    visit_rest_of_strip([&](TimerIndex, const Node& node) {
        more = more || (node.deadline <= now_ && ((node.place & kSlotMask) != kLate || is_late_of_this_turn(node)));
    });
    return !more;
}

// Whether some timer has become late in this pass, of one that has nothing more to do.
template <class Node>
bool ParkingLevels<Node>::some_are_late() const {
    bool late = false;
    const auto look = [&](const Node& node) {
        late = late || ((node.place & kSlotMask) == kLate && node.deadline != kNever);
    };
    visit_rest_of_strip([&](TimerIndex, const Node& node) { look(node); });
    slots_[kLate].visit([&](TimerIndex timer) {
        look(nodes_[timer]);
        return !late;
    });
    return late;
}

template <class Node>
Tick ParkingLevels<Node>::next_expiry_in_pass() {
    if (!is_last_of_pass() || some_are_late()) return now_;
    if (earliest_ == kNever || nodes_[earliest_timer_].deadline == earliest_) return earliest_;
    find_earliest();
    // Those parked in the strip being read lie in no slot.
    visit_rest_of_strip([&](TimerIndex timer, const Node& node) { note_earliest(timer, node.deadline); });
    return earliest_;
}

// ---- time ----

// The start of the first occupied slot of a level that has one.
template <class Node>
inline Tick ParkingLevels<Node>::first_start(unsigned level) const {
    const unsigned shift = shift_of(level);
    const Tick position = position_ >> shift;
    const Tick block = position & ~Tick{63};
    const std::uint64_t here = occupied_[level][position / 64 % 2];
    if (here != 0) return (block + static_cast<unsigned>(std::countr_zero(here))) << shift;
    const std::uint64_t next = occupied_[level][1 - position / 64 % 2];
    return (block + 64 + static_cast<unsigned>(std::countr_zero(next))) << shift;
}

template <class Node>
Tick ParkingLevels<Node>::first_slot_start() const {
    Tick first = kNever;
    for (std::uint32_t levels = occupied_levels_; levels != 0; levels &= levels - 1) {
        first = std::min(first, first_start(static_cast<unsigned>(std::countr_zero(levels))));
    }
    return first;
}

template <class Node>
Tick ParkingLevels<Node>::last_tick_of(unsigned number) const {
    return slots_[number].start + ((Tick{1} << shift_of(level_of(number))) - 1);
}

template <class Node>
template <class Fire>
inline std::size_t ParkingLevels<Node>::advance_to(Tick now, Fire&& fire, std::size_t budget, std::size_t fired_max) {
    if (now < next_event_) [[likely]] {
        if (now > now_) set_position(now_ = now);
        return 0;
    }
    assert(!advancing_ && "advance_to() called from its own sink");
    advancing_ = true;
    struct End {  // also when the sink throws
        bool& advancing;
        ~End() { advancing = false; }
    } const end{advancing_};
    begin_advance(now);
    std::size_t fires_left = fired_max;
    while (budget > 0 && fires_left > 0) {
        if (reading_.strip != nullptr) {
            read(fire, budget, fires_left);
        } else if (!next_strip()) {
            break;
        }
    }
    if (reading_.strip == nullptr && late_strips_due_ == 0 && !late_turn_waits_ && first_slot_start() > now_) {
        set_position(now_);
        move_ahead(fire, budget);
        caught_up_ = true;
        next_event_ = next_event();
    }
    return fired_max - fires_left;
}

template <class Node>
void ParkingLevels<Node>::begin_advance(Tick now) {
    caught_up_ = false;
    next_event_ = 0;
    slots_[kLate].place += kRound;
    late_turn_waits_ = slots_[kLate].strips() > late_strips_due_;
    now_ = std::max(now_, std::min(now, kLastTick));
}

// The next turn of the late ones, all that are there.
template <class Node>
void ParkingLevels<Node>::begin_late_turn() {
    Slot& late = slots_[kLate];
    late.close_strip();
    late_strips_due_ = late.strips();
    waiting_tick_ = late_since_;
    late_turn_waits_ = false;
}

// Takes up the next strip in time that has to be read: late timers, timers to fire, or timers of an upper slot that
// begins with the next tick. False when nothing is due any more.
template <class Node>
bool ParkingLevels<Node>::next_strip() {
    if (late_strips_due_ == 0 && late_turn_waits_) begin_late_turn();
    Tick start = kNever;
    unsigned level = 0;
    for (std::uint32_t levels = occupied_levels_; levels != 0; levels &= levels - 1) {
        const auto candidate = static_cast<unsigned>(std::countr_zero(levels));
        const Tick candidate_start = first_start(candidate);
        if (candidate_start > start) continue;
        start = candidate_start;
        level = candidate;  // of two that begin together the upper comes first
    }
    if (late_strips_due_ > 0 && waiting_tick_ < start) {
        // They wait for their tick although they are overdue, for otherwise a timer that always arms itself late could
        // use up every budget before any other timer has its turn.
        --late_strips_due_;
        reading_ = take_strip(kLate);
        return true;
    }
    if (start > now_) return false;
    set_position(level == 0 ? start : std::max(position_, start - 1));
    reading_ = take_strip(slot_number(level, start));
    return true;
}

// Moves a share of each upper slot that comes next down, so that nothing is left of it when its first tick comes.
template <class Node>
template <class Fire>
void ParkingLevels<Node>::move_ahead(Fire& fire, std::size_t& budget) {
    for (std::uint32_t levels = occupied_levels_ & ~1U; levels != 0; levels &= levels - 1) {
        const auto level = static_cast<unsigned>(std::countr_zero(levels));
        const Tick start = first_start(level);
        const Tick left = start - position_;
        if (left > Tick{1} << shift_of(level)) continue;
        const unsigned number = slot_number(level, start);
        const Slot& slot = slots_[number];
        for (Tick share = slot.strips() / left + 1; share > 0 && !slot.is_empty() && budget >= kStripTimers; --share) {
            reading_ = take_strip(number);
            std::size_t fires_left = 1;  // none: all of them are later than the position
            read(fire, budget, fires_left);
        }
    }
}

template <class Node>
Tick ParkingLevels<Node>::next_event() const {
    if (!late_is_empty()) return 0;
    Tick event = kNever;
    for (std::uint32_t levels = occupied_levels_; levels != 0; levels &= levels - 1) {
        const auto level = static_cast<unsigned>(std::countr_zero(levels));
        const Tick start = first_start(level);
        const Tick span = Tick{1} << shift_of(level);
        const Tick left = start - position_;
        if (level == 0) {
            event = std::min(event, start);
        } else if (left > span) {
            event = std::min(event, start - span);
        } else {
            const Tick strips = slots_[slot_number(level, start)].strips();
            event = std::min(event, position_ + std::max<Tick>(1, left / strips));
        }
    }
    return event;
}

template <class Node>
void ParkingLevels<Node>::reset() {
    finish_reading();
    for (Slot& slot : slots_) {
        while (!slot.is_empty()) strips_.give_back(slot.take_strip().strip);
    }
    for (unsigned number = 0; number < kSlotCount; ++number) {
        slots_[number].start = kNever;
        slots_[number].place = number;
        old_strips_[number] = 0;
    }
    for (std::size_t timer = 0; timer < nodes_.size(); ++timer) nodes_[static_cast<TimerIndex>(timer)].place = kNowhere;
    occupied_ = {};
    occupied_levels_ = 0;
    occupied_slots_ = 0;
    earliest_ = kNever;
    earliest_timer_ = kNoTimer;
    late_strips_due_ = 0;
    late_turn_waits_ = false;
    swept_strips_left_ = 0;
    // Nothing is left to do; but an advance in which this is called ends by itself.
    set_position(now_);
    if (!advancing_) caught_up_ = true;
    next_event_ = caught_up_ ? kNever : 0;
}

// ---- the slots ----

template <class Node>
template <class Visit>
std::size_t ParkingLevels<Node>::visit_slots(Visit&& visit) const {
    std::array<std::size_t, kNowhere> timers{};
    std::size_t others = 0;
    for (std::size_t index = 1; index < nodes_.size(); ++index) {
        const Node& node = nodes_[static_cast<TimerIndex>(index)];
        if (node.deadline == kNever) continue;
        const unsigned slot = node.place & kSlotMask;
        const bool is_in_slot = is_level_slot(slot) && slots_[slot].start != kNever;
        ++(is_in_slot ? timers[slot] : others);
    }
    for (unsigned slot = 0; slot < kNowhere; ++slot) {
        if (timers[slot] != 0) visit(level_of(slot), slots_[slot].start, timers[slot]);
    }
    return others;
}

// ---- the checker ----

template <class Node>
void ParkingLevels<Node>::check() const {
    require_of_wheel(position_ <= now_ && now_ <= kLastTick,
                     "the position is not after the time, which is not after the last tick");
    std::vector<bool> has_entry(nodes_.size(), false);
    std::size_t strips = reading_.strip == nullptr ? 0 : 1;
    std::size_t occupied = 0;
    for (unsigned number = 0; number < kSlotCount; ++number) {
        check_slot(number, has_entry);
        strips += slots_[number].strips();
        occupied += is_level_slot(number) && !slots_[number].is_empty();
    }
    for (TimerIndex* timer = reading_.next; timer != reading_.end; ++timer) {
        if (*timer == kNoTimer) continue;
        if ((reading_.place & kSlotMask) == kLate) {
            check_late_entry(*timer, has_entry);
        } else if (nodes_[*timer].place == reading_.place) {
            has_entry[*timer] = true;
        }
    }
    for (unsigned level = 0; level < kLevelCount; ++level) {
        const bool marked = (occupied_levels_ >> level & 1) != 0;
        require_of_wheel(marked == ((occupied_[level][0] | occupied_[level][1]) != 0),
                         "a level's bit says whether it holds timers");
    }
    for (unsigned level = 0; level < kLevelCount - 1; ++level) {
        require_of_wheel(reach_[level] == reach_of(level), "how far a level reaches goes with the position");
    }
    require_of_wheel(strips == strips_.taken(), "every strip lies in a slot or is being read");
    require_of_wheel(occupied == occupied_slots_, "the number of occupied slots is known");
    require_of_wheel(late_strips_due_ <= slots_[kLate].strips(), "no more are late than there are");
    require_of_wheel(next_event_ <= next_work(), "the next event comes no later than the next work");
    for (std::size_t timer = 1; timer < nodes_.size(); ++timer) {
        check_node(static_cast<TimerIndex>(timer), has_entry[timer]);
    }
    check_earliest();
}

// The slot's bits, its span, and which nodes have the entry they need in it.
template <class Node>
void ParkingLevels<Node>::check_slot(unsigned number, std::vector<bool>& has_entry) const {
    const Slot& slot = slots_[number];
    if (is_level_slot(number)) {
        const unsigned level = level_of(number);
        const bool marked = (occupied_[level][number / 64 % 2] >> number % 64 & 1) != 0;
        require_of_wheel(marked != slot.is_empty(), "a slot's bit says whether it holds timers");
        require_of_wheel(old_strips_[number] <= slot.strips(), "no more strips are old than there are");
        if (marked) {
            const Tick first = slot.start >> shift_of(level);
            const Tick position = position_ >> shift_of(level);
            require_of_wheel(
                slot_number(level, slot.start) == number && slot.start >= position_ && first / 64 - position / 64 <= 1,
                "a slot begins after the position, in this block or the next");
            require_of_wheel(!caught_up_ || slot.start > now_, "nothing is left behind");
        }
    }
    slot.visit([&](TimerIndex timer) {
        require_of_wheel(timer < nodes_.size(), "an entry names a node");
        if (number == kLate) {
            check_late_entry(timer, has_entry);
        } else if ((nodes_[timer].place & kSlotMask) == number) {
            has_entry[timer] = true;
        }
        return true;
    });
}

template <class Node>
void ParkingLevels<Node>::check_late_entry(TimerIndex timer, std::vector<bool>& has_entry) const {
    require_of_wheel(is_among_late(nodes_[timer]) && !has_entry[timer], "a late entry is its timer's only one there");
    has_entry[timer] = true;
}

template <class Node>
void ParkingLevels<Node>::check_node(TimerIndex timer, bool has_entry) const {
    const Node& node = nodes_[timer];
    const unsigned lies_in = node.place & kSlotMask;
    require_of_wheel(lies_in < kPlaceCount, "a place is a slot");
    if (lies_in == kNowhere || lies_in == kAsleep || lies_in == kLateAsleep) {
        require_of_wheel(node.deadline == kNever, "a timer with a deadline lies in a slot");
        if (lies_in != kLateAsleep) return;
    }
    require_of_wheel(has_entry, "a timer has an entry in the slot it says");
    if (node.deadline == kNever) return;
    if (lies_in == kLate) {
        require_of_wheel(node.deadline <= now_, "a late timer is due");
    } else if (is_level_slot(lies_in)) {
        require_of_wheel(slots_[lies_in].start <= node.deadline, "a slot begins no later than its timers are due");
        const bool is_old = (node.place ^ slots_[lies_in].place) >= kRound;
        require_of_wheel(!is_old || old_strips_[lies_in] > 0 || node.place == reading_.place,
                         "an entry is of a round that is still to be read");
    } else {
        require_of_wheel(node.deadline > position_, "a timer parked among the late ones is not due");
    }
}

template <class Node>
void ParkingLevels<Node>::check_earliest() const {
    if (earliest_ != kNever && nodes_[earliest_timer_].deadline != earliest_) return;
    for (std::size_t timer = 1; timer < nodes_.size(); ++timer) {
        const Node& node = nodes_[static_cast<TimerIndex>(timer)];
        require_of_wheel(node.deadline >= earliest_ || (node.place & kSlotMask) == kLate,
                         "the remembered earliest deadline is the earliest");
    }
}

}  // namespace duewheel
