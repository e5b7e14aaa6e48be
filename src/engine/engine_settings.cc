// Settings of queues, pause and resume, and queries about a queue.
//
// Settings are records (message/queue_settings.h), applied when they are durable and before they are answered; so after
// the reply to a pause nothing is delivered any more. At most one command on the settings of a queue is in a batch, as
// for messages.
#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

#include "engine/engine.h"
#include "engine/refusals.h"

namespace duewheel {
namespace {

bool has_same_url(const QueueSettings& left, const QueueSettings& right) {
    return left.webhook && right.webhook && left.webhook->url == right.webhook->url;
}

}  // namespace

Error Engine::unknown_queue() {
    return {"unknown_queue",
            "the queue has no messages and no settings: check the name, or create it with a put, settings or a pause",
            "queue"};
}

// ---- commands

Engine::Verdict Engine::configure(PendingCommand& pending, const ConfigureQueueCommand& command) {
    using What = ConfigureQueueCommand::What;
    if (command.what == What::set) {
        if (Status legal = check_settings(command.settings); !legal) {
            return reply(pending.token, std::move(legal).error()), Verdict::settled;
        }
    }
    QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) {
        if (command.what == What::remove) {
            QueueAnswer nothing;
            nothing.name_space = command.name_space;
            nothing.queue = command.queue;
            nothing.removed = false;
            return reply(pending.token, std::move(nothing)), Verdict::settled;
        }
        if (command.what != What::set && (command.what != What::pause || !command.gone_url.empty())) {
            return reply(pending.token, unknown_queue()), Verdict::settled;
        }
        if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
        if (Status free = check_new_queue(command.name_space, command.queue); !free) {
            return reply(pending.token, std::move(free).error()), Verdict::settled;
        }
        number = recent_.queues().number(command.name_space, command.queue);
    }
    Queue& at = queue(number);
    if (at.conf_in_batch) return Verdict::deferred;
    if (command.what == What::remove) return remove_settings(pending, number);

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
    if (says_nothing_new) return reply(pending.token, describe(number)), Verdict::settled;
    if (refuse_for_space(pending, what_it_adds)) return Verdict::settled;
    next.revision = before.revision + 1;
    add_settings(number, next, pending.token, QueueAnswer{});
    return Verdict::settled;
}

Engine::Verdict Engine::remove_settings(PendingCommand& pending, QueueNumber number) {
    Queue& at = queue(number);
    if (puts_in_batch(at) != 0) return Verdict::deferred;  // they are not counted yet, and belong to these settings
    QueueAnswer answer = describe(number);
    if (!at.counts.empty()) {
        reply(pending.token, Error{"queue_not_empty",
                                   "the queue holds " + std::to_string(at.counts.pending) +
                                       " unfinished messages and " + std::to_string(at.counts.dead) +
                                       " dead letters, to which its settings apply: purge the queue and discard its "
                                       "dead letters, or change the settings instead",
                                   "queue"});
        return Verdict::settled;
    }
    answer.removed = at.conf != nullptr;
    if (!at.conf) return reply(pending.token, std::move(answer)), Verdict::settled;
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    add_settings(number, QueueSettings{}, pending.token, std::move(answer));
    return Verdict::settled;
}

