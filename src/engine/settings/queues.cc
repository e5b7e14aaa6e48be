#include "engine/settings/queues.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "base/dynamic_threshold.h"
#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "message/records/subject.h"

namespace duewheel {
namespace {

std::string quoted(std::string_view name) {
    return "`" + std::string(name) + "`";
}

}  // namespace

Queue& Queues::at(QueueNumber number) {
    while (queues_.size() <= number) queues_.push_back(std::make_unique<Queue>());
    Queue& at = *queues_[number];
    if (!at.named) list_name(number);
    return at;
}

void Queues::mark(QueueNumber number) {
    Queue& marked = at(number);
    if (marked.marked) return;
    marked.marked = true;
    marked_.push_back(number);
}

std::deque<QueueNumber> Queues::take_marked() {
    const std::vector<QueueNumber> marked = std::exchange(marked_, {});
    const auto space_of = [this](QueueNumber number) { return queues_[number]->space; };
    const bool is_of_one = std::all_of(
        marked.begin(), marked.end(), [&](QueueNumber number) { return space_of(number) == space_of(marked.front()); });
    if (is_of_one) return {marked.begin(), marked.end()};
    struct Line {
        std::uint64_t weight = 1;
        std::deque<QueueNumber> queues;
    };
    std::vector<Line> lines;  // in the order of the first queue of each
    std::unordered_map<const Namespace*, std::size_t> line_of;
    for (const QueueNumber number : marked) {
        const Namespace* space = space_of(number);
        const auto [at, fresh] = line_of.try_emplace(space, lines.size());
        if (fresh) lines.emplace_back();
        Line& line = lines[at->second];
        if (fresh && space != nullptr) line.weight = std::max<std::uint64_t>(space->settings().weight, 1);
        line.queues.push_back(number);
    }
    std::deque<QueueNumber> in_turns;
    while (!lines.empty()) {
        for (Line& line : lines) {
            for (std::uint64_t left = line.weight; left > 0 && !line.queues.empty(); --left) {
                in_turns.push_back(line.queues.front());
                line.queues.pop_front();
            }
        }
        std::erase_if(lines, [](const Line& line) { return line.queues.empty(); });
    }
    return in_turns;
}

void Queues::mark_again(const std::deque<QueueNumber>& left) {
    marked_.insert(marked_.begin(), left.begin(), left.end());
}

// ---- what follows from settings

const RetryRule& Queues::retry_rule(QueueNumber number) const {
    if (number >= queues_.size()) return options_.retry;
    const std::optional<RetryRule>& own = queues_[number]->retry;
    return own ? *own : options_.retry;
}

std::int64_t Queues::lease_time(const Queue& at) const {
    return at.conf && at.conf->settings.lease_ms != 0 ? at.conf->settings.lease_ms : options_.lease_default_ms;
}

bool Queues::outlasts_lost_leases(QueueNumber number) const {
    return number < queues_.size() && queues_[number]->conf && queues_[number]->conf->settings.kafka;
}

// ---- room

Namespace* Queues::limited_space(QueueNumber number, std::string_view name_space) {
    if (namespaces_.with_settings == 0) return nullptr;
    Namespace* space = number < queues_.size() ? queues_[number]->space : namespaces_.find(name_space);
    return space != nullptr && space->conf ? space : nullptr;
}

bool Queues::is_full(QueueNumber number, std::uint64_t more) {
    Queue& at = *queues_[number];
    if (!at.conf || at.conf->settings.pending_max == 0) return false;
    return at.counts.pending + puts_in_batch(at) + more > at.conf->settings.pending_max;
}

std::uint64_t& Queues::puts_in_batch(Queue& at) {
    const std::uint64_t commit = batches_.has_batch() ? batch().totals().commit + 1 : 0;
    if (at.puts_of_commit != commit) at.puts_in_batch = 0;
    at.puts_of_commit = commit;
    return at.puts_in_batch;
}

ErrorCode Queues::why_not_created(QueueNumber number, const std::string& name_space, DueMs nominal_ms) {
    if (number < queues_.size() && is_full(number, 1)) return "queue_full"_code;
    Namespace& space = namespaces_.at(name_space);
    if (space.is_full(1)) return "namespace_full"_code;
    if (!space.puts.has_room(space.settings().put_rate, now_)) return "too_many_puts"_code;
    return !is_behind(nominal_ms) || space.catch_up.has_room(options_.catch_up_rate, now_) ? ErrorCode::none
                                                                                           : "catching_up"_code;
}

Status Queues::check_room(QueueNumber number, const std::string& name_space, const std::string& queue_name,
                          bool is_recurring) {
    if (number == kNoQueue) {
        if (Status free = check_new_queue(name_space, queue_name); !free) return free;
    }
    const std::uint64_t needed = is_recurring ? 2 : 1;
    const char* const takes = is_recurring ? " (a recurring message needs room for itself and for an occurrence)" : "";
    const Namespace* space = limited_space(number, name_space);
    if (number < queues_.size() && is_full(number, needed)) {
        const Queue& at = *queues_[number];
        return Error{"queue_full"_code,
                     "the queue holds " + counted(at.counts.pending + at.puts_in_batch, "unfinished message") +
                         ", and its limit is " + std::to_string(at.conf->settings.pending_max) + takes +
                         ": put later, add consumers, or raise limits.pending",
                     "queue"};
    }
    if (space != nullptr && space->is_full(needed)) {
        ++counters_.quota_refusals;
        return Error{"namespace_full"_code,
                     "the queues of namespace " + quoted(name_space) + " hold " +
                         counted(space->pending + space->puts_in_batch, "unfinished message") +
                         ", and the limit of the namespace is " + std::to_string(space->settings().pending_max) +
                         takes + ": put later, add consumers, or raise the namespace's limits.pending",
                     "namespace"};
    }
    return check_share_of_disk(number, name_space);
}

Status Queues::check_share_of_disk(QueueNumber number, const std::string& name_space) {
    if (!namespaces_.are_several()) return {};
    const Namespace* space = number < queues_.size() ? queues_[number]->space : namespaces_.find(name_space);
    if (space == nullptr || space->log_bytes / kTimesFree < free_bytes_) return {};
    ++counters_.quota_refusals;
    return Error{
        "store_full"_code,
        "namespace " + quoted(name_space) + " holds " + std::to_string(space->log_bytes >> 20) +
            " MiB of the log, and " + std::to_string(free_bytes_ >> 20) +
            " MiB are free for puts: a namespace that shares the server may hold four times as much as is free. "
            "Acknowledge or cancel messages, or give the server more disk space",
        "namespace"};
}

Status Queues::take_room(QueueNumber number, const std::string& name_space, const std::string& queue_name) {
    Status room = check_room(number, name_space, queue_name, false);
    if (room) count_put(number, name_space, queue_name);
    return room;
}

bool Queues::is_behind(DueMs nominal_ms) const {
    return nominal_ms < now_ - options_.catch_up_after_ms;
}

Status Queues::take_room_to_create(QueueNumber number, const std::string& name_space, const std::string& queue_name,
                                   DueMs nominal_ms) {
    Namespace& space = namespaces_.at(name_space);
    if (Status fits = check_put_rate(&space); !fits) return fits;
    const bool catches_up = is_behind(nominal_ms);
    if (catches_up && !space.catch_up.has_room(options_.catch_up_rate, now_)) {
        return Error{"catching_up"_code,
                     "the rules of namespace " + quoted(name_space) + " are behind, and create up to " +
                         counted(options_.catch_up_rate, "message") + " per second until they are not"};
    }
    if (Status room = take_room(number, name_space, queue_name); !room) return room;
    space.puts.take();
    if (catches_up) space.catch_up.take();
    return {};
}

void Queues::count_put(QueueNumber number, const std::string& name_space, const std::string& queue_name) {
    if (number < queues_.size()) ++puts_in_batch(*queues_[number]);
    if (number == kNoQueue) namespaces_.begin_queue(namespaces_.at(name_space), queue_name);
    Namespace* space = limited_space(number, name_space);
    if (space == nullptr) return;
    namespaces_.note_in_batch(*space);
    ++space->puts_in_batch;
}

Queues::NameLimit Queues::limit_of_names(const std::string& name_space, const std::string& queue_name,
                                         const std::string* before) {
    const Namespace* own = namespaces_.find(name_space);
    const auto is_begun = [own](const std::string& name) {
        return own != nullptr && own->queues_in_batch.contains(name);
    };
    if (is_begun(queue_name)) return NameLimit::none;
    const std::uint64_t others = before != nullptr && !is_begun(*before) ? 1 : 0;
    const std::uint64_t all = recent_.queues().in_use() + namespaces_.queues_in_batch() + others;
    const std::uint64_t held = own == nullptr ? 0 : own->queues + own->queues_in_batch.size() + others;
    if (!namespaces_.may_use_one(name_space, held, all, options_.queues_max)) return NameLimit::of_server;
    const Namespace* space = limited_space(kNoQueue, name_space);
    const std::uint64_t most = space != nullptr ? space->settings().queues_max : 0;
    if (most == 0) return NameLimit::none;
    return held < most ? NameLimit::none : NameLimit::of_namespace;
}

Status Queues::check_new_queue(const std::string& name_space, const std::string& queue_name,
                               const std::string* before) {
    const NameLimit limit = limit_of_names(name_space, queue_name, before);
    if (limit == NameLimit::none) return {};
    if (limit == NameLimit::of_server) return refuse_name();
    ++counters_.quota_refusals;
    return Error{"queue_limit"_code,
                 "namespace " + quoted(name_space) + " is limited to " +
                     counted(limited_space(kNoQueue, name_space)->settings().queues_max, "queue") +
                     ", and all are in use: use an existing one, or raise the namespace's limits.queues; queues "
                     "without messages and settings are removed after a while",
                 "queue"};
}

void Queues::have_names_released() {
    const bool has_looked = names_checked_at_ms_ != 0 && now_ - names_checked_at_ms_ < 1000;
    if (has_looked || segment_.is_empty()) return;
    names_checked_at_ms_ = now_;
    const bool would_help = std::any_of(queues_.begin(), queues_.end(), [this](const std::unique_ptr<Queue>& at) {
        return at->named && at->last_segment == segment_.number() && !needs_name(*at);
    });
    if (would_help) segment_.close_soon();
}

Error Queues::refuse_name() {
    have_names_released();
    return {"queue_limit"_code,
            "there may be " + counted(options_.queues_max, "queue") +
                ", and all are in use, or the share of one namespace (four times as many as are left): use an existing "
                "one, or raise the setting limits.queues_max; queues without "
                "messages and settings are removed after a while",
            "queue"};
}

Status Queues::check_put_rate(Namespace* space) {
    if (space == nullptr || space->puts.has_room(space->settings().put_rate, now_)) return {};
    ++counters_.quota_refusals;
    return Error{"too_many_puts"_code,
                 "namespace " + quoted(*space->name) + " is limited to " + counted(space->settings().put_rate, "put") +
                     " per second: put the others later, or raise the namespace's limits.put_rate",
                 "namespace"};
}

Status Queues::check_quota(std::string_view name_space, std::uint64_t Namespace::*used,
                           std::uint64_t NamespaceSettings::*quota, ErrorCode code, const std::string& what) {
    const Namespace* space = limited_space(kNoQueue, name_space);
    const std::uint64_t max = space == nullptr ? 0 : space->settings().*quota;
    if (max == 0 || space->*used < max) return {};
    ++counters_.quota_refusals;
    return Error{code,
                 "namespace " + quoted(name_space) + " has " + counted(space->*used, what) + " and is limited to " +
                     std::to_string(max) + ": delete one that is not needed, or raise the namespace's limits." + what +
                     "s",
                 what};
}

// ---- names

void Queues::list_name(QueueNumber number) {
    const QueueName& name = recent_.queues().name(number);
    if (name.queue.empty()) return;  // it was released, and a lookup is pending
    Queue& at = *queues_[number];
    at.named = true;
    at.last_segment = segment_.number();
    by_name_.emplace(std::pair(name.name_space, name.queue), number);
    at.space = &namespaces_.at(name.name_space);
    ++at.space->queues;
    at.space->pending += at.counts.pending;
    at.put_on_its_way = namespaces_.has_begun(*at.space, name.queue);
}

void Queues::release_names(SegmentNumber swept) {
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        const Queue& at = *queues_[number];
        if (!at.named || at.last_segment > swept) continue;
        if (!needs_name(at)) release_name(number);
    }
}

