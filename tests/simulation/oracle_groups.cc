// C13: never more than N messages of a queue or a group are leased at once, none of a group that backs off is
// delivered, and deliveries keep to the rates.
//
// Settings count from the answer that says so, for deliveries that began after it, as long as no request that may have
// changed them is without an answer. Leases that clients surely have at the same time are a lower bound of what is
// leased, and deliveries that clients saw one of what was delivered: more of either than allowed is a violation.
//
// A first delivery proves that the message was ready ever since a client knew it to be due. If its group had no limits,
// then a reply of that time with several messages of another group has some of its group too: one at least, if the
// other got more than the most that any group gets in one turn. A group that is never served is found at the end, where
// each message must have been delivered.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

// No group of a workload gets more in one turn.
constexpr std::uint64_t kWeightMost = 4;
constexpr std::size_t kServedMax = 64;

// Whether deliveries at these times can be of such a rate, which may have begun with all that a pause saves up.
bool keeps_to(const RateRule& rate, const std::multiset<DueMs>& times) {
    constexpr std::int64_t kUsPerMs = 1'000;
    std::int64_t paid_until_us = 0;
    for (const DueMs at_ms : times) {
        const std::int64_t at_us = at_ms * kUsPerMs;
        if (paid_until_us - at_us > (rate.burst_size() - 1) * rate.interval_us()) return false;
        paid_until_us = std::max(paid_until_us, at_us) + rate.interval_us();
    }
    return true;
}

}  // namespace

void Oracle::group_submitted(const ChangeGroupCommand& command) {
    ++queue_of(command.name_space, command.queue).groups[command.group].open;
}

void Oracle::group_closed(const ChangeGroupCommand& command) {
    --queue_of(command.name_space, command.queue).groups[command.group].open;
}

void Oracle::group_replied(const ChangeGroupCommand& command, const GroupAnswer& answer) {
    if (answer.queue != command.queue || answer.group != command.group || answer.name_space != command.name_space) {
        return violate("X", "a group is answered for another one");
    }
    GroupModel& group = queue_of(command.name_space, command.queue).groups[command.group];
    group.settings = answer.settings;
    group.is_known = group.open == 0;
    group.changed_ms = now_;
    group.changed_step = step_;
    group.delivered.clear();
    rare_.met(Rare::group_set);
    if (answer.settings.backoff_until_ms > now_) rare_.met(Rare::group_backs_off);
}

// Compaction removes settings of which nothing is left but a backoff that has passed.
void Oracle::group_described(const DescribeGroupCommand& command, const Request& request, const GroupAnswer& answer) {
    rare_.met(Rare::group_described);
    const GroupModel& group = queue_of(command.name_space, command.queue).groups[command.group];
    if (!group.is_known || group.open > 0 || group.changed_step >= request.step) return;
    GroupSettings shown = answer.settings, expected = group.settings;
    // One that has passed is not shown.
    if (expected.backoff_until_ms <= now_) shown.backoff_until_ms = expected.backoff_until_ms = 0;
    const bool is_removed = answer.settings == GroupSettings{} && group.settings.is_empty(now_);
    if (!is_removed && shown != expected) {
        violate("C1", "the settings of a group are not those that were answered");
    }
}

void Oracle::groups_died() {
    for (auto& [name, queue] : queues_) {
        for (auto& [group, model] : queue.groups) {
            if (model.open > 0) model.is_known = false;
            model.open = 0;
        }
    }
}

// Server time may go back over a restart, and with it what was delivered before.
void Oracle::groups_started() {
    for (auto& [name, queue] : queues_) {
        const auto restart = [this](std::multiset<DueMs>& delivered) {
            if (!delivered.empty() && *delivered.rbegin() >= now_) delivered.clear();
        };
        restart(queue.delivered);
        for (auto& [group, model] : queue.groups) {
            restart(model.delivered);
            const bool has_own = model.is_known && model.settings != GroupSettings{};
            if (has_own) rare_.met(Rare::group_settings_at_start);
        }
    }
}

// Messages that clients surely have now, of a queue, or of one of its groups, and that were delivered after `since`.
std::uint64_t Oracle::surely_leased(const QueueKey& name, const std::string* group, DueMs since) const {
    std::uint64_t count = 0;
    for (const MessageModel& about : messages_) {
        if (!is_in(about, name) || (group != nullptr && about.put.group != *group)) continue;
        const bool is_held =
            std::any_of(about.deliveries.begin(), about.deliveries.end(), [&](const SeenDelivery& delivery) {
                return delivery.delivered_ms > since && surely_held(about, delivery, latest());
            });
        count += is_held ? 1 : 0;
    }
    return count;
}

