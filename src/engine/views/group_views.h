// What is seen of the groups of queues: one of them, a list, and the busiest ones for metrics. It changes nothing.
//
// Groups are in no order, which would cost every delivery. So a list visits them all, `group_chunk` per iteration for
// all lists together, and keeps as many as it shows, the first of its order: O(groups of all queues * log(limit)), in
// parts between which the engine does its other work. At the end those that it has kept are put in order and shown as
// they are then. A group that changes meanwhile may be missing, and is never shown twice.
//
// The busiest groups are found in the same way by a visit that begins when they are read. Up to `group_chunk` groups
// are visited at once. With more of them, a read shows the groups that were the busiest in the newest complete visit,
// with their counts as they are now.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/uses.h"
#include "engine/messages/turns.h"
#include "engine/views/open_views.h"

namespace duewheel {

class GroupViews : Uses<EngineOptions, RecentTier, Effects> {
  public:
    GroupViews(const Uses& uses, OpenViews& open, const Queues& queues, const Turns& turns)
        : Uses(uses), open_(open), queues_(queues), turns_(turns) {}

    // O(1).
    void read(const DescribeGroupCommand& command, ReplyToken token, const SharedLimits& limits);
    // Starts a list; its reply comes when it is complete.
    void start(const ListGroupsCommand& command, ReplyToken token);
    // Visits the next groups for what is in progress.
    void walk();
    bool has_to_walk() const { return !lists_.empty() || busiest_visit_; }

    // Those with the most ready and leased messages of all queues, the busiest first; only those that have some.
    std::vector<GroupAnswer> busiest(std::size_t max);

  private:
    struct Found {
        std::int64_t rank = 0;  // the smallest is shown first
        QueueNumber queue = kNoQueue;
        std::string group;

        bool operator<(const Found& other) const {
            return rank != other.rank ? rank < other.rank : group < other.group;
        }
    };
    struct Visit {
        std::int64_t (*rank)(const Group&) = nullptr;
        std::size_t max = 0;
        QueueNumber queue = kNoQueue;  // kNoQueue: of all queues
        GroupNumber next = 1;
        std::vector<Found> first{};  // a heap, with the last of them on top
        bool has_more = false;
    };
    struct List {
        ListGroupsCommand command;
        ReplyToken token = 0;
        Visit visit;
    };

    QueueNumber find_queue(std::string_view name_space, std::string_view queue) const;
    bool visit(Visit& visit, const ListGroupsCommand& command, std::uint32_t& budget) const;
    static void add(Visit& visit, std::int64_t rank, QueueNumber queue, std::string_view group);
    void finish(List list);
    void finish_busiest();

    OpenViews& open_;
    const Queues& queues_;
    const Turns& turns_;
    std::deque<List> lists_;  // the first one is visiting
    std::optional<Visit> busiest_visit_;
    std::vector<Found> busiest_;  // in the newest complete visit
};

}  // namespace duewheel