bool Queues::needs_name(const Queue& at) const {
    return !at.counts.empty() || at.conf || at.next_settings || !at.waiters.empty() || at.has_backlog() ||
           at.groups_to_find || (at.line && at.line->groups > 0) || at.turn_timer_ms != 0 || at.line_lookups > 0 ||
           at.durable_cursor != kNoBacklog || at.purge_through != 0 || at.has_target_changed() || at.put_on_its_way ||
           dead_letters_.is_expiring();
}

void Queues::release_name(QueueNumber number) {
    const QueueName& name = recent_.queues().name(number);
    by_name_.erase({name.name_space, name.queue});
    dead_letters_.forget(number);
    if (Namespace* space = queues_[number]->space) {
        --space->queues;
        space->pending -= queues_[number]->counts.pending;
        namespaces_.drop_if_idle(*space);
    }
    recent_.queues().release(number);
    *queues_[number] = Queue{};
}

void Queues::release_if_only_waited_for(QueueNumber number) {
    const Queue& at = *queues_[number];
    if (at.named && at.only_waited_for && !at.marked && !needs_name(at)) release_name(number);
}

// ---- counts

void Queues::count_into_queue(Queue& at, State state, std::uint32_t record_bytes) {
    const std::uint64_t before = at.counts.pending;
    at.put_on_its_way = false;
    at.counts.enter(state);
    at.space->pending += at.counts.pending - before;
    at.space->log_bytes += record_bytes;
}

