// What must hold for namespaces: reports about one are true, its limits hold, and no other namespace is refused because
// of them.
//
// If a namespace is refused for a limit that it does not have, the limit of another one was applied to it: that
// violates C12.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

// As far as a user sets it.
bool is_same(NamespaceSettings left, const NamespaceSettings& right) {
    left.revision = right.revision;
    return left == right;
}

constexpr DueMs kBurstMs = 1'000;  // of a rate

}  // namespace

NamespaceModel& Oracle::namespace_of(const std::string& name_space) {
    return namespaces_[name_space];
}

// Its settings, where they are certain and were so when a request was submitted in that step; else null.
const NamespaceSettings* Oracle::limits_since(const std::string& name_space, std::uint64_t step) const {
    static const NamespaceSettings kNone;
    const auto found = namespaces_.find(name_space);
    return found == namespaces_.end() ? &kNone : found->second.surely_since(step);
}

bool Oracle::is_of_namespaces(const Command& command) {
    return std::holds_alternative<ConfigureNamespaceCommand>(command) ||
           std::holds_alternative<DescribeNamespaceCommand>(command) ||
           std::holds_alternative<ListNamespacesCommand>(command);
}

// ---- settings

void Oracle::namespace_submitted(const Command& command, ReplyToken token) {
    const auto* configure = std::get_if<ConfigureNamespaceCommand>(&command);
    if (configure == nullptr) return;
    NamespaceModel& space = namespace_of(configure->name_space);
    space.open.emplace(token, *configure);
    space.was_limited |= !configure->removes;
}

void Oracle::namespaces_died() {
    for (auto& [name, space] : namespaces_) {
        if (!space.open.empty()) space.is_known = false;
        space.open.clear();
        space.tries.clear();
        if (space.is_known && space.settings.revision != 0) rare_.met(Rare::namespace_limited_at_start);
    }
}

void Oracle::namespace_replied(ReplyToken token, const Request& request, const Reply& reply) {
    const auto* configure = std::get_if<ConfigureNamespaceCommand>(&request.command);
    if (configure != nullptr) namespace_of(configure->name_space).open.erase(token);
    if (const auto* error = std::get_if<Error>(&reply)) return namespace_refused(request, *error);
    if (const auto* list = std::get_if<NamespaceListAnswer>(&reply)) return namespaces_listed(request, *list);
    const auto* answer = std::get_if<NamespaceAnswer>(&reply);
    if (answer == nullptr) return violate("X", "a command on a namespace got a reply of another kind");
    if (configure == nullptr) {
        const auto& named = std::get<DescribeNamespaceCommand>(request.command);
        return namespace_told(named.name_space, *answer);
    }
    if (answer->name_space != configure->name_space) {
        return violate("X", "a namespace is answered for another one");
    }
    NamespaceModel& space = namespace_of(configure->name_space);
    if (configure->removes != answer->removed.has_value()) {
        return violate("X", "a namespace's settings are answered otherwise than they were asked for");
    }
    if (configure->removes) {
        const NamespaceSettings* before = space.surely_since(request.step);
        if (before != nullptr && *answer->removed != (before->revision != 0)) {
            return violate("C1", "settings of a namespace were there or were not, unlike what was answered before");
        }
        rare_.met(*answer->removed ? Rare::namespace_settings_removed : Rare::namespace_had_no_settings);
    } else {
        rare_.met(Rare::namespace_limited);
        if (!is_same(answer->settings, configure->settings)) {
            return violate("X", "a namespace's settings are answered otherwise than they were set");
        }
    }
    space.settings = configure->removes ? NamespaceSettings{} : answer->settings;
    space.is_known = space.open.empty();
    space.settings_step = step_;
    space.settings_ms = now_;
    if (!configure->removes) namespace_told(configure->name_space, *answer);
}