// Compaction writes the settings again, unchanged.
Engine::Verdict Engine::relocate_settings(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (command.subject == kSubjectNamespace) return relocate_namespace(pending, command);
    if (command.subject == kSubjectToken) return relocate_token(pending, command);
    if (command.subject == kSubjectInput) return relocate_input(pending, command);
    const QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) return reply(pending.token, RelocateAnswer{}), Verdict::settled;
    const Queue& at = queue(number);
    if (at.conf_in_batch) return Verdict::deferred;
    if (!at.conf || at.conf->log_position != command.log_position)
        return reply(pending.token, RelocateAnswer{}), Verdict::settled;
    add_settings(number, at.conf->settings, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Status Engine::check_settings(const QueueSettings& settings) const {
    if (settings.lease_ms != 0) {
        if (Status legal = check_lease_time(settings.lease_ms); !legal) return legal;
    }
    if (const Result<RetryRule> rule = chosen_rule(settings.retry, options_.retry); !rule) return rule.error();
    if (settings.pending_max > options_.pending_limit_max) {
        return out_of_range("limits.pending", "from 1 to " + std::to_string(options_.pending_limit_max));
    }
    if (settings.per_second > kPerSecondMax) {
        return out_of_range("limits.per_second", "from 1 to " + std::to_string(kPerSecondMax));
    }
    return {};
}

// Whether `more` messages exceed the queue's own limit, including those of the batch in construction.
bool Engine::is_queue_full(QueueNumber number, std::uint64_t more) {
    Queue& at = *queues_[number];
    if (!at.conf || at.conf->settings.pending_max == 0) return false;
    return at.counts.pending + puts_in_batch(at) + more > at.conf->settings.pending_max;
}

// The number of puts to the queue in the current batch; 0 if there is no batch.
std::uint64_t& Engine::puts_in_batch(Queue& at) {
    const std::uint64_t commit = batches_.has_batch() ? batch().totals().commit + 1 : 0;
    if (at.puts_of_commit != commit) at.puts_in_batch = 0;
    at.puts_of_commit = commit;
    return at.puts_in_batch;
}

// ---- records

void Engine::add_settings(QueueNumber number, const QueueSettings& settings, ReplyToken token, Reply with) {
    Queue& at = queue(number);
    const QueueName& name = recent_.queues().name(number);
    const std::string value = encode_queue_settings(settings);
    Record record;
    record.kind = RecordKind::conf;
    record.time_ms = now_;
    record.subject = kSubjectQueue;
    record.state.name_space = name.name_space;
    record.name = name.queue;
    record.value = value;
    if (at.conf) {
        record.log_position = at.conf->log_position;
        record.record_bytes = at.conf->record_bytes;
        record.previous.version = at.conf->settings.revision;
        record.previous.term =
            settings_term(kSubjectQueue, name.name_space, name.queue, encode_queue_settings(at.conf->settings));
    }
    at.conf_in_batch = true;
    batch().add(record, kNoEntry, token, std::move(with));
}

void Engine::apply_settings(std::string_view record_body, Operation& operation) {
    const Result<Record> record = decode_record(RecordKind::conf, record_body);
    const Result<QueueSettings> settings = record ? decode_queue_settings(record->value) : record.error();
    if (!settings) {
        effects_.fatal_error = settings.error();
        return;
    }
    const QueueNumber number = recent_.queues().number(record->state.name_space, record->name);
    queue(number).conf_in_batch = false;
    queue(number).only_waited_for = false;
    recent_.apply(*record, operation.sequence, segment_.number(), operation.frame_bytes);
    have_seconds_counted(number);
    take_settings(number, *settings, operation.sequence, operation.frame_bytes);
    auto* answer = std::get_if<QueueAnswer>(&operation.reply);
    if (operation.token == 0 || answer == nullptr) return;
    const std::optional<bool> removed = answer->removed;
    *answer = describe(number);
    answer->removed = removed;
}

void Engine::take_settings(QueueNumber number, const QueueSettings& settings, Sequence log_position,
                           std::uint32_t record_bytes) {
    Queue& at = queue(number);
    const MessageId purged_before = at.purge_through;
    const bool had_webhook = at.conf && at.conf->settings.webhook;
    const bool had_kafka = at.conf && at.conf->settings.kafka;
    if (settings.revision == 0) {
        at.conf.reset();
    } else {
        at.conf = std::make_unique<QueueConf>(QueueConf{settings, log_position, record_bytes});
    }
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
    if (at.purge_through != purged_before) begin_purge(number);
    if (at.discard_before_ms != settings.discard_before_ms) {
        at.discard_before_ms = settings.discard_before_ms;
        dead_letters_.set_discard(number, at.discard_before_ms);
        if (at.discard_before_ms == 0) at.discarded = 0;
    }
    mark(number);
}

// Reports changes that concern the pusher of this kind, and no others.
void Engine::note_target(QueueNumber number, TargetKind kind, bool had_one) {
    Queue& at = *queues_[number];
    Targets& targets = targets_[index_of(kind)];
    const bool has_one = at.conf && (kind == TargetKind::webhook ? at.conf->settings.webhook.has_value()
                                                                 : at.conf->settings.kafka.has_value());
    targets.queues += (has_one ? 1 : 0) - (had_one ? 1 : 0);
    if ((!has_one && !had_one) || std::exchange(at.target_changed[index_of(kind)], true)) return;
    targets.changed.push_back(number);
}

std::vector<Engine::TargetQueue> Engine::take_changed_targets(TargetKind kind) {
    std::vector<TargetQueue> changed;
    for (const QueueNumber number : std::exchange(targets_[index_of(kind)].changed, {})) {
        Queue& at = *queues_[number];
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

// ---- names

void Engine::list_name(QueueNumber number) {
    const QueueName& name = recent_.queues().name(number);
    if (name.queue.empty()) return;  // it was released, and a lookup is pending
    Queue& at = *queues_[number];
    at.named = true;
    at.last_segment = segment_.number();
    queues_by_name_.emplace(std::pair(name.name_space, name.queue), number);
    join_namespace(at, name);
}

// Names of queues that hold nothing, have no settings and are not in use are removed, so that a name that is used once
// does not use memory forever. `swept`: the recent tier holds no outcomes of records up to that segment any more, so
// nothing in memory refers to a queue whose newest record is in it. O(queues), once a segment.
void Engine::release_names(SegmentNumber swept) {
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        const Queue& at = *queues_[number];
        if (!at.named || at.last_segment > swept) continue;
        if (!needs_name(at)) release_name(number);
    }
}

bool Engine::needs_name(const Queue& at) const {
    return !at.counts.empty() || at.conf || at.conf_in_batch || !at.waiters.empty() || at.has_backlog() ||
           at.line_lookups > 0 || at.durable_cursor != kNoBacklog || at.purge_through != 0 || at.has_target_changed() ||
           at.put_on_its_way || dead_letters_.is_expiring();
}

void Engine::release_name(QueueNumber number) {
    const QueueName& name = recent_.queues().name(number);
    queues_by_name_.erase({name.name_space, name.queue});
    dead_letters_.forget(number);
    leave_namespace(*queues_[number]);
    recent_.queues().release(number);
    *queues_[number] = Queue{};
}

// The last consumer of a queue without messages has left.
void Engine::release_if_only_waited_for(QueueNumber number) {
    const Queue& at = *queues_[number];
    if (at.named && at.only_waited_for && !at.marked && !needs_name(at)) release_name(number);
}

// Capacity for another name is needed. If names are kept only because of records in the open segment, it is closed,
// full or not, so that they can be removed when it has been swept. O(queues), at most once a second.
void Engine::have_names_released() {
    const bool has_looked = names_checked_at_ms_ != 0 && now_ - names_checked_at_ms_ < 1000;
    if (has_looked || segment_.is_empty()) return;
    names_checked_at_ms_ = now_;
    const bool would_help = std::any_of(queues_.begin(), queues_.end(), [this](const std::unique_ptr<Queue>& at) {
        return at->named && at->last_segment == segment_.number() && !needs_name(*at);
    });
    if (would_help) segment_.close_soon();
}

// The limit of names is reached.
Error Engine::refuse_name() {
    have_names_released();
    return {"queue_limit",
            "there may be " + counted(options_.queues_max, "queue") +
                ", and all are in use: use an existing one, or raise the setting limits.queues_max; queues without "
                "messages and settings are removed after a while",
            "queue"};
}

// ---- queries

QueueAnswer Engine::describe(QueueNumber number) const {
    const Queue& at = *queues_[number];
    const QueueName& name = recent_.queues().name(number);
    QueueAnswer answer;
    answer.name_space = name.name_space;
    answer.queue = name.queue;
    if (at.conf) answer.settings = at.conf->settings;
    answer.counts = at.counts;
    answer.ready = at.ready_count;
    answer.leased = at.leased_count;
    answer.waiters = at.waiters.size();
    answer.backlog_on_disk = at.has_backlog();
    answer.purged = at.purged;
    answer.discarded = at.discarded;
    return answer;
}

QueueCounters Engine::counters_of(QueueNumber number) const {
    const Queue& at = *queues_[number];
    return {recent_.queues().name(number),
            at.ready_count,
            at.leased_count,
            at.waiters.size(),
            at.has_backlog(),
            at.counts.pending,
            at.paused,
            at.conf != nullptr,
            at.counts.dead,
            oldest_due(*queues_[number]),
            at.totals};
}

// The earliest of the messages in memory that are due and have not ended; null if there is none. Amortised O(log n).
const FiredKey* Engine::first_fired(Queue& at) const {
    return at.fired.top(at.ready_count + at.leased_count, [&](const FiredKey& key) {
        const Entry& entry = recent_.entry(key.entry);
        return entry.id == key.position.id && entry.due_ms == key.position.due_ms &&
               (entry.state == State::ready || entry.state == State::leased || entry.exhausted || entry.spawning);
    });
}

DueMs Engine::oldest_due(Queue& at) const {
    DuePosition low = std::min(at.cursor, at.reading_from.value_or(kNoBacklog));
    if (const FiredKey* first = first_fired(at)) low = std::min(low, first->position);
    return low == kNoBacklog ? 0 : low.due_ms;
}

// All queues; the first `sorted` are the busiest ones, in descending order. `order` returns how busy a queue is; of
// equally busy queues the oldest comes first.
template <class Order>
std::vector<QueueNumber> Engine::queues_by(const Order& order, std::size_t sorted) const {
    const auto busier = [&](QueueNumber left, QueueNumber right) {
        const auto of_left = order(*queues_[left]);
        const auto of_right = order(*queues_[right]);
        return of_left != of_right ? of_left > of_right : left < right;
    };
    std::vector<QueueNumber> all;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        if (queues_[number]->named) all.push_back(number);
    }
    sorted = std::min(sorted, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sorted), all.end(), busier);
    return all;
}

