// Clients that set and control schedules, also at the exact time of the next run, and during clock changes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "simulation/workload.h"

namespace duewheel {
namespace {

using Control = ControlScheduleCommand::What;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;

struct Rule {
    std::string_view text;
    std::int64_t rest_ms;  // about
};
// The quarters past one and two are those that clocks skip or repeat.
constexpr Rule kCrons[] = {{"* * * * * *", 1'000},           {"*/5 * * * * *", 5'000},    {"* * * * *", kMinuteMs},
                           {"*/15 * * * *", 15 * kMinuteMs}, {"15 * * * *", kHourMs},     {"15 1 * * *", kDayMs},
                           {"15 2 * * *", kDayMs},           {"0 9 * * MON-FRI", kDayMs}, {"15 2 1 * *", 30 * kDayMs}};
// These have, on some days, times that clocks skip, and enough of them to show what other zone data change.
constexpr Rule kCronsOfGaps[] = {{"15 2 * * *", kDayMs}, {"*/20 2 * * *", kDayMs}, {"15 1,2 * * *", kDayMs}};
constexpr Rule kOftenCrons[] = {{"*/5 * * * * *", 5'000}, {"* * * * *", kMinuteMs}, {"*/15 * * * *", 15 * kMinuteMs}};
constexpr Rule kPeriods[] = {
    {"PT5S", 5'000}, {"PT1M", kMinuteMs}, {"PT1H", kHourMs}, {"P1D", kDayMs}, {"P1M", 30 * kDayMs}};

std::string text_of(DueMs at_ms) {
    const auto at = std::chrono::sys_time<std::chrono::seconds>(std::chrono::seconds(at_ms / 1000));
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::array<char, 64> text{};
    const int size = std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                   static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                                   static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
    return {text.data(), static_cast<std::size_t>(size)};
}

// One of those that come often enough to be met, or one about the hour at which clocks are changed.
template <std::size_t N>
const Rule& pick_rule(Random& random, const Rule (&rules)[N], std::int64_t scale_ms) {
    const Rule* picked = &rules[random.below(N)];
    for (int tries = 0; tries < 6 && picked->rest_ms != kDayMs && picked->rest_ms > scale_ms; ++tries) {
        picked = &rules[random.below(N)];
    }
    return *picked;
}

// About how long it is from one of the times to the next.
DueMs rest_of(const TimesRule& times) {
    if (times.kind == TimesKind::every) return times.every_ms;
    for (const Rule& cron : kCrons) {
        if (times.text == cron.text) return cron.rest_ms;
    }
    for (const Rule& period : kPeriods) {
        if (times.kind == TimesKind::iso && times.text.ends_with("/" + std::string(period.text))) return period.rest_ms;
    }
    return kDayMs;
}

const Rule& pick_cron(Random& random, const SimOptions& options, std::int64_t scale_ms) {
    if (!options.follows_clocks || random.chance(400'000)) return pick_rule(random, kCrons, scale_ms);
    if (options.zones_change) return kOftenCrons[random.below(std::size(kOftenCrons))];
    return kCronsOfGaps[random.below(std::size(kCronsOfGaps))];
}

}  // namespace

void Workload::schedule() {
    const std::uint64_t number = random_.below(options_.schedules);
    const QueueOf name{options_.name_spaces[number % 3 == 2 && options_.queues > 2], "s" + std::to_string(number)};
    const auto found = oracle_.schedules().find({name.name_space, name.queue});
    const ScheduleModel* known = found == oracle_.schedules().end() ? nullptr : &found->second;
    const bool is_there = known != nullptr && known->there != ScheduleModel::There::no;
    if (!is_there && random_.chance(800'000)) return put_schedule(name, known);
    if (known == nullptr) return;
    // Whoever had no answer to a removal looks first.
    if (known->remove_lost && random_.chance(500'000))
        return send(DescribeScheduleCommand{name.name_space, name.queue});
    const std::optional<DueMs> next = oracle_.next_time(*known);
    const bool collides = next && random_.chance(400'000);
    const bool first = collides && random_.chance(300'000);
    if (collides && !first) surroundings_.wait_until(*next + random_.between(-1, 1));
    const std::uint64_t count = random_.chance(150'000) ? 2 + random_.below(2) : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (random_.chance(200'000)) {
            put_schedule(name, known);
        } else {
            send(draw_schedule_command(name, *known));
        }
    }
    if (first) surroundings_.wait_until(*next + random_.between(-1, 1));
}

Command Workload::draw_schedule_command(const QueueOf& name, const ScheduleModel& known) {
    const ScheduleState* state = known.surely();
    const auto tell = [&](Control what) { return ControlScheduleCommand{name.name_space, name.queue, what}; };
    const auto preview = [&] {
        PreviewScheduleCommand command{name.name_space, name.queue, 10, {}};
        command.count = static_cast<std::uint32_t>(1 + random_.below(6));
        if (random_.chance(50'000)) command.count = random_.chance(500'000) ? 0 : options_.engine.preview_max + 1;
        if (random_.chance(300'000)) command.from_ms = draw_instant();
        return command;
    };
    if (state != nullptr && state->paused && random_.chance(400'000)) return tell(Control::resume);
    // Few rules exclude days, and only a preview shows the times that they exclude.
    if (state != nullptr && !state->rule.times.closed.empty() && random_.chance(700'000)) {
        PreviewScheduleCommand command = preview();
        if (random_.chance(500'000)) command.count = 1;  // then it may exclude more than it tells
        return command;
    }
    switch (random_.below(16)) {
        case 0:
        case 1:
            return tell(Control::pause);
        case 2:
            return tell(Control::resume);
        case 3:
        case 4:
            if (!options_.runs_overlap) return DescribeScheduleCommand{name.name_space, name.queue};
            return tell(Control::fire);
        case 5:
            return tell(Control::remove);
        case 6:
        case 7: {
            ListSchedulesCommand list{name.name_space, {}, 100};
            if (random_.chance(300'000)) list.limit = static_cast<std::uint32_t>(random_.below(3));
            if (random_.chance(300'000)) list.after = name.queue;
            return list;
        }
        case 8:
        case 9:
        case 10:
            return preview();
        default:
            return DescribeScheduleCommand{name.name_space, name.queue};
    }
}

// It may have been drawn when server time was months or years ahead, and the clock was set back since: then a rule of
// every 3 ms would not end in the time that anybody has (seed 1001140), nor would one of every second that decides
// three times a commit (seed 215007).
bool Workload::has_end_far_ahead(const TimesRule& times) const {
    return times.times == 0 && times.end_ms - oracle_.now() > 20'000 * rest_of(times);
}

// A new one, another one in its place, the same with other policies, or the same once more.
void Workload::put_schedule(const QueueOf& name, const ScheduleModel* known) {
    const ScheduleState* state = known == nullptr ? nullptr : known->surely();
    if (known != nullptr && !known->puts.empty() && random_.chance(150'000)) {
        const std::uint64_t serial =
            state != nullptr ? state->rule.content_hash : known->puts[random_.below(known->puts.size())];
        const PutScheduleCommand& again = oracle_.schedule_puts()[serial - 1].command;
        if (!has_end_far_ahead(again.rule.times)) return repeat(again);
    }
    std::optional<PutScheduleCommand> put = draw_schedule(name);
    if (!put) return;
    if (state != nullptr && random_.chance(400'000)) {
        put->rule.times = state->rule.times;
        put->times = *times_of(put->rule.times);
    }
    send(*std::move(put));
}

// The server reads a rule with the zone data that it has then.
std::optional<ScheduleTimes> Workload::times_of(const TimesRule& rule) const {
    const std::uint32_t version = surroundings_.zone_version();
    Result<ScheduleTimes> times =
        ScheduleTimes::make(rule, [version](std::string_view name) { return simulated_zone(version, name); });
    return times ? std::optional(*std::move(times)) : std::nullopt;
}

void Workload::repeat(Command command) {
    if (auto* put = std::get_if<PutScheduleCommand>(&command)) put->times = *times_of(put->rule.times);
    surroundings_.submit(std::move(command));
}

std::optional<PutScheduleCommand> Workload::draw_schedule(const QueueOf& name) {
    ScheduleRule rule;
    rule.times = draw_times();
    draw_policies(rule);
    if (random_.chance(40'000)) spoil(rule);
    QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    if (queue.name_space != name.name_space)
        queue = queue_name(options_, name.name_space == options_.name_spaces[1] ? 2 : 0);
    rule.queue = queue.queue;
    const std::uint64_t serial = oracle_.schedule_puts().size() + 1;
    rule.content_hash = serial;
    std::optional<ScheduleTimes> times = times_of(rule.times);
    if (!times) return std::nullopt;  // refused before it comes to the engine
    PutScheduleCommand command{
        .name_space = name.name_space, .name = name.queue, .rule = rule, .times = *std::move(times)};
    if (random_.chance(200'000)) command.paused = random_.chance(400'000);
    const std::uint64_t bytes = random_.below(options_.body_bytes_max + 1) >> random_.below(4);
    command.body = Oracle::body_of(serial, static_cast<std::uint32_t>(bytes));
    if (random_.chance(100'000)) command.content_type = "text/plain";
    if (random_.chance(100'000)) command.headers = R"({"k":"v"})";
    if (random_.chance(50'000)) command.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    return command;
}

TimesRule Workload::draw_times() {
    const std::int64_t scale = std::max(options_.due_scale_ms, options_.lease_scale_ms);
    const DueMs now = surroundings_.clock();
    TimesRule times;
    if (random_.chance(options_.follows_clocks ? 900'000 : 600'000)) times.zone = options_.zone;
    DueMs rest = 0;
    constexpr std::uint64_t kByAnExpression = 2;
    const bool asks_clocks = options_.follows_clocks && random_.chance(600'000);
    switch (asks_clocks ? kByAnExpression : random_.below(8)) {
        case 0:
            times.kind = TimesKind::at;
            times.text = text_of(now + 1000 + draw_delay());
            if (random_.chance(700'000)) times.text += "Z";
            return times;
        case 1: {
            const Rule& period = pick_rule(random_, kPeriods, scale);
            times.kind = TimesKind::iso;
            times.text = random_.chance(300'000) ? "R" + std::to_string(1 + random_.below(kTimesMost)) : "R";
            times.text += "/" + text_of(draw_instant());
            times.text += random_.chance(500'000) ? "Z/" : "/";
            times.text += period.text;
            rest = period.rest_ms;
            break;
        }
        case kByAnExpression:
        case 3:
        case 4: {
            const Rule& cron = pick_cron(random_, options_, scale);
            times.kind = TimesKind::cron;
            times.text = cron.text;
            times.skips_gaps = random_.chance(300'000);
            times.repeats_folds = random_.chance(500'000);
            rest = cron.rest_ms;
            break;
        }
        default:
            rest = random_.chance(300'000) ? random_.between(1, 20) : std::max<DueMs>(scale >> random_.below(8), 1);
            times.every_ms = rest;
            break;
    }
    if (rest >= kHourMs && random_.chance(600'000))
        times.closed = random_.chance(500'000) ? "SAT SUN" : "03-31 10-27 11-03";
    draw_bounds(times, rest);
    return times;
}

// Few times, unless they are far apart and time does not jump.
void Workload::draw_bounds(TimesRule& times, DueMs rest_ms) {
    const std::int64_t scale = std::max(options_.due_scale_ms, options_.lease_scale_ms);
    const DueMs now = surroundings_.clock();
    const bool has_start = random_.chance(200'000);
    if (has_start) times.start_ms = draw_instant();
    // Nor waits anything else for very long, whose time would come next while the schedule is paused.
    const std::int64_t longest = std::max(scale, options_.engine.dead_kept_ms / 2);
    const bool may_be_endless = !options_.has(Fault::clock_jump) && rest_ms >= longest / 8;
    // One of many times, paused while another lets a month go by, would pass them over few by few and never rest. So
    // would one that decides three times a commit, where a century goes by (seeds 91013 and 10166).
    const std::int64_t rest_of_an_endless_one_ms = options_.engine.run_steps_max < 100 ? 30 * kDayMs : 15 * kMinuteMs;
    if (may_be_endless && random_.chance(300'000) && rest_ms >= rest_of_an_endless_one_ms) return;
    if (random_.chance(300'000)) {
        times.end_ms = std::max(times.start_ms, now) + rest_ms * random_.between(0, kTimesMost);
        times.end_ms += random_.between(-1, 1);
    } else {
        times.times =
            static_cast<std::uint64_t>(random_.between(1, random_.chance(100'000) ? kTimesOfALongOne : kTimesMost));
    }
}

void Workload::draw_policies(ScheduleRule& rule) {
    const std::int64_t scale = std::max(options_.due_scale_ms, options_.lease_scale_ms);
    rule.misfire = static_cast<Misfire>(random_.below(3));
    if (random_.chance(250'000)) rule.misfire_window_ms = std::max<DueMs>(scale >> random_.below(12), 1);
    if (random_.chance(500'000)) rule.overlap = static_cast<Overlap>(random_.below(3));
    if (random_.chance(300'000)) rule.jitter_ms = std::max<DueMs>(scale >> random_.below(12), 1);
    if (!options_.runs_overlap) {
        if (rule.overlap == Overlap::allow) rule.overlap = random_.chance(500'000) ? Overlap::skip : Overlap::queue_one;
        // One that is due late is unfinished for long.
        if (random_.chance(400'000)) rule.jitter_ms = std::max<DueMs>(scale >> random_.below(3), 1);
    }
    if (random_.chance(options_.expiring_per_million)) rule.expires_after_ms = 1 + draw_delay();
    rule.priority = random_.chance(800'000) ? 0 : static_cast<std::int32_t>(random_.between(-2, 2));
    if (options_.order_keys > 0 && random_.chance(300'000)) {
        rule.order_key = "k" + std::to_string(random_.below(options_.order_keys));
    }
    if (random_.chance(200'000)) rule.retry = draw_retry();
}

// It says what no schedule can be.
void Workload::spoil(ScheduleRule& rule) {
    TimesRule& times = rule.times;
    switch (random_.below(6)) {
        case 0:
            rule.jitter_ms = options_.engine.delay_max_ms + 1;
            break;
        case 1:
            rule.expires_after_ms = options_.engine.delay_max_ms + 1;
            break;
        case 2:
            times.times = options_.engine.repeat_times_max + 1;
            break;
        case 3:
            times.start_ms = surroundings_.clock() + draw_delay();
            times.end_ms = times.start_ms - 1;
            break;
        case 4:
            times = TimesRule{};
            times.kind = TimesKind::cron;
            times.text = "0 0 30 2 *";
            break;
        default:
            times = TimesRule{};
            times.kind = TimesKind::at;
            times.text = text_of(surroundings_.clock() - draw_delay() - 1000) + "Z";
            break;
    }
}

}  // namespace duewheel
