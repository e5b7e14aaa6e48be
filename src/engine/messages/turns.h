// Which ready message of a queue is delivered next: the groups of the queue take turns, within the limits of the queue
// and of each group.
//
// It is deficit round robin (Shreedhar and Varghese, 1995) in which every message costs one: a group is served as often
// in each of its turns as its weight says. Within a group the order is that of priority, then due time. A group that
// may get no more, because as many of its messages are leased as may be, or its rate is used up, or it is backing off,
// leaves the line until that has changed; so it costs the others nothing, however many messages it has. Messages
// without a group take a turn like a group of their own.
//
// Only some messages of a large group are in memory. The others are in the index, from the cursor of the group on, and
// are read when few are left. The share of a group in memory is smaller the more groups have ready messages.
//
// Worked example: a queue with groups A, with a million messages, and B, with two, all due. The line is A B. A message
// of A is delivered, and the line is B A; one of B, then A, B, and B has none left. If two of A may be leased at once,
// A leaves the line after its second one, and is back when one of the two leases has ended.
//
// A queue without groups has no line, and its messages cost what they cost without this.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/core/uses.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Turns : Uses<EngineOptions, RecentTier, ServerTime, TimerLanes> {
  public:
    Turns(const Uses& uses, Queues& queues) : Uses(uses), queues_(queues) {}

    // `began_ms`: no earlier run has delivered anything after it.
    void start(DueMs began_ms) { began_ms_ = began_ms; }

    // ---- messages

    // What the message waits for has changed; its queue has counted it.
    void change(EntryNumber number, WaitsFor before, WaitsFor next);
    // Adds the key of a ready message.
    void push(EntryNumber number);
    // The ready messages of a queue that have no group.
    static std::uint32_t plain_count(const Queue& at) {
        return at.line ? at.ready_count - at.line->grouped_ready : at.ready_count;
    }
    // Whether memory should keep one more message that is due and on disk too.
    bool has_room(EntryNumber number) const;
    // It leaves memory, and is due: its group or its queue finds it again.
    void note_on_disk(EntryNumber number);

    // ---- deliveries

    // Whether the limits of the queue itself allow a delivery of what it has ready. If time alone will, the queue is
    // served again then.
    bool may_deliver(QueueNumber number);
    // The next message, if the limits of the queue allow one; null: none. Valid until the next change. Amortised
    // O(log n).
    template <class IsLive>
    const ReadyKey* first(QueueNumber number, const IsLive& is_live) {
        Queue& at = queues_[number];
        if (!at.line) return first_plain(at, is_live);
        while (!at.line->turns.empty()) {
            const GroupNumber turn = at.line->turns.front();
            const ReadyKey* next = nullptr;
            if (turn == kNoGroup) {
                next = first_plain(at, is_live);
            } else if (!look_at_limit(number, turn)) {
                next = groups_[turn]->ready.top(groups_[turn]->ready_count, is_live);
            }
            if (next != nullptr) return next;
            end_turn(number, turn);
        }
        return nullptr;
    }
    // Removes the message that first() returned.
    void pop_first(QueueNumber number);
    // A delivery of the message starts, or did not start after all.
    void count_delivery(EntryNumber number);
    void uncount_delivery(EntryNumber number);
    // Which limit keeps a ready message of this group from being delivered now, of the group, or else of the queue;
    // none: none. `group` is empty for one without a group.
    ErrorCode why_limited(QueueNumber number, std::string_view group) const;
    // Calls with the keys of about `count` messages that come next; outdated ones are among them.
    template <class Visit>
    void visit_next(QueueNumber number, std::size_t count, const Visit& visit) const {
        const Queue& at = queues_[number];
        if (!at.line) return at.ready.visit_first(count, visit);
        const std::size_t turns = std::min(at.line->turns.size(), count);
        for (std::size_t i = 0; i < turns; ++i) {
            const GroupNumber turn = at.line->turns[i];
            const std::size_t share = std::max<std::size_t>(count / turns, 1);
            turn == kNoGroup ? at.ready.visit_first(share, visit) : groups_[turn]->ready.visit_first(share, visit);
        }
    }
    // Time has freed a group, or the queue.
    void wake(QueueNumber number);

    // ---- settings

    // The limits of the queue or of all its groups have changed.
    void limits_changed(QueueNumber number);
    // The settings of a group; null: none.
    void set_conf(QueueNumber number, std::string_view group, std::unique_ptr<GroupConf> conf);
    const GroupConf* conf(QueueNumber number, std::string_view group) const;
    // Groups whose settings were nothing but a backoff that has passed; outdated ones are among them. The caller
    // removes the settings.
    std::deque<GroupNumber>& ended_backoffs() { return ended_backoffs_; }
    const std::deque<GroupNumber>& ended_backoffs() const { return ended_backoffs_; }

    // ---- what is on disk

    // The next group to read, and from where; none: kNoGroup. The caller reads it, and calls end_reading().
    struct Reading {
        GroupNumber group = kNoGroup;
        DuePosition from;
        std::uint32_t limit = 0;
    };
    Reading next_to_read(QueueNumber number);
    // `from`: where to go on; kNoBacklog: nowhere. Call it before the rows are loaded.
    void end_reading(QueueNumber number, GroupNumber group, DuePosition from);
    // As many rows of it were loaded.
    void note_loaded(QueueNumber number, GroupNumber group, std::uint32_t rows);
    // The index has messages of this group from there on.
    void note_found(QueueNumber number, std::string_view group, DuePosition first);
    // Whether the group's own reading finds what is on disk at this position.
    bool covers(QueueNumber number, std::string_view group, DuePosition at) const;
    // Whether due messages of a group may be in pending lookups.
    static bool is_reading(const Queue& at) {
        return at.groups_to_find || (at.line && (!at.line->reading.empty() || !at.line->to_read.empty()));
    }
    // Lower bound of the due messages that are only on disk and have a group. Amortised O(log n).
    DuePosition bound(QueueNumber number);

    // ---- views

    // Null: nothing is known of it, so it has nothing.
    const Group* find(QueueNumber number, std::string_view group) const;
    const Group* find(GroupNumber number) const { return number < groups_.size() ? groups_[number].get() : nullptr; }
    // Calls with the number and each known group of the queue. O(groups of all queues).
    template <class Visit>
    void for_each(QueueNumber number, const Visit& visit) const {
        for (GroupNumber group = 1; group < groups_.size(); ++group) {
            if (groups_[group] && recent_.groups()[group].queue == number) visit(group, *groups_[group]);
        }
    }
    // The numbers of groups are below this.
    GroupNumber group_limit() const { return static_cast<GroupNumber>(groups_.size()); }
    LimitedBy limited_by(QueueNumber number, const Group& group) const;
    GroupAnswer describe(QueueNumber number, std::string_view group) const;

    // Verifies every invariant; aborts with a message.
    void check() const;

  private:
    struct Limit {
        LimitedBy by = LimitedBy::nothing;
        DueMs until_ms = 0;  // by time
    };

    template <class IsLive>
    const ReadyKey* first_plain(Queue& at, const IsLive& is_live) {
        const bool are_many = plain_count(at) >= options_.streams_from || at.has_backlog();
        return at.ready.first(plain_count(at), now_ - options_.fresh_ms, are_many, is_live);
    }
    Limit limit_of(QueueNumber number, const Group& group) const;
    Limit limit_of(const Queue& at) const;
    const RateRule* rate_of(QueueNumber number, const Group& group) const;
    bool look_at_limit(QueueNumber number, GroupNumber group);
    Group& group_at(QueueNumber number, GroupNumber group);
    GroupLine& line_at(QueueNumber number);
    std::uint32_t share(const GroupLine& line) const;
    void join(QueueNumber number, GroupNumber group);
    void join_plain(Queue& at);
    void end_turn(QueueNumber number, GroupNumber group);
    void end_turns(QueueNumber number);
    void limit_changed(QueueNumber number, GroupNumber group);
    void pause(QueueNumber number, GroupNumber group, DueMs until_ms);
    void set_timer(QueueNumber number, DueMs at_ms);
    void watch_backoff(QueueNumber number, GroupNumber group);
    void want_reading(QueueNumber number, GroupNumber group);
    void lower_cursor(QueueNumber number, GroupNumber group, DuePosition to);
    void drop_if_idle(QueueNumber number, GroupNumber group);

    Queues& queues_;
    std::vector<std::unique_ptr<Group>> groups_;  // by number; null: nothing is known of it
    std::deque<GroupNumber> ended_backoffs_;
    DueMs began_ms_ = 0;
};

}  // namespace duewheel
