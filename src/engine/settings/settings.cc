#include "engine/settings/settings.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "resource/queue_settings.h"

namespace duewheel {
namespace {

bool has_same_url(const QueueSettings& left, const QueueSettings& right) {
    return left.webhook && right.webhook && left.webhook->url == right.webhook->url;
}

}  // namespace

Verdict Settings::decide(PendingCommand& pending, const ConfigureNamespaceCommand& command) {
    if (!command.removes) {
        if (Status legal = check(command.settings); !legal) return replied(pending, std::move(legal).error());
    }
    Namespace* space = queues_.namespaces().find(command.name_space);
    if (space != nullptr && space->next_settings) return Verdict::deferred;
    const bool has_settings = space != nullptr && space->conf;
    if (command.removes) {
        NamespaceAnswer answer;
        answer.name_space = command.name_space;
        answer.removed = has_settings;
        if (!has_settings) return replied(pending, std::move(answer));
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        queues_.add_settings(*space, NamespaceSettings{}, pending.token, std::move(answer));
        return Verdict::settled;
    }
    NamespaceSettings next = command.settings;
    next.revision = has_settings ? space->conf->settings.revision : 0;
    if (has_settings && next == space->conf->settings) return replied(pending, reports_.describe(*space));
    if (!has_settings && queues_.namespaces().with_settings + namespaces_in_batch_ >= options_.namespaces_max) {
        return replied(pending, Error{"namespace_limit"_code,
                                      "there are " + std::to_string(options_.namespaces_max) +
                                          " namespaces with settings already: remove settings that are not needed, or "
                                          "raise the setting limits.namespaces_max",
                                      "namespace"});
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    ++next.revision;
    if (!has_settings) ++namespaces_in_batch_;
    queues_.add_settings(queues_.namespaces().at(command.name_space), next, pending.token, NamespaceAnswer{});
    return Verdict::settled;
}

Verdict Settings::decide(PendingCommand& pending, const RelocateSettingsCommand& command) {
    return command.subject == Subject::queue ? relocate_queue(pending, command) : relocate_namespace(pending, command);
}

Verdict Settings::relocate_namespace(PendingCommand& pending, const RelocateSettingsCommand& command) {
    Namespace* space = queues_.namespaces().find(command.name_space);
    if (space != nullptr && space->next_settings) return Verdict::deferred;
    if (space == nullptr || !space->conf || space->conf->log_position != command.log_position) {
        return replied(pending, RelocateAnswer{});
    }
    queues_.add_settings(*space, space->conf->settings, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Status Settings::check(const NamespaceSettings& settings) const {
    return check_ranges(fields_of<NamespaceSettings>(), &settings,
                        [this](std::string_view) { return options_.pending_limit_max; });
}

void Settings::apply(Operation& operation, const ConfRecord& record) {
    record.subject == Subject::queue ? apply_queue(operation, record.name_space) : apply_namespace(operation);
}

void Settings::apply_namespace(Operation& operation) {
    Namespace& space = queues_.namespaces().at(operation.name);
    install(space, *std::exchange(space.next_settings, std::nullopt), operation.sequence, operation.frame_bytes);
    auto* answer = std::get_if<NamespaceAnswer>(&operation.reply);
    if (answer != nullptr && !answer->removed) *answer = reports_.describe(space);
    queues_.namespaces().drop_if_idle(space);
}

void Settings::install(Namespace& space, const NamespaceSettings& settings, Sequence log_position,
                       std::uint32_t record_bytes) {
    queues_.namespaces().with_settings -= space.conf ? 1 : 0;
    if (settings.revision == 0) {
        space.conf.reset();
        return;
    }
    space.conf = std::make_unique<NamespaceConf>(NamespaceConf{settings, log_position, record_bytes});
    ++queues_.namespaces().with_settings;
}

Verdict Settings::decide(PendingCommand& pending, const PatchQueueCommand& command) {
    const QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    QueueSettings settings;
    if (number != kNoQueue) {
        const Queue& at = queues_.at(number);
        if (at.next_settings) return Verdict::deferred;
        if (at.conf) settings = at.conf->settings;
    }
    if (Status changed = command.change(settings); !changed) return replied(pending, std::move(changed).error());
    const auto set = ConfigureQueueCommand::What::set;
    return decide(pending, ConfigureQueueCommand{command.name_space, command.queue, set, settings, {}, {}, {}});
}

Verdict Settings::decide(PendingCommand& pending, const PatchNamespaceCommand& command) {
    const Namespace* space = queues_.namespaces().find(command.name_space);
    if (space != nullptr && space->next_settings) return Verdict::deferred;
    NamespaceSettings settings;
    if (space != nullptr && space->conf) settings = space->conf->settings;
    if (Status changed = command.change(settings); !changed) return replied(pending, std::move(changed).error());
    return decide(pending, ConfigureNamespaceCommand{command.name_space, false, settings});
}

Verdict Settings::decide(PendingCommand& pending, const ConfigureQueueCommand& command) {
    using What = ConfigureQueueCommand::What;
    if (command.what == What::set) {
        if (Status legal = check(command.settings); !legal) return replied(pending, std::move(legal).error());
    }
    QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) {
        if (command.what == What::remove) {
            QueueAnswer nothing;
            nothing.name_space = command.name_space;
            nothing.queue = command.queue;
            nothing.removed = false;
            return replied(pending, std::move(nothing));
        }
        if (command.what != What::set && (command.what != What::pause || !command.gone_url.empty())) {
            return replied(pending, unknown_queue());
        }
        if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
        if (Status free = queues_.check_new_queue(command.name_space, command.queue); !free) {
            return replied(pending, std::move(free).error());
        }
        number = recent_.queues().number(command.name_space, command.queue);
    }
    Queue& at = queues_.at(number);
    if (at.next_settings) return Verdict::deferred;
    if (command.what == What::remove) return remove(pending, number);

    // A paused queue frees no space: a resume may always be written.
    const Adds what_it_adds = command.what == What::set || command.what == What::pause ? Adds::change : Adds::end;
    QueueSettings next = at.conf ? at.conf->settings : QueueSettings{};
    const QueueSettings before = next;
    switch (command.what) {
        case What::set:
            next = command.settings;
            if (command.keeps_pause) next.paused = before.paused;
            next.paused_by =
                next.paused && before.paused && has_same_url(next, before) ? before.paused_by : PausedBy::user;
            next.purge_through = before.purge_through;
            next.purge_started_ms = before.purge_started_ms;
            next.discard_before_ms = before.discard_before_ms;
            next.discard_started_ms = before.discard_started_ms;
            break;
        case What::pause:
            if (!command.gone_url.empty()) {
                if (before.paused || !before.webhook || before.webhook->url != command.gone_url) break;
                next.paused_by = PausedBy::target;
            }
            next.paused = true;
            break;
        case What::resume:
            next.paused = false;
            next.paused_by = PausedBy::user;
            break;
        case What::purge:
            if (at.counts.pending == 0) break;
            // Every id that was assigned so far; later puts of this batch get greater ones.
            next.purge_through = batch().totals().id_counter * kShardsMax + options_.shard;
            // If a purge of all of them is in progress, it continues, so that repeated calls write nothing.
            if (next.purge_through != before.purge_through) next.purge_started_ms = now_;
            break;
        case What::discard: {
            if (at.counts.dead == 0) break;
            const DueMs until = std::min(command.before_ms.value_or(now_), now_);
            // Messages that died earlier in this millisecond are to be ended, and those that die later in it are not:
            // so the command waits for the next millisecond.
            if (until == now_ && at.newest_death_ms >= now_) return Verdict::deferred;
            if (until <= before.discard_before_ms) break;  // the discard in progress includes it
            next.discard_before_ms = until;
            next.discard_started_ms = now_;
            break;
        }
        case What::remove:
            break;
    }
    next.revision = before.revision;
    const bool says_nothing_new = next == before && (before.revision != 0 || command.what != What::set);
    if (says_nothing_new) return replied(pending, reports_.describe(number));
    if (refuse_for_space(pending, what_it_adds)) return Verdict::settled;
    next.revision = before.revision + 1;
    queues_.add_settings(number, next, pending.token, QueueAnswer{});
    return Verdict::settled;
}

Verdict Settings::remove(PendingCommand& pending, QueueNumber number) {
    Queue& at = queues_.at(number);
    if (queues_.puts_in_batch(at) != 0)
        return Verdict::deferred;  // they are not counted yet, and belong to these settings
    QueueAnswer answer = reports_.describe(number);
    if (!at.counts.empty()) {
        return replied(pending, Error{"queue_not_empty"_code,
                                      "the queue holds " + std::to_string(at.counts.pending) +
                                          " unfinished messages and " + std::to_string(at.counts.dead) +
                                          " dead letters, to which its settings apply: purge the queue and discard its "
                                          "dead letters, or change the settings instead",
                                      "queue"});
    }
    answer.removed = at.conf != nullptr;
    if (!at.conf) return replied(pending, std::move(answer));
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    queues_.add_settings(number, QueueSettings{}, pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Settings::relocate_queue(PendingCommand& pending, const RelocateSettingsCommand& command) {
    const QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) return replied(pending, RelocateAnswer{});
    const Queue& at = queues_.at(number);
    if (at.next_settings) return Verdict::deferred;
    if (!at.conf || at.conf->log_position != command.log_position) return replied(pending, RelocateAnswer{});
    queues_.add_settings(number, at.conf->settings, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Status Settings::check(const QueueSettings& settings) const {
    if (settings.lease_ms != 0) {
        if (Status legal = check_lease_time(settings.lease_ms); !legal) return legal;
    }
    if (const Result<RetryRule> rule = chosen_rule(settings.retry, options_.retry); !rule) return rule.error();
    if (Status fits = check_burst(settings.rate, "rate"); !fits) return fits;
    if (Status fits = check_burst(settings.group_rate, "groups.rate"); !fits) return fits;
    return check_ranges(fields_of<QueueSettings>(), &settings, [this](std::string_view limit) {
        if (limit == "limits.leased_max") return std::uint64_t{options_.leased_max};
        // The limits of a target are checked where it is read.
        return limit == "limits.pending_max" ? options_.pending_limit_max : std::numeric_limits<std::uint64_t>::max();
    });
}

void Settings::apply_queue(Operation& operation, const std::string& name_space) {
    const QueueNumber number = recent_.queues().find(name_space, operation.name);
    Queue& at = queues_[number];
    const std::unique_ptr<QueueSettings> next = std::move(at.next_settings);
    at.only_waited_for = false;
    install(number, *next, operation.sequence, operation.frame_bytes);
    auto* answer = std::get_if<QueueAnswer>(&operation.reply);
    if (operation.token == 0 || answer == nullptr) return;
    const std::optional<bool> removed = answer->removed;
    *answer = reports_.describe(number);
    answer->removed = removed;
}

void Settings::install(QueueNumber number, const QueueSettings& settings, Sequence log_position,
                       std::uint32_t record_bytes) {
    Queue& at = queues_.at(number);
    const MessageId purged_before = at.purge_through;
    const bool had_webhook = at.conf && at.conf->settings.webhook;
    const bool had_kafka = at.conf && at.conf->settings.kafka;
    if (settings.revision == 0) {
        at.conf.reset();
    } else {
        at.conf = std::make_unique<QueueConf>(QueueConf{settings, log_position, record_bytes});
    }
    if (at.paused && !settings.paused) at.resumed_ms = now_;
    at.paused = settings.paused;
    note_target(number, TargetKind::webhook, had_webhook);
    note_target(number, TargetKind::kafka, had_kafka);
    at.retry.reset();
    if (!settings.retry.is_empty()) {
        // It was valid with the server's rule when it was set. If that has changed since and the two are not valid
        // together, the server's rule applies.
        if (const Result<RetryRule> rule = chosen_rule(settings.retry, options_.retry)) at.retry = *rule;
    }
    at.purge_through = settings.purge_through;
    if (at.purge_through != purged_before) purges_.begin(number);
    if (at.discard_before_ms != settings.discard_before_ms) {
        at.discard_before_ms = settings.discard_before_ms;
        dead_letters_.set_discard(number, at.discard_before_ms);
        if (at.discard_before_ms == 0) at.discarded = 0;
    }
    turns_.limits_changed(number);
}

// Reports changes that concern the pusher of this kind, and no others.
void Settings::note_target(QueueNumber number, TargetKind kind, bool had_one) {
    Queue& at = queues_[number];
    Targets& targets = targets_[index_of(kind)];
    const bool has_one = at.conf && (kind == TargetKind::webhook ? at.conf->settings.webhook.has_value()
                                                                 : at.conf->settings.kafka.has_value());
    targets.queues += (has_one ? 1 : 0) - (had_one ? 1 : 0);
    if ((!has_one && !had_one) || std::exchange(at.target_changed[index_of(kind)], true)) return;
    targets.changed.push_back(number);
}

std::vector<TargetQueue> Settings::take_changed_targets(TargetKind kind) {
    std::vector<TargetQueue> changed;
    for (const QueueNumber number : std::exchange(targets_[index_of(kind)].changed, {})) {
        Queue& at = queues_[number];
        at.target_changed[index_of(kind)] = false;
        TargetQueue& target = changed.emplace_back();
        target.name = recent_.queues().name(number);
        target.paused = at.paused;
        if (!at.conf) continue;
        target.webhook = at.conf->settings.webhook;
        target.kafka = at.conf->settings.kafka;
    }
    return changed;
}

}  // namespace duewheel
