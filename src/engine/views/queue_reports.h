// What clients and the owner see of queues and namespaces: descriptions, lists, counters. It changes nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/uses.h"
#include "engine/messages/turns.h"
#include "engine/settings/queues.h"

namespace duewheel {

class QueueReports : Uses<EngineOptions, RecentTier, Effects> {
  public:
    QueueReports(const Uses& uses, Queues& queues, Turns& turns) : Uses(uses), queues_(queues), turns_(turns) {}

    QueueAnswer describe(QueueNumber number) const;
    static NamespaceAnswer describe(const Namespace& space);

    void read(const DescribeQueueCommand& command, ReplyToken token, const SharedLimits& limits);
    void read(const DescribeNamespaceCommand& command, ReplyToken token, const SharedLimits& limits);
    void read(const ListQueuesCommand& command, ReplyToken token, const SharedLimits& limits);
    void read(const ListNamespacesCommand& command, ReplyToken token, const SharedLimits& limits);

    // As the engine offers them (engine.h).
    std::vector<QueueCounters> busiest_queues(std::size_t max) const;
    QueueTraffic queue_traffic(std::size_t max) const;
    QueueSums queue_sums() const;
    std::vector<NamespaceAnswer> namespaces_with_settings(std::size_t max) const;

  private:
    QueueCounters counters_of(QueueNumber number) const;
    bool has_backlog(QueueNumber number) const {
        return queues_[number].has_backlog() || turns_.bound(number) != kNoBacklog;
    }
    DueMs oldest_due(QueueNumber number) const;
    template <class Order>
    std::vector<QueueNumber> queues_by(const Order& order, std::size_t sorted) const;

    Queues& queues_;
    Turns& turns_;
};

}  // namespace duewheel
