#include "engine/views/queue_reports.h"

#include <algorithm>
#include <tuple>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {

NamespaceAnswer QueueReports::describe(const Namespace& space) {
    NamespaceAnswer answer;
    answer.name_space = *space.name;
    answer.settings = space.settings();
    answer.pending = space.pending;
    answer.queues = space.queues;
    answer.schedules = space.schedules;
    answer.watchdogs = space.watchdogs;
    return answer;
}

void QueueReports::read(const DescribeNamespaceCommand& command, ReplyToken token, const SharedLimits&) {
    const Namespace* space = queues_.namespaces().find(command.name_space);
    if (space == nullptr || !space->is_there()) {
        return reply(token, Error{"unknown_namespace"_code,
                                  "the namespace has no content and no settings: check the name, or create it with a "
                                  "put or with settings",
                                  "namespace"});
    }
    reply(token, describe(*space));
}

void QueueReports::read(const ListNamespacesCommand& command, ReplyToken token, const SharedLimits& limits) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
        return reply(token, std::move(fits).error());
    NamespaceListAnswer answer;
    std::string_view after = command.after;
    while (const Namespace* space = queues_.namespaces().next(after)) {
        after = *space->name;
        if (!space->is_there() || (limits && !limits->admits_namespace(*space->name))) continue;
        if (answer.namespaces.size() == command.limit) {
            answer.complete = false;
            break;
        }
        answer.namespaces.push_back(describe(*space));
    }
    reply(token, std::move(answer));
}

std::vector<NamespaceAnswer> QueueReports::namespaces_with_settings(std::size_t max) const {
    std::vector<NamespaceAnswer> all;
    queues_.namespaces().for_each([&](const Namespace& space) {
        if (space.conf && all.size() < max) all.push_back(describe(space));
    });
    return all;
}

QueueAnswer QueueReports::describe(QueueNumber number) const {
    const Queue& at = queues_[number];
    const QueueName& name = recent_.queues().name(number);
    QueueAnswer answer;
    answer.name_space = name.name_space;
    answer.queue = name.queue;
    if (at.conf) answer.settings = at.conf->settings;
    answer.counts = at.counts;
    answer.ready = at.ready_count;
    answer.leased = at.leased_count;
    answer.waiters = at.waiters.size();
    answer.backlog_on_disk = has_backlog(number);
    answer.purged = at.purged;
    answer.discarded = at.discarded;
    return answer;
}

QueueCounters QueueReports::counters_of(QueueNumber number) const {
    const Queue& at = queues_[number];
    return {recent_.queues().name(number),
            at.ready_count,
            at.leased_count,
            at.waiters.size(),
            has_backlog(number),
            at.counts.pending,
            at.paused,
            at.conf != nullptr,
            at.counts.dead,
            at.line ? at.line->groups : 0,
            at.line ? at.line->limited : 0,
            oldest_due(number),
            at.totals};
}

DueMs QueueReports::oldest_due(QueueNumber number) const {
    Queue& at = queues_[number];
    DuePosition low = std::min({at.cursor, at.reading_from.value_or(kNoBacklog), turns_.bound(number)});
    if (const FiredKey* first = queues_.first_fired(at)) low = std::min(low, first->position);
    return low == kNoBacklog ? 0 : low.due_ms;
}

// All queues; the first `sorted` are the busiest ones, in descending order. `order` returns how busy a queue is; of
// equally busy queues the oldest comes first.
template <class Order>
std::vector<QueueNumber> QueueReports::queues_by(const Order& order, std::size_t sorted) const {
    const auto busier = [&](QueueNumber left, QueueNumber right) {
        const auto of_left = order(queues_[left]);
        const auto of_right = order(queues_[right]);
        return of_left != of_right ? of_left > of_right : left < right;
    };
    std::vector<QueueNumber> all;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        if (queues_[number].named) all.push_back(number);
    }
    sorted = std::min(sorted, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sorted), all.end(), busier);
    return all;
}

std::vector<QueueCounters> QueueReports::busiest_queues(std::size_t max) const {
    const auto order = [](const Queue& at) {
        return std::tuple(at.ready_count + at.leased_count, at.waiters.size(), at.counts.pending);
    };
    std::vector<QueueCounters> counters;
    for (const QueueNumber number : queues_by(order, max)) {
        if (counters.size() == max) break;
        counters.push_back(counters_of(number));
    }
    return counters;
}

QueueTraffic QueueReports::queue_traffic(std::size_t max) const {
    const auto order = [](const Queue& at) {
        return std::tuple(at.totals.received + at.totals.delivered, at.counts.pending);
    };
    QueueTraffic traffic;
    QueueCounters& others = traffic.others;
    for (const QueueNumber number : queues_by(order, max)) {
        if (traffic.busiest.size() < max) {
            traffic.busiest.push_back(counters_of(number));
            continue;
        }
        Queue& at = queues_[number];
        ++traffic.other_queues;
        others.ready += at.ready_count;
        others.leased += at.leased_count;
        others.waiters += at.waiters.size();
        others.pending += at.counts.pending;
        others.dead += at.counts.dead;
        others.groups += at.line ? at.line->groups : 0;
        others.limited_groups += at.line ? at.line->limited : 0;
        others.paused |= at.paused;
        const DueMs oldest_ms = oldest_due(number);
        if (oldest_ms != 0) {
            others.oldest_due_ms = others.oldest_due_ms == 0 ? oldest_ms : std::min(others.oldest_due_ms, oldest_ms);
        }
    }
    return traffic;
}

QueueSums QueueReports::queue_sums() const {
    QueueSums sums;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        const Queue& at = queues_[number];
        sums.dead += at.counts.dead;
        sums.held += at.counts.held;
        sums.prepared += at.counts.prepared;
        sums.with_settings += at.named && at.conf != nullptr ? 1 : 0;
    }
    return sums;
}

void QueueReports::read(const DescribeQueueCommand& command, ReplyToken token, const SharedLimits&) {
    const QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) return reply(token, unknown_queue());
    const Queue& at = queues_.at(number);
    QueueAnswer answer = describe(number);
    answer.in_force = QueueRules{queues_.lease_time(at), queues_.retry_rule(number)};
    reply(token, std::move(answer));
}

void QueueReports::read(const ListQueuesCommand& command, ReplyToken token, const SharedLimits& limits) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
        return reply(token, std::move(fits).error());
    QueueListAnswer answer;
    // The longer one of the token's prefix and the call's decides, unless they exclude each other.
    std::string prefix = limits ? limits->queue_prefix : "";
    if (command.prefix.starts_with(prefix)) {
        prefix = command.prefix;
    } else if (!prefix.starts_with(command.prefix)) {
        return reply(token, std::move(answer));
    }
    auto next = command.after < prefix ? queues_.by_name().lower_bound({command.name_space, prefix})
                                       : queues_.by_name().upper_bound({command.name_space, command.after});
    const auto is_in_list = [&](const QueueName& name) {
        return name.name_space == command.name_space && name.queue.starts_with(prefix);
    };
    for (; next != queues_.by_name().end() && is_in_list({next->first.first, next->first.second}); ++next) {
        if (answer.queues.size() == command.limit) {
            answer.complete = false;
            break;
        }
        answer.queues.push_back(describe(next->second));
    }
    reply(token, std::move(answer));
}

}  // namespace duewheel
