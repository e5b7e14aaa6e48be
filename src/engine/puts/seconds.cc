#include "engine/puts/seconds.h"

#include <algorithm>
#include <cassert>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "engine/commands/refusals.h"

namespace duewheel {
namespace {

constexpr std::int64_t kFlexMaxMs = 3'600'000;
// The maximum of index rows of one lookup, and of its seconds.
constexpr std::uint32_t kWalkMax = 10'000;
constexpr Second kCountedMax = 3'600;
// The maximum of cached counts, some 48 bytes each.
constexpr std::size_t kKnownMax = std::size_t{1} << 18;

}  // namespace

Status Seconds::check_flex(std::int64_t flex_ms) {
    if (flex_ms >= 0 && flex_ms <= kFlexMaxMs) return {};
    return out_of_range("flex", "from 0 to " + format_duration(kFlexMaxMs));
}

DueMs Seconds::latest_due(DueMs due, std::int64_t flex_ms, DueMs before_ms) const {
    DueMs latest = std::min(due + flex_ms, now_ + options_.delay_max_ms);
    if (before_ms != 0) latest = std::min(latest, before_ms - 1);
    return std::max(due, latest);
}

Seconds::Search Seconds::find(QueueNumber queue, DueMs due, DueMs latest, const Taken& taken,
                              std::optional<Second> own) const {
    using What = Search::What;
    const std::uint64_t limit = queues_.second_limit(queue);
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

std::optional<Verdict> Seconds::find_all(PendingCommand& pending, std::span<const PutCommand> puts,
                                         std::span<const Wish> wishes) {
    if (recent_.seconds().is_empty() || segment_.refuses_puts()) return std::nullopt;
    Taken taken = batch().seconds;
    for (std::size_t i = 0; i < puts.size(); ++i) {
        const PutCommand& put = puts[i];
        const QueueNumber queue = recent_.queues().find(put.name_space, put.queue);
        const Wish wish = wishes.empty() ? Wish() : wishes[i];
        if (queues_.second_limit(queue) == 0 || put.is_held || !wish.needs_one) continue;
        Result<DueMs> due = resolve(put.when);
        if (!due || !check_flex(put.flex_ms)) continue;
        due = std::min(*due, wish.latest_ms);
        const DueMs latest = std::max(*due, std::min(latest_due(*due, put.flex_ms, 0), wish.latest_ms));
        const Search search = find(queue, *due, latest, taken, wish.own);
        if (const auto verdict = await(search, pending, queue, latest)) return verdict;
        if (search.what == Search::What::place) ++taken[{queue, second_of(search.due_ms)}];
    }
    return std::nullopt;
}

void Seconds::have_counted(QueueNumber queue) {
    if (recent_.seconds().watched_since(queue) == segment_.number()) segment_.close_soon();
}

std::optional<Verdict> Seconds::await(const Search& search, PendingCommand& pending, QueueNumber queue, DueMs latest) {
    if (search.what == Search::What::wait) {
        have_counted(queue);
        return Verdict::deferred;
    }
    if (search.what != Search::What::needs_lookup) return std::nullopt;
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

void Seconds::finish(SecondsLookup lookup, const SecondCounts& counts, Generation) {
    Second second = lookup.from;
    for (const std::uint32_t count : counts.counts) {
        if (!recent_.seconds().learn(lookup.queue, second++, count, counts.through)) break;
    }
    commands_.push_looked_up(std::move(lookup.command));
}

Result<DueMs> Seconds::place(QueueNumber queue, DueMs due, DueMs latest, std::optional<Second> own) {
    const Search search = find(queue, due, latest, batch().seconds, own);
    assert(search.what == Search::What::place || search.what == Search::What::full);
    if (search.what != Search::What::place) return full(queue, due, latest);
    return search.due_ms;
}

void Seconds::count(QueueNumber queue, DueMs due) {
    if (queues_.second_limit(queue) != 0) ++batch().seconds[{queue, second_of(due)}];
}

Error Seconds::full(QueueNumber queue, DueMs due, DueMs latest) {
    ++counters_.refused_second_full;
    std::string message = "in the second of " + format_instant(due) + ", the queue has reached its limit per second (" +
                          std::to_string(queues_.second_limit(queue)) + ")";
    if (latest >= due + 1000) message += ", and so have the seconds up to " + format_instant(latest);
    return {"second_full"_code,
            message +
                ": choose another time, give a longer `flex` (it counts up to `expires`), or raise the queue's "
                "limits.per_second",
            "due"};
}

}  // namespace duewheel