void Oracle::namespace_refused(const Request& request, const Error& error) {
    const ErrorCode code = error.code;
    if (code == "too_busy"_code) return rare_.met(Rare::too_busy);
    const auto* configure = std::get_if<ConfigureNamespaceCommand>(&request.command);
    if (configure != nullptr && code == "store_full"_code) {
        const LogSpace enough = configure->removes ? LogSpace::cleaning : LogSpace::reserve;
        if (least_space_ < enough) violate("C11", "settings of a namespace are refused for want of space");
        return;
    }
    if (configure != nullptr && code == "out_of_range"_code) {
        const NamespaceSettings& asked = configure->settings;
        const std::uint64_t greatest =
            std::max({asked.pending_max, asked.queues_max, asked.schedules_max, asked.watchdogs_max, asked.put_rate});
        if (greatest <= options_.pending_limit_max) violate("X", "settings in which nothing is wrong are refused");
        return rare_.met(Rare::namespace_refused);
    }
    if (configure != nullptr && code == "namespace_limit"_code && !configure->removes) {
        const NamespaceModel& space = namespace_of(configure->name_space);
        const NamespaceSettings* before = space.surely_since(request.step);
        if (before != nullptr && before->revision != 0) {
            violate("C11", "a change of a namespace is refused because there are too many");
        }
        const auto others = std::count_if(namespaces_.begin(), namespaces_.end(), [](const auto& each) {
            return each.second.settings.revision != 0 || !each.second.is_known || !each.second.open.empty();
        });
        if (others < static_cast<std::ptrdiff_t>(options_.namespaces_max)) {
            violate("C11", "settings of a namespace are refused because there are too many, and there are not");
        }
        return rare_.met(Rare::too_many_namespaces);
    }
    if (const auto* named = std::get_if<DescribeNamespaceCommand>(&request.command);
        named != nullptr && code == "unknown_namespace"_code) {
        const NamespaceSettings* settings = limits_since(named->name_space, request.step);
        if (settings != nullptr && settings->revision != 0) violate("C1", "a namespace with settings is not known");
        if (unfinished_in_space(named->name_space).low > 0) violate("C1", "a namespace with messages is not known");
        return rare_.met(Rare::namespace_unknown);
    }
    violate("X", "a command on a namespace is refused with " + std::string(name_of(code)) + ": " + error.message);
}

// ---- what is told of one

DueRange Oracle::unfinished_in_space(const std::string& name_space) const {
    DueRange count;
    for (const MessageModel& about : messages_) {
        if (about.put.name_space != name_space) continue;
        const bool stays = about.open.empty() && !about.may_have_expired(now_) && !may_have_died(about);
        if (about.is_surely_unfinished() && stays) ++count.low;
        if (about.may_be_unfinished() || !about.open.empty()) ++count.high;
        if (about.is_recurring()) count.high += static_cast<DueMs>(not_met(about));
    }
    // These may be in any namespace.
    count.high += static_cast<DueMs>(runs_not_met(nullptr) + checks_not_met(nullptr) + firings_not_met(nullptr));
    return count;
}

void Oracle::namespace_told(const std::string& name_space, const NamespaceAnswer& answer) {
    const NamespaceModel& space = namespace_of(name_space);
    if (answer.name_space != name_space) return violate("X", "a namespace is told of for another one");
    if (space.is_known && space.open.empty() && !is_same(answer.settings, space.settings)) {
        return violate("C1", "a namespace's settings have changed by themselves");
    }
    const auto check = [&](std::string_view what, std::uint64_t told, DueRange counted) {
        if (violated() || counted.holds(static_cast<DueMs>(told))) return;
        violate("C12", "namespace " + name_space + " tells of " + std::to_string(told) + " " + std::string(what) +
                           ", and it must be " + at(counted.low) + " to " + at(counted.high));
    };
    check("unfinished messages", answer.pending, unfinished_in_space(name_space));
    std::set<std::string_view> queues;
    for (const MessageModel& about : messages_) {
        const bool stays = about.open.empty() && !about.may_have_expired(now_) && !may_have_died(about);
        if (about.put.name_space == name_space && about.is_surely_unfinished() && stays) queues.insert(about.put.queue);
    }
    check("queues", answer.queues, {static_cast<DueMs>(queues.size()), kQueuesAtMost});
    check("schedules", answer.schedules, schedules_in(name_space));
    check("watchdogs", answer.watchdogs, watchdogs_in(name_space));
}