std::vector<QueueCounters> Engine::busiest_queues(std::size_t most) const {
    const auto order = [](const Queue& at) {
        return std::tuple(at.ready_count + at.leased_count, at.waiters.size(), at.counts.pending);
    };
    std::vector<QueueCounters> counters;
    for (const QueueNumber number : queues_by(order, most)) {
        if (counters.size() == most) break;
        counters.push_back(counters_of(number));
    }
    return counters;
}

QueueTraffic Engine::queue_traffic(std::size_t max) const {
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
        Queue& at = *queues_[number];
        ++traffic.other_queues;
        others.ready += at.ready_count;
        others.leased += at.leased_count;
        others.waiters += at.waiters.size();
        others.pending += at.counts.pending;
        others.dead += at.counts.dead;
        const DueMs oldest_ms = oldest_due(at);
        if (oldest_ms != 0) {
            others.oldest_due_ms = others.oldest_due_ms == 0 ? oldest_ms : std::min(others.oldest_due_ms, oldest_ms);
        }
    }
    return traffic;
}

QueueSums Engine::queue_sums() const {
    QueueSums sums;
    for (const auto& at : queues_) {
        sums.dead += at->counts.dead;
        sums.held += at->counts.held;
        sums.prepared += at->counts.prepared;
        sums.with_settings += at->named && at->conf != nullptr ? 1 : 0;
    }
    return sums;
}