void Oracle::check_limits_of(const MessageModel& about, const SeenDelivery& fresh) {
    const QueueKey name{about.put.name_space, about.put.queue};
    QueueModel& queue = queue_of(name.first, name.second);
    if (!queue.is_known || !queue.open.empty()) return;
    const QueueSettings& settings = queue.settings;
    if (settings.leased_max != 0) {
        const std::uint64_t leased = surely_leased(name, nullptr, queue.settings_ms);
        if (leased == settings.leased_max) rare_.met(Rare::queue_at_its_limit);
        if (leased > settings.leased_max) {
            return violate("C13", std::to_string(leased) + " messages of a queue are leased at once", &about);
        }
    }
    if (settings.rate && fresh.delivered_ms > queue.settings_ms) {
        queue.delivered.insert(fresh.delivered_ms);
        if (queue.delivered.size() > 1) rare_.met(Rare::queue_with_a_rate);
        if (!keeps_to(*settings.rate, queue.delivered)) return violate("C13", "a queue's rate is exceeded", &about);
    }
    if (about.put.group.empty()) return;
    GroupModel& group = queue.groups[about.put.group];
    if (!group.is_known || group.open > 0) return;
    const DueMs since = std::max(group.changed_ms, queue.settings_ms);
    if (group.settings.backoff_until_ms > fresh.delivered_ms && fresh.delivered_ms > group.changed_ms) {
        return violate("C13", "delivered although its group backs off", &about);
    }
    const std::uint64_t leased_max =
        group.settings.leased_max != 0 ? group.settings.leased_max : settings.group_leased_max;
    if (leased_max != 0) {
        const std::uint64_t leased = surely_leased(name, &about.put.group, since);
        if (leased == leased_max) rare_.met(Rare::group_at_its_limit);
        if (leased > leased_max) {
            return violate("C13", std::to_string(leased) + " messages of a group are leased at once", &about);
        }
    }
    const std::optional<RateRule>& rate = group.settings.rate ? group.settings.rate : settings.group_rate;
    if (rate && fresh.delivered_ms > since) {
        group.delivered.insert(fresh.delivered_ms);
        if (group.delivered.size() > 1) rare_.met(Rare::group_with_a_rate);
        if (!keeps_to(*rate, group.delivered)) {
            std::string times;
            for (const DueMs at_ms : group.delivered) times += " " + at(at_ms);
            violate("C13",
                    "a group's rate of " + std::to_string(rate->count) + " in " + std::to_string(rate->per_ms) +
                        " ms is exceeded, with deliveries at" + times,
                    &about);
        }
    }
}

void Oracle::check_turns(const LeaseAnswer& answer) {
    const QueueKey name{message_of(answer.messages.front().id)->put.name_space, answer.queue};
    std::deque<ServedGroups>& all = queue_of(name.first, name.second).served;
    ServedGroups served{run_, answer.messages.front().delivered_ms, {}};
    for (const Delivered& delivery : answer.messages) {
        const MessageModel& about = *message_of(delivery.id);
        if (delivery.attempt == 1) check_turns_before(about, delivery.delivered_ms);
        ++served.messages[about.put.group];
    }
    if (answer.messages.size() > kWeightMost) all.push_back(std::move(served));
    if (all.size() > kServedMax) all.pop_front();
}

// It is delivered for the first time.
void Oracle::check_turns_before(const MessageModel& about, DueMs delivered_ms) {
    QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    const GroupModel& group = queue.groups[about.put.group];
    const World* world = about.certain();
    const bool is_plain = about.parent == 0 && !about.is_run() && !about.is_firing() && !about.half &&
                          about.put.order_key.empty() && about.put.key.empty() && about.answered;
    const bool is_certain = world != nullptr && world->is_live() && about.open.empty() && about.returns_open == 0;
    const bool may_be_limited = !queue.is_known || !queue.open.empty() || queue.settings.group_leased_max != 0 ||
                                queue.settings.group_rate || !group.is_known || group.open > 0 ||
                                group.settings.leased_max != 0 || group.settings.rate;
    if (!is_plain || !is_certain || (may_be_limited && !about.put.group.empty())) return;
    const DueMs ready_ms = std::max(
        {world->due.high, about.told_ms, group.changed_ms, queue.settings_ms, group.settings.backoff_until_ms});
    for (const ServedGroups& served : queue.served) {
        const bool was_ready = served.run == run_ && about.epochs.front().from.run == run_ && ready_ms < served.at_ms;
        if (!was_ready || served.at_ms >= delivered_ms) continue;
        rare_.met(Rare::group_served_by_turns);
        if (served.messages.contains(about.put.group)) continue;
        for (const auto& [other, count] : served.messages) {
            if (count <= kWeightMost) continue;
            return violate("C13",
                           std::to_string(count) + " messages of a group were leased before it at " + at(served.at_ms) +
                               ", and none of its own group",
                           &about);
        }
    }
}

// Whether something of it may be limited, so that a lease of it may be refused.
bool Oracle::may_be_limited(const MessageModel& about) {
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    const QueueSettings& settings = queue.settings;
    const bool has_limits = settings.leased_max != 0 || settings.rate || settings.group_leased_max != 0 ||
                            settings.group_rate || queue.settings_step >= about.told_step;
    const auto own = queue.groups.find(about.put.group);
    return has_limits || (own != queue.groups.end() &&
                          (!own->second.is_known || own->second.open > 0 || own->second.settings != GroupSettings{}));
}

}  // namespace duewheel