DueRange Oracle::schedules_in(const std::string& name_space) const {
    DueRange count;
    for (const auto& [name, model] : schedules_) {
        if (name.first != name_space) continue;
        const bool is_steady = model.open.empty() && !model.is_blurred;
        if (model.there == ScheduleModel::There::yes && is_steady) ++count.low;
        if (model.there != ScheduleModel::There::no || !is_steady) ++count.high;
    }
    return count;
}

DueRange Oracle::watchdogs_in(const std::string& name_space) const {
    DueRange count;
    for (const auto& [name, model] : watchdogs_) {
        if (name.first != name_space) continue;
        if (model.is_there && model.open.empty() && !model.is_blurred) ++count.low;
        if (model.may_be_there() || model.is_blurred) ++count.high;
    }
    return count;
}

void Oracle::namespaces_listed(const Request& request, const NamespaceListAnswer& answer) {
    const auto& list = std::get<ListNamespacesCommand>(request.command);
    if (answer.namespaces.size() > list.limit) return violate("C11", "a page of namespaces is longer than its limit");
    if (!answer.complete && answer.namespaces.size() < list.limit) {
        return violate("X", "a page of namespaces ends before its limit, and more are said to come");
    }
    rare_.met(Rare::namespaces_listed);
    std::string before = list.after;
    std::set<std::string> told;
    for (const NamespaceAnswer& space : answer.namespaces) {
        if (space.name_space <= before) return violate("X", "a page of namespaces is out of order");
        before = space.name_space;
        told.insert(space.name_space);
        namespace_told(space.name_space, space);
        if (violated()) return;
    }
    for (const auto& [name, space] : namespaces_) {
        if (name <= list.after || told.contains(name) || (!answer.complete && name > before)) continue;
        const NamespaceSettings* settings = space.surely_since(request.step);
        if (settings != nullptr && settings->revision != 0) {
            return violate("C1", "a namespace with settings is not in the list");
        }
    }
}

// ---- limits

// After a put or a kick, submitted in that step, that brought the message in.
void Oracle::check_namespace_limit(const MessageModel& accepted, std::uint64_t submitted_step) {
    const std::string& name_space = accepted.put.name_space;
    const NamespaceSettings* settings = limits_since(name_space, submitted_step);
    if (settings == nullptr || settings->pending_max == 0) return;
    const auto held = static_cast<std::uint64_t>(unfinished_in_space(name_space).low);
    if (held + (accepted.is_recurring() ? 1 : 0) <= settings->pending_max) return;
    violate("C11", "a namespace that may hold " + std::to_string(settings->pending_max) + " messages took another one",
            &accepted);
}

// What ended meanwhile was there still when it was executed.
bool Oracle::may_be_full_space(const PutCommand& put, const Request& request) {
    const std::string& name_space = put.name_space;
    const NamespaceSettings* settings = limits_since(name_space, request.step);
    rare_.met(Rare::namespace_full);
    if (settings == nullptr) return true;
    if (settings->pending_max == 0) {
        violate("C12", "a namespace without a limit is refused as full");
        return true;
    }
    auto held = static_cast<std::uint64_t>(unfinished_in_space(name_space).high);
    for (const MessageModel& about : messages_) {
        if (about.put.name_space != name_space || about.may_be_unfinished() || !about.open.empty()) continue;
        held += std::any_of(about.worlds().begin(), about.worlds().end(), [&](const World& world) {
            return world.phase != World::Phase::absent && world.ended.high >= request.submitted_ms;
        });
    }
    return held + (put.repeat ? 2 : 1) >= settings->pending_max;
}

