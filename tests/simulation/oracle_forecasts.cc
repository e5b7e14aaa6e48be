// What a forecast must contain: in each minute at least what is certainly due then, and no more than what may be due.
//
// A message that has not changed since before the request is counted once, in the minute in which it is due; one that
// was changed meanwhile may be counted or not. All runs of schedules are known while no client changes a schedule. If a
// minute is marked as incomplete, only a count that is too high is a violation.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

constexpr DueMs kMinuteMs = 60'000;
// Times of one schedule that are looked at.
constexpr std::uint64_t kTimesMost = 5'000;

}  // namespace

void Oracle::forecast_replied(const Request& request, const ForecastAnswer& answer) {
    const auto& asked = std::get<ForecastCommand>(request.command);
    if (answer.queue != asked.queue || answer.minutes.size() != asked.minutes) {
        return violate("X", "a forecast of another queue, or of more or fewer minutes");
    }
    if (answer.now_ms < request.submitted_ms || answer.now_ms > now_) {
        return violate("X", "a forecast was begun at " + at(answer.now_ms) + ", when nobody had asked for it");
    }
    rare_.met(Rare::forecast_answered);
    // The one case in which a message may be counted where it was and where it went to.
    const bool may_count_twice = answer.minutes.front().at_least;
    DueMs start = answer.now_ms / kMinuteMs * kMinuteMs;
    for (const ForecastMinute& minute : answer.minutes) {
        if (minute.start_ms != start) return violate("X", "the minutes of a forecast do not follow each other");
        start += kMinuteMs;
        if (!violated()) check_minute(request, minute, may_count_twice);
    }
}

void Oracle::check_minute(const Request& request, const ForecastMinute& minute, bool may_count_twice) {
    const auto& asked = std::get<ForecastCommand>(request.command);
    const Dues dues{asked.name_space, asked.queue, {minute.start_ms, minute.start_ms + kMinuteMs - 1}};
    if (minute.at_least) rare_.met(Rare::forecast_cut);
    const auto is_wrong = [&](std::string_view what, std::uint64_t said, CountRange count) {
        if ((said >= count.least || minute.at_least) && (said <= count.most || may_count_twice)) return false;
        violate("X", "a forecast says " + std::to_string(said) + " " + std::string(what) + " of the minute from " +
                         at(minute.start_ms) + ", but it must be " + std::to_string(count.least) + " to " +
                         std::to_string(count.most));
        return true;
    };
    CountRange messages;
    CountRange loops;
    for (const MessageModel& about : messages_) {
        if (about.is_recurring() && is_among(dues, about) &&
            (about.may_be_unfinished() || !about.open.empty() || about.told_step >= request.step)) {
            ++loops.most;
        }
        // What is due by now may have been delivered, and has another due time then.
        if (about.told_step >= request.step || !is_surely_due_in(dues, about)) continue;
        if (about.certain()->due.low > now_) ++messages.least;
    }
    messages.most = may_be_due_in(dues, request);
    if (messages.least > 0) rare_.met(Rare::minute_forecast);
    const CountRange runs = runs_in(dues, request);
    if (runs.least > 0) rare_.met(Rare::runs_forecast);
    is_wrong("messages", minute.scheduled + minute.retrying, messages) || is_wrong("loops", minute.recurring, loops) ||
        is_wrong("runs", minute.runs, runs);
}

bool Oracle::is_among(const Dues& dues, const MessageModel& about) {
    if (about.put.name_space != dues.name_space) return false;
    return dues.queue.empty() || about.put.queue == dues.queue;
}

// Those that were due then when it was executed: those that are, and whose clients were told so before, because
// commands are answered in the order in which they are executed.
bool Oracle::is_surely_due_in(const Dues& dues, const MessageModel& about) const {
    const World* world = about.certain();
    const bool is_steady = world != nullptr && about.open.empty() && about.id != 0 && about.deliveries.empty();
    if (!is_steady || about.is_recurring() || !world->is_live() || !is_among(dues, about)) return false;
    const bool stays = !about.may_have_expired(now_) && !may_have_died(about) && about.purge == MessageModel::Purge::no;
    return stays && world->due.low == world->due.high && dues.when.holds(world->due.low);
}

// Whether it cannot have been due then at any time since the request was submitted.
bool Oracle::is_surely_elsewhere(const Dues& dues, const MessageModel& about, const Request& request) const {
    if (!about.open.empty() || about.told_step >= request.step || about.is_recurring()) return false;
    return std::all_of(about.worlds().begin(), about.worlds().end(), [&](const World& world) {
        if (world.is_ended()) return world.ended.high < request.submitted_ms;
        if (!world.is_live()) return true;  // not there, dead, held, or prepared
        if (world.due.low <= dues.when.high && dues.when.low <= world.due.high) return false;
        // What has been due may rest after a failure, and until then; but not if nobody has had it, or still has it.
        if (world.due.low > now_ || about.deliveries.empty()) return world.due.low > now_ || unseen(about) == 0;
        const SeenDelivery& last = about.deliveries.back();
        const bool may_be_over =
            last.ended || last.may_have_ended || last.endings_open > 0 || last.until.low <= latest();
        return unseen(about) == 0 && !may_be_over;
    });
}

// All that may have been due then since the request was submitted.
std::uint64_t Oracle::may_be_due_in(const Dues& dues, const Request& request) const {
    std::uint64_t count = 0;
    for (const MessageModel& about : messages_) {
        if (!is_among(dues, about) || is_surely_elsewhere(dues, about, request)) continue;
        count += 1 + (about.is_recurring() ? not_met(about) : 0);
    }
    const QueueKey key{dues.name_space, dues.queue};
    const QueueKey* queue = dues.queue.empty() ? nullptr : &key;
    return count + runs_not_met(queue) + checks_not_met(queue) + firings_not_met(queue);
}

// Runs of schedules that will come as far as is known.
Oracle::CountRange Oracle::runs_in(const Dues& dues, const Request& request) const {
    CountRange runs;
    for (const auto& [name, model] : schedules_) {
        if (name.first != dues.name_space || (model.there == ScheduleModel::There::no && model.open.empty())) continue;
        const ScheduleState* state = model.surely();
        const bool is_certain = state != nullptr && request.schedule_moves == schedule_moves_ && !model.put_lost &&
                                !model.remove_lost && !model.change_lost;
        if (!is_certain) {
            runs.most = kMany;
            continue;
        }
        if (state->paused || (!dues.queue.empty() && state->rule.queue != dues.queue)) continue;
        std::uint64_t left = kTimesMost;
        for (std::uint64_t number = state->next_run; left > 0; ++number, --left) {
            const RuleStretch* stretch = model.life()->stretch_of(number);
            const std::optional<DueMs> nominal = stretch == nullptr ? std::nullopt : stretch->time(number);
            if (!nominal || *nominal > dues.when.high) break;
            if (*nominal + state->rule.jitter_ms < dues.when.low) continue;
            ++runs.most;
            const bool is_exact = state->rule.jitter_ms == 0 && *nominal > now_;
            if (is_exact && dues.when.holds(*nominal)) ++runs.least;
        }
        if (left == 0) runs.most = kMany;
    }
    return runs;
}

}  // namespace duewheel
