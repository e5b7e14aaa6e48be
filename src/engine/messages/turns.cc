#include "engine/messages/turns.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "base/invariant.h"

namespace duewheel {
namespace {

LimitedBy of_queue(LimitedBy limit) {
    return limit == LimitedBy::leased ? LimitedBy::queue_leased
           : limit == LimitedBy::rate ? LimitedBy::queue_rate
                                      : LimitedBy::nothing;
}

}  // namespace

// ---- messages

void Turns::change(EntryNumber number, WaitsFor before, WaitsFor next) {
    const bool was_ready = before == WaitsFor::consumer, was_leased = before == WaitsFor::lease;
    const bool is_ready = next == WaitsFor::consumer, is_leased = next == WaitsFor::lease;
    if (!was_ready && !was_leased && !is_ready && !is_leased) return;
    const QueueNumber of = recent_.entry(number).queue;
    Queue& at = queues_[of];
    if (was_leased && at.limited_by == LimitedBy::leased) queues_.mark(of);
    if (at.conf) static_cast<void>(may_deliver(of));
    const GroupNumber in = recent_.group_of(number);
    if (in == kNoGroup) {
        if (is_ready && at.line) join_plain(at);
        return;
    }
    Group& group = group_at(of, in);
    GroupLine& line = *at.line;
    if (was_ready) {
        --line.grouped_ready;
        if (--group.ready_count == 0) --line.with_ready;
        want_reading(of, in);
    }
    if (is_ready) {
        ++line.grouped_ready;
        if (group.ready_count++ == 0) ++line.with_ready;
    }
    group.leased_count += (is_leased ? 1 : 0) - (was_leased ? 1 : 0);
    static_cast<void>(look_at_limit(of, in));
    if (is_ready || was_leased) join(of, in);
    if (was_ready && line.grouped_ready == 0) end_turns(of);
    drop_if_idle(of, in);
}

void Turns::push(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    const ReadyKey key{entry.priority, number, {entry.due_ms, entry.id}};
    const GroupNumber in = recent_.group_of(number);
    if (in != kNoGroup) {
        group_at(entry.queue, in).ready.push(key);
        return join(entry.queue, in);
    }
    Queue& at = queues_[entry.queue];
    at.ready.push(key);
    if (at.line) join_plain(at);
}

// Overdue messages leave capacity for messages that become due meanwhile, which need not wait on disk behind the
// backlog.
bool Turns::has_room(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    const Queue& at = queues_[entry.queue];
    const GroupNumber in = recent_.group_of(number);
    if (in != kNoGroup) {
        const Group* group = find(in);
        return group == nullptr || group->ready_count < share(*at.line);
    }
    const bool is_fresh = entry.due_ms >= now_ - options_.fresh_ms;
    return plain_count(at) < (is_fresh ? 2 * options_.ready_max : options_.ready_max);
}

void Turns::note_on_disk(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    const DuePosition position{entry.due_ms, entry.id};
    const GroupNumber in = recent_.group_of(number);
    if (in == kNoGroup) return queues_[entry.queue].lower_cursor(position);
    ++group_at(entry.queue, in).behind;
    lower_cursor(entry.queue, in, position);
}

// ---- deliveries

bool Turns::may_deliver(QueueNumber number) {
    Queue& at = queues_[number];
    const Limit limit = at.ready_count == 0 ? Limit{} : limit_of(at);
    if (limit.by != at.limited_by) at.limited_since_ms = limit.by == LimitedBy::nothing ? 0 : now_;
    at.limited_by = limit.by;
    if (limit.until_ms != 0) set_timer(number, limit.until_ms);
    return limit.by == LimitedBy::nothing;
}

void Turns::pop_first(QueueNumber number) {
    Queue& at = queues_[number];
    if (!at.line) return at.ready.pop_first();
    std::deque<GroupNumber>& turns = at.line->turns;
    const GroupNumber turn = turns.front();
    if (turn == kNoGroup) {
        at.ready.pop_first();
    } else {
        Group& group = *groups_[turn];
        group.ready.pop();
        if (--group.credit > 0) return;
        group.credit = group.weight();
    }
    turns.pop_front();
    turns.push_back(turn);
}

void Turns::count_delivery(EntryNumber number) {
    const QueueNumber of = recent_.entry(number).queue;
    Queue& at = queues_[of];
    if (const RateRule* rate = at.rate()) at.pace.count(*rate, now_, began_ms_);
    const GroupNumber in = recent_.group_of(number);
    if (in == kNoGroup) return;
    Group& group = group_at(of, in);
    if (const RateRule* rate = rate_of(of, group)) group.pace.count(*rate, now_, began_ms_);
}

void Turns::uncount_delivery(EntryNumber number) {
    const QueueNumber of = recent_.entry(number).queue;
    Queue& at = queues_[of];
    if (const RateRule* rate = at.rate()) at.pace.uncount(*rate);
    const GroupNumber in = recent_.group_of(number);
    if (in == kNoGroup) return;
    Group& group = group_at(of, in);
    if (const RateRule* rate = rate_of(of, group)) group.pace.uncount(*rate);
}

ErrorCode Turns::why_limited(QueueNumber number, std::string_view name) const {
    if (number >= queues_.size()) return ErrorCode::none;  // only the index knows it
    const Group* group = name.empty() ? nullptr : find(number, name);
    LimitedBy by = group == nullptr ? LimitedBy::nothing : limit_of(number, *group).by;
    if (by == LimitedBy::nothing) by = of_queue(limit_of(queues_[number]).by);
    switch (by) {
        case LimitedBy::leased:
            return "group_leased"_code;
        case LimitedBy::rate:
            return "group_rate"_code;
        case LimitedBy::backoff:
            return "group_backoff"_code;
        case LimitedBy::queue_leased:
            return "queue_leased"_code;
        case LimitedBy::queue_rate:
            return "queue_rate"_code;
        case LimitedBy::nothing:
            break;
    }
    return ErrorCode::none;
}

Turns::Limit Turns::limit_of(const Queue& at) const {
    if (!at.conf) return {};
    const std::uint64_t leased_max = at.conf->settings.leased_max;
    if (leased_max != 0 && at.leased_count >= leased_max) return {LimitedBy::leased, 0};
    const RateRule* rate = at.rate();
    if (rate == nullptr) return {};
    const DueMs next_ms = at.pace.next_ms(*rate, began_ms_);
    return next_ms > now_ ? Limit{LimitedBy::rate, next_ms} : Limit{};
}

const RateRule* Turns::rate_of(QueueNumber number, const Group& group) const {
    if (group.conf && group.conf->settings.rate) return &*group.conf->settings.rate;
    const Queue& at = queues_[number];
    return at.conf && at.conf->settings.group_rate ? &*at.conf->settings.group_rate : nullptr;
}

Turns::Limit Turns::limit_of(QueueNumber number, const Group& group) const {
    const Queue& at = queues_[number];
    const GroupSettings* own = group.conf ? &group.conf->settings : nullptr;
    if (own != nullptr && own->backoff_until_ms > now_) return {LimitedBy::backoff, own->backoff_until_ms};
    std::uint64_t leased_max = at.conf ? at.conf->settings.group_leased_max : 0;
    if (own != nullptr && own->leased_max != 0) leased_max = own->leased_max;
    if (leased_max != 0 && group.leased_count >= leased_max) return {LimitedBy::leased, 0};
    const RateRule* rate = rate_of(number, group);
    if (rate == nullptr) return {};
    const DueMs next_ms = group.pace.next_ms(*rate, began_ms_);
    return next_ms > now_ ? Limit{LimitedBy::rate, next_ms} : Limit{};
}

// Whether a limit of its own keeps what it has ready: until its next lease ends, or until the time comes.
bool Turns::look_at_limit(QueueNumber number, GroupNumber in) {
    Group& group = *groups_[in];
    const Limit limit = group.ready_count == 0 ? Limit{} : limit_of(number, group);
    const bool is_limited = limit.by != LimitedBy::nothing, was_limited = group.limited_by != LimitedBy::nothing;
    if (is_limited && !was_limited) group.limited_since_ms = now_;
    queues_[number].line->limited += (is_limited ? 1 : 0) - (was_limited ? 1 : 0);
    group.limited_by = limit.by;
    if (limit.until_ms != 0) pause(number, in, limit.until_ms);
    return is_limited;
}

void Turns::join(QueueNumber number, GroupNumber in) {
    Group& group = *groups_[in];
    if (group.in_turn || group.ready_count == 0 || look_at_limit(number, in)) return;
    group.in_turn = true;
    group.credit = group.weight();
    queues_[number].line->turns.push_back(in);
    queues_.mark(number);
}

void Turns::join_plain(Queue& at) {
    if (std::exchange(at.line->plain_in_turn, true)) return;
    at.line->turns.push_back(kNoGroup);
}

// The first of the line has nothing that may be delivered.
void Turns::end_turn(QueueNumber number, GroupNumber in) {
    GroupLine& line = *queues_[number].line;
    line.turns.pop_front();
    if (in == kNoGroup) {
        line.plain_in_turn = false;
        return;
    }
    groups_[in]->in_turn = false;
    drop_if_idle(number, in);
}

// No group has a ready message.
void Turns::end_turns(QueueNumber number) {
    GroupLine& line = *queues_[number].line;
    const std::deque<GroupNumber> all = std::exchange(line.turns, {});
    for (const GroupNumber in : all) {
        if (in == kNoGroup) {
            line.turns.push_back(kNoGroup);
            continue;
        }
        groups_[in]->in_turn = false;
        drop_if_idle(number, in);
    }
}

// ---- time

// An earlier pause of the group is replaced only by one that ends sooner; after each, its limit is looked at again.
void Turns::pause(QueueNumber number, GroupNumber in, DueMs until_ms) {
    Group& group = *groups_[in];
    if (group.paused_until_ms != 0 && group.paused_until_ms <= until_ms) return;
    group.paused_until_ms = until_ms;
    queues_[number].line->paused.push({until_ms, in});
    set_timer(number, until_ms);
}

void Turns::set_timer(QueueNumber number, DueMs at_ms) {
    Queue& at = queues_[number];
    if (at.turn_timer_ms != 0 && at.turn_timer_ms <= at_ms) return;
    static_cast<void>(wheel_.cancel(at.turn_timer));
    at.turn_timer_ms = at_ms;
    at.turn_timer = wheel_.schedule(static_cast<Tick>(std::max(at_ms, now_ + 1)), kTurnCookie | number, 0);
}

void Turns::wake(QueueNumber number) {
    Queue& at = queues_[number];
    at.turn_timer_ms = 0;
    at.turn_timer = {};
    queues_.mark(number);
    static_cast<void>(may_deliver(number));
    if (!at.line) return;
    GroupLine& line = *at.line;
    const auto is_live = [this](const GroupLine::Paused& paused) {
        const Group* group = find(paused.group);
        return group != nullptr && group->paused_until_ms == paused.until_ms;
    };
    while (const GroupLine::Paused* first = line.paused.top(line.groups, is_live)) {
        if (first->until_ms > now_) return set_timer(number, first->until_ms);
        const GroupNumber in = first->group;
        line.paused.pop();
        groups_[in]->paused_until_ms = 0;
        static_cast<void>(look_at_limit(number, in));
        join(number, in);
        watch_backoff(number, in);
        drop_if_idle(number, in);
    }
}

// A backoff ends without a call.
void Turns::watch_backoff(QueueNumber number, GroupNumber in) {
    const GroupConf* conf = groups_[in]->conf.get();
    if (conf == nullptr) return;
    if (conf->settings.backoff_until_ms > now_) return pause(number, in, conf->settings.backoff_until_ms);
    if (conf->settings.is_empty(now_)) ended_backoffs_.push_back(in);
}

// ---- settings

void Turns::limits_changed(QueueNumber number) {
    queues_.mark(number);
    Queue& at = queues_[number];
    if (const RateRule* rate = at.rate()) at.pace.bound(*rate, now_);
    static_cast<void>(may_deliver(number));
    if (!at.line) return;
    std::vector<GroupNumber> all;
    for_each(number, [&](GroupNumber in, const Group&) { all.push_back(in); });
    for (const GroupNumber in : all) limit_changed(number, in);
}

void Turns::limit_changed(QueueNumber number, GroupNumber in) {
    Group& group = *groups_[in];
    if (const RateRule* rate = rate_of(number, group)) group.pace.bound(*rate, now_);
    static_cast<void>(look_at_limit(number, in));
    join(number, in);
    watch_backoff(number, in);
    drop_if_idle(number, in);
}

void Turns::set_conf(QueueNumber number, std::string_view name, std::unique_ptr<GroupConf> conf) {
    const GroupNumber in = recent_.groups().use(number, name);
    Group& group = group_at(number, in);
    group.conf = std::move(conf);
    limit_changed(number, in);
    recent_.groups().release(in);
    queues_.mark(number);
}

const GroupConf* Turns::conf(QueueNumber number, std::string_view name) const {
    const Group* group = find(number, name);
    return group == nullptr ? nullptr : group->conf.get();
}

// ---- what is on disk

// The more groups have ready messages, the fewer of each are in memory; some of each, so that a turn needs no reading.
std::uint32_t Turns::share(const GroupLine& line) const {
    constexpr std::uint32_t kShareMin = 4;
    return std::max(options_.ready_max / (2 * std::max(line.with_ready, 1u)), kShareMin);
}

void Turns::want_reading(QueueNumber number, GroupNumber in) {
    Group& group = *groups_[in];
    GroupLine& line = *queues_[number].line;
    const bool has_enough = group.ready_count > share(line) / 2;
    if (has_enough || group.is_to_read || group.is_reading || group.cursor == kNoBacklog) return;
    group.is_to_read = true;
    line.to_read.push_back(in);
    queues_.mark(number);
}

Turns::Reading Turns::next_to_read(QueueNumber number) {
    if (!queues_[number].line) return {};
    GroupLine& line = *queues_[number].line;
    if (line.to_read.empty()) return {};
    const GroupNumber in = line.to_read.front();
    line.to_read.pop_front();
    line.reading.emplace(in, kNoBacklog);
    Group& group = *groups_[in];
    group.is_to_read = false;
    group.is_reading = true;
    return {in, group.cursor, std::min(share(line), options_.load_chunk)};
}

void Turns::end_reading(QueueNumber number, GroupNumber in, DuePosition from) {
    Group& group = *groups_[in];
    const auto came = queues_[number].line->reading.extract(in);
    group.is_reading = false;
    group.cursor = kNoBacklog;
    lower_cursor(number, in, std::min(from, came.mapped()));
}

void Turns::note_loaded(QueueNumber number, GroupNumber in, std::uint32_t rows) {
    Group& group = *groups_[in];
    group.behind -= std::min(group.behind, rows);
    if (group.cursor == kNoBacklog) {
        group.behind = 0;
        group.is_counted = true;
    }
    want_reading(number, in);
    drop_if_idle(number, in);
}

void Turns::note_found(QueueNumber number, std::string_view name, DuePosition first) {
    const GroupNumber in = recent_.groups().use(number, name);
    Group& group = group_at(number, in);
    group.is_counted = false;
    lower_cursor(number, in, first);
    recent_.groups().release(in);
}

bool Turns::covers(QueueNumber number, std::string_view name, DuePosition at) const {
    const Group* group = find(number, name);
    return group != nullptr && group->cursor <= at;
}

void Turns::lower_cursor(QueueNumber number, GroupNumber in, DuePosition to) {
    Group& group = *groups_[in];
    GroupLine& line = *queues_[number].line;
    if (group.is_reading) line.reading[in] = std::min(line.reading[in], to);
    if (to >= group.cursor) return;
    group.cursor = to;
    line.cursors.push({to, in});
    want_reading(number, in);
}

DuePosition Turns::bound(QueueNumber number) {
    if (!queues_[number].line) return kNoBacklog;
    GroupLine& line = *queues_[number].line;
    const auto is_live = [this](const GroupLine::Cursor& cursor) {
        const Group* group = find(cursor.group);
        return group != nullptr && group->cursor == cursor.position;
    };
    const GroupLine::Cursor* first = line.cursors.top(2 * line.groups, is_live);
    return first == nullptr ? kNoBacklog : first->position;
}

// ---- views

LimitedBy Turns::limited_by(QueueNumber number, const Group& group) const {
    if (group.ready_count == 0 || group.limited_by != LimitedBy::nothing) return group.limited_by;
    return of_queue(queues_[number].limited_by);
}

GroupAnswer Turns::describe(QueueNumber number, std::string_view name) const {
    const QueueName& at = recent_.queues().name(number);
    GroupAnswer answer;
    answer.name_space = at.name_space;
    answer.queue = at.queue;
    answer.group = name;
    const Group* group = find(number, name);
    if (group == nullptr) return answer;
    if (group->conf) answer.settings = group->conf->settings;
    if (answer.settings.backoff_until_ms <= now_) answer.settings.backoff_until_ms = 0;
    answer.ready = group->ready_count + group->behind;
    answer.is_ready_min = !group->is_counted;
    answer.leased = group->leased_count;
    answer.oldest_due_ms = group->oldest_due_ms();
    answer.limited_by = limited_by(number, *group);
    if (answer.limited_by != LimitedBy::nothing) {
        const bool is_own = group->limited_by != LimitedBy::nothing;
        answer.limited_since_ms = is_own ? group->limited_since_ms : queues_[number].limited_since_ms;
    }
    return answer;
}

// ---- groups

GroupLine& Turns::line_at(QueueNumber number) {
    Queue& at = queues_[number];
    if (!at.line) {
        at.line = std::make_unique<GroupLine>();
        if (!at.ready.is_empty()) join_plain(at);
    }
    return *at.line;
}

Group& Turns::group_at(QueueNumber number, GroupNumber in) {
    if (groups_.size() <= in) groups_.resize(in + 1);
    if (!groups_[in]) {
        ++line_at(number).groups;
        groups_[in] = std::make_unique<Group>();
        recent_.groups().use(in);
    }
    return *groups_[in];
}

const Group* Turns::find(QueueNumber number, std::string_view name) const {
    const GroupNumber in = recent_.groups().find(number, name);
    return in == kNoGroup ? nullptr : find(in);
}

// Nothing is left to know of it. While its pace says something, it is looked at again later.
void Turns::drop_if_idle(QueueNumber number, GroupNumber in) {
    if (!groups_[in]) return;
    Group& group = *groups_[in];
    if (group.ready_count > 0 || group.leased_count > 0 || group.has_backlog() || group.in_turn || group.is_to_read ||
        group.conf) {
        return;
    }
    if (rate_of(number, group) != nullptr && !group.pace.is_full(now_)) return pause(number, in, group.pace.full_ms());
    --queues_[number].line->groups;
    groups_[in].reset();
    recent_.groups().release(in);
}

void Turns::check() const {
    struct Sums {
        std::uint32_t ready = 0;
        std::uint32_t leased = 0;
        bool has_deliverable = false;
    };
    std::vector<Sums> sums(groups_.size());
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const GroupNumber in = recent_.group_of(number);
        if (in == kNoGroup || (entry.waits_for != WaitsFor::consumer && entry.waits_for != WaitsFor::lease)) return;
        require(find(in) != nullptr, "a group with ready or leased messages is not known");
        ++(entry.waits_for == WaitsFor::consumer ? sums[in].ready : sums[in].leased);
        const bool is_held_back = entry.in_batch || entry.id <= queues_[entry.queue].purge_through;
        sums[in].has_deliverable |= entry.waits_for == WaitsFor::consumer && !is_held_back;
    });
    struct LineSums {
        std::uint32_t groups = 0, with_ready = 0, ready = 0, limited = 0, in_turn = 0, to_read = 0, reading = 0;
    };
    std::vector<LineSums> lines(queues_.size());
    for (GroupNumber in = 1; in < groups_.size(); ++in) {
        if (!groups_[in]) continue;
        const Group& group = *groups_[in];
        const QueueNumber number = recent_.groups()[in].queue;
        require(group.ready_count == sums[in].ready, "a group's count of ready messages is off");
        require(group.leased_count == sums[in].leased, "a group's count of leased messages is off");
        const bool may_get_more = sums[in].has_deliverable && !group.in_turn;
        const bool is_limited = limit_of(number, group).by != LimitedBy::nothing || group.paused_until_ms != 0;
        require(!may_get_more || is_limited, "a group is out of turn without a limit");
        LineSums& line = lines[number];
        ++line.groups;
        line.with_ready += group.ready_count > 0 ? 1 : 0;
        line.ready += group.ready_count;
        line.limited += group.limited_by != LimitedBy::nothing ? 1 : 0;
        require(group.ready_count > 0 || group.limited_by == LimitedBy::nothing, "nothing is limited");
        line.in_turn += group.in_turn ? 1 : 0;
        line.to_read += group.is_to_read ? 1 : 0;
        line.reading += group.is_reading ? 1 : 0;
    }
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        if (!queues_[number].line) continue;
        const GroupLine& line = *queues_[number].line;
        const LineSums& seen = lines[number];
        require(line.groups == seen.groups, "a queue's count of groups is off");
        require(line.with_ready == seen.with_ready, "a queue's count of groups with ready messages is off");
        require(line.grouped_ready == seen.ready, "a queue's count of ready messages with a group is off");
        require(line.limited == seen.limited, "a queue's count of limited groups is off");
        require(line.turns.size() == seen.in_turn + (line.plain_in_turn ? 1 : 0), "a line has a group twice, or not");
        require(line.to_read.size() == seen.to_read && line.reading.size() == seen.reading,
                "a group's reading is forgotten");
    }
}

}  // namespace duewheel
