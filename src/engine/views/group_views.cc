#include "engine/views/group_views.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {
namespace {

std::int64_t ready_of(const Group& group) {
    return std::int64_t{group.ready_count} + group.behind;
}

std::int64_t rank_busiest(const Group& group) {
    return -ready_of(group) - group.leased_count;
}

auto rank_by(GroupOrder order) {
    using Rank = std::int64_t (*)(const Group&);
    switch (order) {
        case GroupOrder::backlog:
            return Rank([](const Group& group) { return -ready_of(group); });
        case GroupOrder::oldest:
            return Rank([](const Group& group) {
                const DueMs due_ms = group.oldest_due_ms();
                return due_ms == 0 ? std::numeric_limits<std::int64_t>::max() : due_ms;
            });
        case GroupOrder::leased:
            return Rank([](const Group& group) { return -std::int64_t{group.leased_count}; });
        case GroupOrder::name:
            break;
    }
    return Rank([](const Group&) { return std::int64_t{0}; });
}

}  // namespace

void GroupViews::read(const DescribeGroupCommand& command, ReplyToken token, const SharedLimits&) {
    const QueueNumber number = find_queue(command.name_space, command.queue);
    if (number == kNoQueue) return reply(token, unknown_queue());
    reply(token, turns_.describe(number, command.group));
}

void GroupViews::start(const ListGroupsCommand& command, ReplyToken token) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits) {
        return reply(token, std::move(fits).error());
    }
    if (find_queue(command.name_space, command.queue) == kNoQueue) return reply(token, unknown_queue());
    if (!open_.begin(command.name_space, token)) return;
    lists_.push_back({command, token, {.rank = rank_by(command.order), .max = command.limit}});
}

void GroupViews::walk() {
    std::uint32_t budget = options_.group_chunk;
    if (busiest_visit_ && visit(*busiest_visit_, {}, budget)) finish_busiest();
    while (!lists_.empty()) {
        List& list = lists_.front();
        list.visit.queue = find_queue(list.command.name_space, list.command.queue);
        if (list.visit.queue != kNoQueue && !visit(list.visit, list.command, budget)) return;
        List visited = std::move(list);
        lists_.pop_front();
        finish(std::move(visited));
    }
}

QueueNumber GroupViews::find_queue(std::string_view name_space, std::string_view queue) const {
    const QueueNumber number = recent_.queues().find(name_space, queue);
    return number != kNoQueue && number < queues_.size() && queues_[number].named ? number : kNoQueue;
}

// True if it is complete.
bool GroupViews::visit(Visit& visit, const ListGroupsCommand& command, std::uint32_t& budget) const {
    for (; visit.next < turns_.group_limit() && budget > 0; --budget) {
        const GroupNumber number = visit.next++;
        const Group* group = turns_.find(number);
        if (group == nullptr) continue;
        const GroupName& name = recent_.groups()[number];
        if (visit.queue != kNoQueue && name.queue != visit.queue) continue;
        if (name.group <= command.after) continue;
        if (command.only_limited && turns_.limited_by(name.queue, *group) == LimitedBy::nothing) continue;
        add(visit, visit.rank(*group), name.queue, name.group);
    }
    return visit.next >= turns_.group_limit();
}

void GroupViews::add(Visit& visit, std::int64_t rank, QueueNumber queue, std::string_view group) {
    std::vector<Found>& first = visit.first;
    const bool is_full = first.size() == visit.max;
    visit.has_more |= is_full;
    if (is_full && std::pair(first.front().rank, std::string_view(first.front().group)) < std::pair(rank, group))
        return;
    if (is_full) {
        std::pop_heap(first.begin(), first.end());
        first.pop_back();
    }
    first.push_back({rank, queue, std::string(group)});
    std::push_heap(first.begin(), first.end());
}

void GroupViews::finish(List list) {
    GroupListAnswer answer;
    const QueueNumber number = list.visit.queue;
    std::vector<Found> shown;
    for (Found& found : list.visit.first) {
        const Group* group = number == kNoQueue ? nullptr : turns_.find(number, found.group);
        if (group == nullptr) continue;
        found.rank = list.visit.rank(*group);
        shown.push_back(std::move(found));
    }
    std::sort(shown.begin(), shown.end());
    for (const Found& found : shown) answer.groups.push_back(turns_.describe(number, found.group));
    if (number != kNoQueue && queues_[number].line) answer.known = queues_[number].line->groups;
    answer.complete = !list.visit.has_more;
    open_.end(list.command.name_space, list.token, std::move(answer));
}

std::vector<GroupAnswer> GroupViews::busiest(std::size_t max) {
    if (!busiest_visit_) busiest_visit_ = Visit{.rank = rank_busiest, .max = max};
    std::uint32_t budget = options_.group_chunk;
    if (visit(*busiest_visit_, {}, budget)) finish_busiest();
    std::vector<GroupAnswer> all;
    for (const Found& found : busiest_) {
        const Group* group = turns_.find(found.queue, found.group);
        if (group != nullptr && rank_busiest(*group) < 0) all.push_back(turns_.describe(found.queue, found.group));
    }
    return all;
}

void GroupViews::finish_busiest() {
    busiest_ = std::move(busiest_visit_->first);
    std::sort(busiest_.begin(), busiest_.end());
    busiest_visit_.reset();
}

}  // namespace duewheel