void Engine::describe(const DescribeQueueCommand& command, ReplyToken token) {
    const QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) {
        return reply(token, unknown_queue());
    }
    static_cast<void>(queue(number));
    reply(token, describe(number));
}

void Engine::list_queues(const ListQueuesCommand& command, ReplyToken token, const SharedLimits& limits) {
    if (command.limit == 0 || command.limit > options_.list_limit_max) {
        return reply(token, out_of_range("limit", "from 1 to " + std::to_string(options_.list_limit_max)));
    }
    QueueListAnswer answer;
    // Of the prefix of the token and that of the call, the longer one decides, unless they exclude each other.
    std::string prefix = limits ? limits->queue_prefix : "";
    if (command.prefix.starts_with(prefix)) {
        prefix = command.prefix;
    } else if (!prefix.starts_with(command.prefix)) {
        return reply(token, std::move(answer));
    }
    auto next = command.after < prefix ? queues_by_name_.lower_bound({command.name_space, prefix})
                                       : queues_by_name_.upper_bound({command.name_space, command.after});
    const auto is_in_list = [&](const QueueName& name) {
        return name.name_space == command.name_space && name.queue.starts_with(prefix);
    };
    for (; next != queues_by_name_.end() && is_in_list({next->first.first, next->first.second}); ++next) {
        if (answer.queues.size() == command.limit) {
            answer.complete = false;
            break;
        }
        answer.queues.push_back(describe(next->second));
    }
    reply(token, std::move(answer));
}

}  // namespace duewheel
