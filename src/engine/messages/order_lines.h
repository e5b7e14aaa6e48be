// The lines of all order keys: which message of a key may be delivered next, and whether the index must be looked up to
// know it (order_line.h).
//
// A message with a key that becomes due does not become ready by itself: it is blocked, and its line is advanced. That
// makes the key's first message ready as soon as it is known which one it is. The line is advanced again whenever one
// of its messages changes or ends. A blocked message that is in the index leaves memory at once, so that 100,000 behind
// one key take no memory; the line finds the next one on disk when its turn comes.
//
// Passive: next() says what is to be done, and the owner does it until nothing is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/core/uses.h"
#include "engine/messages/order_line.h"

namespace duewheel {

// What happens to a message that leaves its line: it changes or ends; or memory drops it, and the line, or the cursor
// of its queue, will find it again.
enum class Leaving : std::uint8_t { changes, to_disk, to_queue };

class OrderLines : Uses<EngineOptions, RecentTier, ServerTime, Lookups> {
  public:
    explicit OrderLines(const Uses& uses) : Uses(uses) {}

    static std::string name(QueueNumber queue, std::string_view order_key);
    // The line of the message; empty if it has no order key, or is in no line because it has ended.
    std::string name_of(EntryNumber number) const;
    QueueNumber queue_of(const std::string& name) const { return lines_.at(name).queue; }
    std::size_t size() const { return lines_.size(); }

    // The message is in memory. False if it has no line.
    bool join(EntryNumber number);
    // Before the message changes, ends, or leaves memory.
    void leave(EntryNumber number, Leaving leaving);
    // It is due and waits for its turn in its line, which it has. False if it did before.
    bool block(EntryNumber number);
    // It is leased when it joins: nothing else of its line is ready or leased.
    void hold(EntryNumber number);
    // It is neither ready nor leased any more.
    void take_back(EntryNumber number);

    struct Step {
        enum class What : std::uint8_t {
            none,       // nothing is to be done
            overtaken,  // `entry` is ready, but an earlier message came: it is blocked, then the line is advanced again
            deliver,    // `entry` is ready now
            look_up,    // the index may contain an earlier one
        };
        What what = What::none;
        EntryNumber entry = kNoEntry;
        DueMs freed_ms = 0;  // deliver: from then on no other message of the key was in its way
    };
    Step next(const std::string& name);

    // Starts the lookup of the line, now or when fewer are open.
    void look_up(const std::string& name);
    // The lookup has a result. Returns the row to load: it is due, and the first of its key outside of memory; null if
    // there is none. The line is to be advanced afterwards.
    const MessageRow* accept(const OrderLookup& lookup, const Stretch& stretch, Generation generation);
    // A line whose lookup had to wait and need not any more: it is to be advanced.
    std::optional<std::string> take_waiting();

    // For each queue a lower bound of the due messages that wait in its lines, in memory or on disk. A message is never
    // due before its nominal time, so its position in the line is such a bound.
    std::vector<DuePosition> bounds(std::size_t queues) const;

    // For checks: open lookups of each queue; and every invariant, aborts with a message.
    std::vector<std::uint32_t> open_lookups(std::size_t queues) const;
    void check(bool has_started) const;

  private:
    static DuePosition position_of(const Entry& entry);
    const MessageRow* take_head(OrderLine& line, const Stretch& stretch) const;

    std::unordered_map<std::string, OrderLine> lines_;
    std::deque<std::string> to_look_up_;  // when fewer lookups are open
    std::uint32_t open_lookups_ = 0;      // open
};

}  // namespace duewheel