void Queues::count_out_of_queue(Queue& at, State state, std::uint32_t record_bytes) {
    const std::uint64_t before = at.counts.pending;
    at.put_on_its_way = false;
    at.counts.leave(state);
    at.space->pending -= before - at.counts.pending;
    at.space->log_bytes -= std::min<std::uint64_t>(record_bytes, at.space->log_bytes);
}

void Queues::count_in(QueueNumber number, std::uint64_t QueueTotals::*what, std::uint64_t by) {
    if (number < queues_.size() && queues_[number]->named) queues_[number]->totals.*what += by;
    totals_.*what += by;
}

const FiredKey* Queues::first_fired(Queue& at) const {
    return at.fired.top(at.ready_count + at.leased_count, [&](const FiredKey& key) {
        const Entry& entry = recent_.entry(key.entry);
        return entry.id == key.position.id && entry.due_ms == key.position.due_ms && bounds_cursor(entry.waits_for);
    });
}

const char* Queues::find_miscount(std::map<std::string_view, NamespaceAnswer> sums) const {
    std::uint64_t with_settings = 0;
    for (const auto& [name, number] : by_name_) {
        NamespaceAnswer& sum = sums[name.first];
        ++sum.queues;
        sum.pending += queues_[number]->counts.pending;
        if (queues_[number]->space == nullptr || *queues_[number]->space->name != name.first) {
            return "a queue counts in another namespace";
        }
    }
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

// ---- records of settings

void Queues::add_settings(QueueNumber number, const QueueSettings& settings, ReplyToken token, Reply with) {
    Queue& queue = at(number);
    const QueueName& name = recent_.queues().name(number);
    std::optional<StoredConf> before;
    if (const QueueConf* conf = queue.conf.get()) {
        before = {conf->log_position, conf->record_bytes, conf->settings.revision,
                  encode_queue_settings(conf->settings)};
    }
    queue.next_settings = std::make_unique<QueueSettings>(settings);
    queue.next_settings->old_per_second = 0;
    const std::string value = encode_queue_settings(*queue.next_settings);
    add_conf(Subject::queue, name.name_space, name.queue, value, before, token, std::move(with));
}

void Queues::add_settings(Namespace& space, const NamespaceSettings& settings, ReplyToken token, Reply with) {
    std::optional<StoredConf> before;
    if (const NamespaceConf* conf = space.conf.get()) {
        before = {conf->log_position, conf->record_bytes, conf->settings.revision,
                  encode_namespace_settings(conf->settings)};
    }
    const std::string value = encode_namespace_settings(settings);
    space.next_settings = settings;
    add_conf(Subject::name_space, *space.name, *space.name, value, before, token, std::move(with));
}

}  // namespace duewheel