// Whether what is refused for want of room, in a queue or in its namespace, may find none.
bool Oracle::may_have_no_room(const PutCommand& put, const Request& request, ErrorCode code) {
    return code == "namespace_full"_code ? may_be_full_space(put, request) : may_be_full(put, request);
}

void Oracle::put_tried(const PutCommand& put, ReplyToken token, std::size_t part) {
    constexpr std::size_t kKept = 200;
    std::deque<PutTry>& tries = namespace_of(put.name_space).tries;
    tries.push_back({token, part, now_});
    while (tries.size() > kKept && tries.front().until_ms < now_ - kBurstMs) tries.pop_front();
}

// It was answered: taken, if it was put and was not there before.
void Oracle::put_told(const PutCommand& put, ReplyToken token, std::size_t part, bool is_taken) {
    std::deque<PutTry>& tries = namespace_of(put.name_space).tries;
    const auto found = std::find_if(tries.begin(), tries.end(),
                                    [&](const PutTry& each) { return each.token == token && each.part == part; });
    if (found == tries.end()) return;
    if (!is_taken) {
        tries.erase(found);
        return;
    }
    found->until_ms = now_;
    found->is_taken = true;
    check_put_rate(put.name_space);
}

// As many as a full allowance and what came in since: from each put that was sent since the rate was set, and is
// closed.
void Oracle::check_put_rate(const std::string& name_space) {
    constexpr std::size_t kLookedAt = 200;
    NamespaceModel& space = namespace_of(name_space);
    const NamespaceSettings* settings = space.surely_since(step_);
    if (settings == nullptr || settings->put_rate == 0) return;
    std::uint64_t taken = 0;
    for (std::size_t back = 1; back <= std::min(space.tries.size(), kLookedAt); ++back) {
        const PutTry& each = space.tries[space.tries.size() - back];
        if (each.from_ms <= space.settings_ms) return;
        if (!each.is_taken) continue;
        ++taken;
        const auto since = static_cast<std::uint64_t>(now_ - each.from_ms);
        if (taken * 1'000 <= settings->put_rate * (1'000 + since)) continue;
        return violate("C11", "a namespace that may put " + std::to_string(settings->put_rate) + " a second put " +
                                  std::to_string(taken) + " in " + std::to_string(since) + " ms");
    }
}

// Whether the namespace may have had rules that create messages.
bool Oracle::has_rules(const std::string& name_space) const {
    const auto is_in = [&](const auto& each) { return each.first.first == name_space; };
    return std::any_of(schedules_.begin(), schedules_.end(), is_in) ||
           std::any_of(watchdogs_.begin(), watchdogs_.end(), is_in) ||
           std::any_of(messages_.begin(), messages_.end(),
                       [&](const MessageModel& each) { return each.put.name_space == name_space && each.put.repeat; });
}

// Refused for its rate: as many as that may have been put in the second before.
void Oracle::refused_for_its_rate(const PutCommand& put, const Request& request) {
    rare_.met(Rare::put_rate_met);
    const NamespaceSettings* settings = limits_since(put.name_space, request.step);
    if (settings == nullptr) return;
    const NamespaceModel& space = namespace_of(put.name_space);
    if (settings->put_rate == 0) return violate("C12", "a namespace without a rate is refused for it");
    if (has_rules(put.name_space)) return;  // what they create draws from the rate too, and is not seen here
    const auto may_count = std::count_if(space.tries.begin(), space.tries.end(), [&](const PutTry& each) {
        return each.until_ms >= request.submitted_ms - kBurstMs;
    });
    if (static_cast<std::uint64_t>(may_count) >= settings->put_rate) return;
    violate("C11", "a put is refused for a rate of " + std::to_string(settings->put_rate) + " a second, and only " +
                       std::to_string(may_count) + " can have been put");
}

}  // namespace duewheel
