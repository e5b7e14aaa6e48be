// Limits per second: a queue with `per_second` in its settings accepts no put, and no moved message, into a future
// second in which that many messages are due already. With `flex` the queue may choose a later second with capacity,
// the first one.
//
// The number of messages due in a second is known exactly (store/second_ledger.h): the applied state, and what the
// batch in construction adds. The index is looked up once for a second; until it contains everything that existed when
// the limit was set, the queue's puts wait. Messages of the server itself (retries, later occurrences, schedules,
// watchdogs, commits) count and are never moved: they would be late, or lost.
#include <algorithm>
#include <cassert>

#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "engine/engine.h"
#include "engine/refusals.h"

namespace duewheel {
namespace {

constexpr std::int64_t kFlexMaxMs = 3'600'000;
// The maximum of index rows of one lookup, and of its seconds.
constexpr std::uint32_t kWalkMax = 10'000;
constexpr Second kCountedMax = 3'600;
// The maximum of cached counts, some 48 bytes each.
constexpr std::size_t kKnownMax = std::size_t{1} << 18;

}  // namespace

Status Engine::check_flex(std::int64_t flex_ms) {
    if (flex_ms >= 0 && flex_ms <= kFlexMaxMs) return {};
    return out_of_range("flex", "from 0 to " + format_duration(kFlexMaxMs));
}

// 0: no limit.
std::uint64_t Engine::second_limit(QueueNumber queue) const {
    if (queue == kNoQueue) return 0;
    const Queue& at = *queues_[queue];
    return at.conf ? at.conf->settings.per_second : 0;
}

// How much later than `due` it may be; it must be due before `before_ms`, if that is not 0.
DueMs Engine::latest_due(DueMs due, std::int64_t flex_ms, DueMs before_ms) const {
    DueMs latest = std::min(due + flex_ms, now_ + options_.delay_max_ms);
    if (before_ms != 0) latest = std::min(latest, before_ms - 1);
    return std::max(due, latest);
}

// The first of `due`, a second later, ... up to `latest` in a second with capacity. `taken`: other messages that are
// about to be added to seconds. `own`: the second in which the message is due now.
Engine::SecondSearch Engine::find_second(QueueNumber queue, DueMs due, DueMs latest, const SecondsTaken& taken,
                                         std::optional<Second> own) const {
    using What = SecondSearch::What;
    const std::uint64_t limit = second_limit(queue);
    if (limit == 0 || second_of(due) <= second_of(now_)) return {What::place, due, 0};
    const SecondLedger& ledger = recent_.seconds();
    for (; due <= latest; due += 1000) {
        const Second second = second_of(due);
        if (own == second) return {What::place, due, 0};
        const std::optional<std::int64_t> counted = ledger.count(queue, second);
        if (!counted) {
            const bool must_wait = ledger.watched_since(queue).value_or(0) > lookups_.sealed_through();
            return {must_wait ? What::wait : What::needs_lookup, due, second};
        }
        const auto found = taken.find({queue, second});
        const std::uint64_t more = found == taken.end() ? 0 : found->second;
        if (static_cast<std::uint64_t>(std::max<std::int64_t>(*counted, 0)) + more < limit) {
            return {What::place, due, 0};
        }
    }
    return {What::full, due, 0};
}

// Nothing if the count of every second is known that the puts need, each after the puts before it; otherwise why they
// cannot be decided yet. The seconds chosen later are not later than these, because some puts may be refused.
std::optional<Engine::Verdict> Engine::find_seconds(PendingCommand& pending, std::span<const PutCommand> puts,
                                                    std::span<const std::optional<KeyFacts>> holders) {
    if (recent_.seconds().is_empty() || segment_.refuses_puts()) return std::nullopt;
    SecondsTaken taken = batch().seconds;
    for (std::size_t i = 0; i < puts.size(); ++i) {
        const PutCommand& put = puts[i];
        const QueueNumber queue = recent_.queues().find(put.name_space, put.queue);
        if (second_limit(queue) == 0 || put.is_held || (!holders.empty() && holders[i])) continue;
        const Result<DueMs> due = resolve(put.when);
        if (!due || !check_flex(put.flex_ms)) continue;
        const DueMs latest = latest_due(*due, put.flex_ms, 0);
        const SecondSearch search = find_second(queue, *due, latest, taken, std::nullopt);
        if (const auto verdict = await_seconds(search, pending, queue, latest)) return verdict;
        if (search.what == SecondSearch::What::place) ++taken[{queue, second_of(search.due_ms)}];
    }
    return std::nullopt;
}

// Changes are recorded from the open segment on; it is closed, so that it is soon in the index.
void Engine::have_seconds_counted(QueueNumber queue) {
    if (recent_.seconds().watched_since(queue) == segment_.number()) segment_.close_soon();
}

std::optional<Engine::Verdict> Engine::await_seconds(const SecondSearch& search, PendingCommand& pending,
                                                     QueueNumber queue, DueMs latest) {
    if (search.what == SecondSearch::What::wait) {
        have_seconds_counted(queue);
        return Verdict::deferred;
    }
    if (search.what != SecondSearch::What::needs_lookup) return std::nullopt;
    SecondLedger& ledger = recent_.seconds();
    ledger.forget_before(second_of(now_));
    if (ledger.known() > kKnownMax && !lookups_.has<SecondsLookup>()) ledger.forget_counts();
    const QueueName& name = recent_.queues().name(queue);
    CountSeconds wanted{name.name_space, name.queue, search.from, second_of(latest) + 1, kWalkMax};
    wanted.until = std::min(wanted.until, wanted.from + kCountedMax);
    lookups_.start(std::move(wanted),
                   SecondsLookup{.command = std::move(pending), .queue = queue, .from = search.from});
    return Verdict::looking_up;
}

void Engine::finish(SecondsLookup lookup, const SecondCounts& counts, Generation) {
    Second second = lookup.from;
    for (const std::uint32_t count : counts.counts) {
        if (!recent_.seconds().learn(lookup.queue, second++, count, counts.through)) break;
    }
    commands_.push_looked_up(std::move(lookup.command));
}

// Chooses a second for a message, after find_seconds() has made all counts known.
Result<DueMs> Engine::place_in_second(QueueNumber queue, DueMs due, DueMs latest, std::optional<Second> own) {
    const SecondSearch search = find_second(queue, due, latest, batch().seconds, own);
    assert(search.what == SecondSearch::What::place || search.what == SecondSearch::What::full);
    if (search.what != SecondSearch::What::place) return second_full(queue, due, latest);
    return search.due_ms;
}

void Engine::take_second(QueueNumber queue, DueMs due) {
    if (second_limit(queue) != 0) ++batch().seconds[{queue, second_of(due)}];
}

Error Engine::second_full(QueueNumber queue, DueMs due, DueMs latest) {
    ++counters_.refused_second_full;
    std::string message = "in the second of " + format_instant(due) + ", the queue has reached its limit per second (" +
                          std::to_string(second_limit(queue)) + ")";
    if (latest >= due + 1000) message += ", and so have the seconds up to " + format_instant(latest);
    return {"second_full",
            message +
                ": choose another time, give a longer `flex` (it counts up to `expires`), or raise the queue's "
                "limits.per_second",
            "due"};
}

}  // namespace duewheel
