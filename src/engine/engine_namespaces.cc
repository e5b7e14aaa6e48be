// Namespaces: their settings, the limits that are checked before anything is added, and queries about
// them.
//
// Settings are `conf` records, as for queues (engine_settings.cc). A limit that is lowered below the current use ends
// nothing: further use is refused until it fits again. Puts of clients are refused; messages of recurring messages,
// schedules, watchdogs and checks wait, exactly as for a queue that is full.
#include <cassert>
#include <utility>

#include "engine/engine.h"
#include "engine/refusals.h"
#include "message/queue_settings.h"

namespace duewheel {
namespace {

std::string quoted(std::string_view name) {
    return "`" + std::string(name) + "`";
}

}  // namespace

// ---- commands

Engine::Verdict Engine::configure_namespace(PendingCommand& pending, const ConfigureNamespaceCommand& command) {
    if (!command.removes) {
        if (Status legal = check_settings(command.settings); !legal) {
            return reply(pending.token, std::move(legal).error()), Verdict::settled;
        }
    }
    Namespace* space = namespaces_.find(command.name_space);
    if (space != nullptr && space->conf_in_batch) return Verdict::deferred;
    const bool has_settings = space != nullptr && space->conf;
    if (command.removes) {
        NamespaceAnswer answer;
        answer.name_space = command.name_space;
        answer.removed = has_settings;
        if (!has_settings) return reply(pending.token, std::move(answer)), Verdict::settled;
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        add_settings(*space, NamespaceSettings{}, pending.token, std::move(answer));
        return Verdict::settled;
    }
    NamespaceSettings next = command.settings;
    next.revision = has_settings ? space->conf->settings.revision : 0;
    if (has_settings && next == space->conf->settings) {
        return reply(pending.token, describe(*space)), Verdict::settled;
    }
    if (!has_settings && namespaces_.with_settings + namespaces_in_batch_ >= options_.namespaces_max) {
        reply(pending.token, Error{"namespace_limit",
                                   "there are " + std::to_string(options_.namespaces_max) +
                                       " namespaces with settings already: remove settings that are not needed, or "
                                       "raise the setting limits.namespaces_max",
                                   "namespace"});
        return Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    ++next.revision;
    if (!has_settings) ++namespaces_in_batch_;
    add_settings(namespaces_.at(command.name_space), next, pending.token, NamespaceAnswer{});
    return Verdict::settled;
}

Engine::Verdict Engine::relocate_namespace(PendingCommand& pending, const RelocateSettingsCommand& command) {
    Namespace* space = namespaces_.find(command.name_space);
    if (space != nullptr && space->conf_in_batch) return Verdict::deferred;
    if (space == nullptr || !space->conf || space->conf->log_position != command.log_position) {
        return reply(pending.token, RelocateAnswer{}), Verdict::settled;
    }
    add_settings(*space, space->conf->settings, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Status Engine::check_settings(const NamespaceSettings& settings) const {
    const std::pair<const char*, std::uint64_t> limits[] = {{"limits.pending", settings.pending_max},
                                                            {"limits.queues", settings.queues_max},
                                                            {"limits.schedules", settings.schedules_max},
                                                            {"limits.watchdogs", settings.watchdogs_max},
                                                            {"limits.put_rate", settings.put_rate}};
    for (const auto& [name, value] : limits) {
        if (value > options_.pending_limit_max) {
            return out_of_range(name, "from 1 to " + std::to_string(options_.pending_limit_max));
        }
    }
    if (settings.weight > kNamespaceWeightMax) {
        return out_of_range("weight", "from 1 to " + std::to_string(kNamespaceWeightMax));
    }
    return {};
}

// ---- limits

// The namespace of a queue, also of a future one; null if it has no limits.
Namespace* Engine::limited_space(QueueNumber number, std::string_view name_space) {
    if (namespaces_.with_settings == 0) return nullptr;
    Namespace* space = number < queues_.size() ? queues_[number]->space : namespaces_.find(name_space);
    return space != nullptr && space->conf ? space : nullptr;
}

// The code with which a put would be refused because the queue or its namespace contains its maximum of messages,
// including those of the batch in construction; otherwise empty. `number` is kNoQueue for a future queue.
std::string_view Engine::why_full(QueueNumber number, std::string_view name_space) {
    if (number < queues_.size() && is_queue_full(number, 1)) return "queue_full";
    const Namespace* space = limited_space(number, name_space);
    return space != nullptr && space->is_full(1) ? "namespace_full" : "";
}

// Whether one more message may be put into the queue. A recurring message must leave capacity for an occurrence:
// recurring messages that fill the limit would wait forever.
Status Engine::check_room(QueueNumber number, const std::string& name_space, const std::string& queue_name,
                          bool is_recurring) {
    if (number == kNoQueue) {
        if (Status free = check_new_queue(name_space, queue_name); !free) return free;
    }
    const std::uint64_t needed = is_recurring ? 2 : 1;
    const char* const takes = is_recurring ? " (a recurring message needs room for itself and for an occurrence)" : "";
    const Namespace* space = limited_space(number, name_space);
    if (number < queues_.size() && is_queue_full(number, needed)) {
        const Queue& at = *queues_[number];
        return Error{"queue_full",
                     "the queue holds " + counted(at.counts.pending + at.puts_in_batch, "unfinished message") +
                         ", and its limit is " + std::to_string(at.conf->settings.pending_max) + takes +
                         ": put later, add consumers, or raise limits.pending",
                     "queue"};
    }
    if (space != nullptr && space->is_full(needed)) {
        ++counters_.quota_refusals;
        return Error{"namespace_full",
                     "the queues of namespace " + quoted(name_space) + " hold " +
                         counted(space->pending + space->puts_in_batch, "unfinished message") +
                         ", and the limit of the namespace is " + std::to_string(space->settings().pending_max) +
                         takes + ": put later, add consumers, or raise the namespace's limits.pending",
                     "namespace"};
    }
    return {};
}

// Also counts the message, if it may be put. Everything that adds a message calls this, or check_room() and
// count_put(); checks of prepared messages are beyond the limits, and are only counted.
Status Engine::take_room(QueueNumber number, const std::string& name_space, const std::string& queue_name) {
    Status room = check_room(number, name_space, queue_name, false);
    if (room) count_put(number, name_space, queue_name);
    return room;
}

// The batch in construction adds a message to the queue.
void Engine::count_put(QueueNumber number, const std::string& name_space, const std::string& queue_name) {
    if (number < queues_.size()) ++puts_in_batch(*queues_[number]);
    if (number == kNoQueue) namespaces_.begin_queue(namespaces_.at(name_space), queue_name);
    Namespace* space = limited_space(number, name_space);
    if (space == nullptr) return;
    namespaces_.note_in_batch(*space);
    ++space->puts_in_batch;
}

// Which limit prevents the creation of a queue of this name, which does not exist; if given, after the queue `before`,
// which does not exist yet either.
Engine::NameLimit Engine::limit_of_names(const std::string& name_space, const std::string& queue_name,
                                         const std::string* before) {
    const Namespace* own = namespaces_.find(name_space);
    const auto is_begun = [own](const std::string& name) {
        return own != nullptr && own->queues_in_batch.contains(name);
    };
    if (is_begun(queue_name)) return NameLimit::none;
    const std::uint64_t others = before != nullptr && !is_begun(*before) ? 1 : 0;
    if (recent_.queues().in_use() + namespaces_.queues_in_batch() + others >= options_.queues_max) {
        return NameLimit::of_server;
    }
    const Namespace* space = limited_space(kNoQueue, name_space);
    const std::uint64_t most = space != nullptr ? space->settings().queues_max : 0;
    if (most == 0) return NameLimit::none;
    const std::uint64_t begun = space->queues + space->queues_in_batch.size() + others;
    return begun < most ? NameLimit::none : NameLimit::of_namespace;
}

// Whether one more queue, of this name, may be created; if given, after the queue `before`.
Status Engine::check_new_queue(const std::string& name_space, const std::string& queue_name,
                               const std::string* before) {
    const NameLimit limit = limit_of_names(name_space, queue_name, before);
    if (limit == NameLimit::none) return {};
    if (limit == NameLimit::of_server) return refuse_name();
    ++counters_.quota_refusals;
    return Error{"queue_limit",
                 "namespace " + quoted(name_space) + " is limited to " +
                     counted(limited_space(kNoQueue, name_space)->settings().queues_max, "queue") +
                     ", and all are in use: use an existing one, or raise the namespace's limits.queues; queues "
                     "without messages and settings are removed after a while",
                 "queue"};
}

// Whether a client may put one more message now. If the put is accepted, the caller then calls take_put().
Status Engine::check_put_rate(Namespace* space) {
    if (space == nullptr || space->puts.has_room(space->settings().put_rate, now_)) return {};
    ++counters_.quota_refusals;
    return Error{"too_many_puts",
                 "namespace " + quoted(*space->name) + " is limited to " + counted(space->settings().put_rate, "put") +
                     " per second: put the others later, or raise the namespace's limits.put_rate",
                 "namespace"};
}

// Whether one more may be added to `used`; `what` is a noun for one of them, `code` is a literal.
Status Engine::check_quota(std::string_view name_space, std::uint64_t used, std::uint64_t most, std::string_view code,
                           const std::string& what) {
    if (most == 0 || used < most) return {};
    ++counters_.quota_refusals;
    return Error{code,
                 "namespace " + quoted(name_space) + " has " + counted(used, what) + " and is limited to " +
                     std::to_string(most) + ": delete one that is not needed, or raise the namespace's limits." + what +
                     "s",
                 what};
}

Status Engine::check_new_schedule(std::string_view name_space) {
    const Namespace* space = limited_space(kNoQueue, name_space);
    if (space == nullptr) return {};
    return check_quota(name_space, space->schedules, space->settings().schedules_max, "schedule_limit", "schedule");
}

Status Engine::check_new_watchdog(std::string_view name_space) {
    const Namespace* space = limited_space(kNoQueue, name_space);
    if (space == nullptr) return {};
    return check_quota(name_space, space->watchdogs, space->settings().watchdogs_max, "watchdog_limit", "watchdog");
}

// ---- counts

// Adds the queue to the list of names.
void Engine::join_namespace(Queue& at, const QueueName& name) {
    at.space = &namespaces_.at(name.name_space);
    ++at.space->queues;
    at.space->pending += at.counts.pending;
    at.put_on_its_way = namespaces_.has_begun(*at.space, name.queue);
}

void Engine::leave_namespace(Queue& at) {
    Namespace* space = std::exchange(at.space, nullptr);
    if (space == nullptr) return;
    --space->queues;
    space->pending -= at.counts.pending;
    namespaces_.drop_if_idle(*space);
}

// A message of the queue enters or leaves this durable state.
void Engine::count_in_queue(Queue& at, State state, bool enters) {
    const std::uint64_t before = at.counts.pending;
    at.put_on_its_way = false;
    enters ? at.counts.enter(state) : at.counts.leave(state);
    at.space->pending += at.counts.pending - before;
}

void Engine::drop_schedule(std::string_view name_space) {
    Namespace& space = namespaces_.at(name_space);
    --space.schedules;
    namespaces_.drop_if_idle(space);
}

void Engine::drop_watchdog(std::string_view name_space) {
    Namespace& space = namespaces_.at(name_space);
    --space.watchdogs;
    namespaces_.drop_if_idle(space);
}

// ---- records

void Engine::add_settings(Namespace& space, const NamespaceSettings& settings, ReplyToken token, Reply with) {
    const std::string value = encode_namespace_settings(settings);
    Record record;
    record.kind = RecordKind::conf;
    record.time_ms = now_;
    record.subject = kSubjectNamespace;
    record.state.name_space = *space.name;
    record.name = *space.name;
    record.value = value;
    if (space.conf) {
        record.log_position = space.conf->log_position;
        record.record_bytes = space.conf->record_bytes;
        record.previous.version = space.conf->settings.revision;
        record.previous.term =
            settings_term(kSubjectNamespace, *space.name, *space.name, encode_namespace_settings(space.conf->settings));
    }
    space.conf_in_batch = true;
    batch().add(record, kNoEntry, token, std::move(with));
}

void Engine::apply_namespace(std::string_view record_body, Operation& operation) {
    const Result<Record> record = decode_record(RecordKind::conf, record_body);
    const Result<NamespaceSettings> settings = record ? decode_namespace_settings(record->value) : record.error();
    if (!settings) {
        effects_.fatal_error = settings.error();
        return;
    }
    Namespace& space = namespaces_.at(record->state.name_space);
    space.conf_in_batch = false;
    take_settings(space, *settings, operation.sequence, operation.frame_bytes);
    auto* answer = std::get_if<NamespaceAnswer>(&operation.reply);
    if (answer != nullptr && !answer->removed) *answer = describe(space);
    namespaces_.drop_if_idle(space);
}

void Engine::take_settings(Namespace& space, const NamespaceSettings& settings, Sequence log_position,
                           std::uint32_t record_bytes) {
    namespaces_.with_settings -= space.conf ? 1 : 0;
    if (settings.revision == 0) {
        space.conf.reset();
        return;
    }
    space.conf = std::make_unique<NamespaceConf>(NamespaceConf{settings, log_position, record_bytes});
    ++namespaces_.with_settings;
}

// ---- queries

NamespaceAnswer Engine::describe(const Namespace& space) {
    NamespaceAnswer answer;
    answer.name_space = *space.name;
    answer.settings = space.settings();
    answer.pending = space.pending;
    answer.queues = space.queues;
    answer.schedules = space.schedules;
    answer.watchdogs = space.watchdogs;
    return answer;
}

void Engine::describe(const DescribeNamespaceCommand& command, ReplyToken token) {
    const Namespace* space = namespaces_.find(command.name_space);
    if (space == nullptr || !space->is_there()) {
        return reply(token, Error{"unknown_namespace",
                                  "the namespace has no content and no settings: check the name, or create it with a "
                                  "put or with settings",
                                  "namespace"});
    }
    reply(token, describe(*space));
}

void Engine::list_namespaces(const ListNamespacesCommand& command, ReplyToken token, const SharedLimits& limits) {
    if (command.limit < 1 || command.limit > options_.list_limit_max) {
        return reply(token, out_of_range("limit", "from 1 to " + std::to_string(options_.list_limit_max)));
    }
    NamespaceListAnswer answer;
    std::string_view after = command.after;
    while (const Namespace* space = namespaces_.next(after)) {
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

std::vector<NamespaceAnswer> Engine::namespaces_with_settings(std::size_t most) const {
    std::vector<NamespaceAnswer> all;
    namespaces_.for_each([&](const Namespace& space) {
        if (space.conf && all.size() < most) all.push_back(describe(space));
    });
    return all;
}

// Compares the counts with the entries; returns a text for the first difference, or null.
const char* Engine::find_miscount() const {
    std::map<std::string_view, NamespaceAnswer> sums;
    std::uint64_t with_settings = 0;
    for (const auto& [name, number] : queues_by_name_) {
        NamespaceAnswer& sum = sums[name.first];
        ++sum.queues;
        sum.pending += queues_[number]->counts.pending;
        if (queues_[number]->space == nullptr || *queues_[number]->space->name != name.first) {
            return "a queue counts in another namespace";
        }
    }
    schedules_.for_each([&](const Schedule& schedule) { ++sums[schedule.name_space].schedules; });
    watchdogs_.for_each([&](const Watchdog& watchdog) { ++sums[watchdog.name_space()].watchdogs; });
    const char* wrong = nullptr;
    namespaces_.for_each([&](const Namespace& space) {
        with_settings += space.conf ? 1 : 0;
        const NamespaceAnswer& sum = sums[*space.name];
        if (space.pending != sum.pending) wrong = "a namespace's count of unfinished messages is off";
        if (space.queues != sum.queues) wrong = "a namespace's count of queues is off";
        if (space.schedules != sum.schedules) wrong = "a namespace's count of schedules is off";
        if (space.watchdogs != sum.watchdogs) wrong = "a namespace's count of watchdogs is off";
        if (space.is_idle()) wrong = "a namespace of which nothing is left is kept";
    });
    if (with_settings != namespaces_.with_settings) wrong = "the count of namespaces with settings is off";
    return wrong;
}

}  // namespace duewheel
