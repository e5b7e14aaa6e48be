// Clients that set watchdogs and feed them, also at the exact time at which one fires.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {

void Workload::watchdog() {
    const std::uint64_t number = random_.below(options_.watchdogs);
    const QueueOf name{options_.name_spaces[number % 3 == 2 && options_.queues > 2], "w" + std::to_string(number)};
    const auto found = oracle_.watchdogs().find({name.name_space, name.queue});
    const WatchdogModel* known = found == oracle_.watchdogs().end() ? nullptr : &found->second;
    const bool may_be_there = known != nullptr && known->may_be_there();
    if (!may_be_there && random_.chance(800'000)) return send(draw_watchdog(name, known));
    if (known == nullptr) return;
    const WatchdogState* state = known->surely();
    const bool is_armed = state != nullptr && state->due_ms > surroundings_.clock();
    const bool collides = is_armed && random_.chance(400'000);
    const DueMs due = is_armed ? state->due_ms : 0;
    const bool first = collides && random_.chance(300'000);
    if (collides && !first) surroundings_.wait_until(due + random_.between(-1, 1));
    const std::uint64_t count = random_.chance(150'000) ? 2 + random_.below(2) : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        const bool puts = random_.chance(200'000);
        send(puts ? Command(draw_watchdog(name, known)) : draw_watchdog_command(name, *known));
    }
    if (first) surroundings_.wait_until(due + random_.between(-1, 1));
}

Command Workload::draw_watchdog_command(const QueueOf& name, const WatchdogModel& known) {
    switch (random_.below(16)) {
        case 0:
            return RemoveWatchdogCommand{name.name_space, name.queue};
        case 1: {
            ListWatchdogsCommand list{name.name_space, {}, 100};
            if (random_.chance(300'000)) list.limit = static_cast<std::uint32_t>(1 + random_.below(3));
            if (random_.chance(300'000)) list.after = name.queue;
            return list;
        }
        case 2:
        case 3:
        case 4:
            return DescribeWatchdogCommand{name.name_space, name.queue};
        default: {
            // One that has to wait for somebody who forgets it.
            const WatchdogState* state = known.surely();
            const bool is_asleep = state != nullptr && state->is_asleep();
            if (!is_asleep && random_.chance(200'000)) return DescribeWatchdogCommand{name.name_space, name.queue};
            return FeedWatchdogCommand{name.name_space, name.queue};
        }
    }
}

// A new one, another one in its place, or the same once more.
PutWatchdogCommand Workload::draw_watchdog(const QueueOf& name, const WatchdogModel* known) {
    if (known != nullptr && !known->puts.empty() && random_.chance(400'000)) {
        PutWatchdogCommand again = oracle_.watchdog_puts()[known->puts[random_.below(known->puts.size())] - 1].command;
        again.feeds = random_.chance(600'000);
        return again;
    }
    WatchdogRule rule;
    const std::int64_t scale = std::max<std::int64_t>(std::max(options_.due_scale_ms, options_.lease_scale_ms), 2);
    rule.timeout_ms = std::max<DueMs>(scale >> random_.below(12), 1);
    if (random_.chance(300'000)) rule.max_ms = rule.timeout_ms * random_.between(1, 4);
    // Not where time jumps, or so often that nothing else happens any more.
    if (random_.chance(300'000)) rule.repeat_every_ms = std::max<DueMs>(scale >> random_.below(3), 200);
    if (random_.chance(options_.expiring_per_million)) rule.expires_after_ms = 1 + draw_delay();
    rule.priority = random_.chance(800'000) ? 0 : static_cast<std::int32_t>(random_.between(-2, 2));
    if (options_.order_keys > 0 && random_.chance(300'000)) {
        rule.order_key = "k" + std::to_string(random_.below(options_.order_keys));
    }
    if (random_.chance(200'000)) rule.retry = draw_retry();
    if (random_.chance(40'000)) {
        switch (random_.below(4)) {
            case 0:
                rule.timeout_ms = random_.chance(500'000) ? 0 : kWatchdogMaxMs + 1;
                break;
            case 1:
                rule.timeout_ms += 1;
                rule.max_ms = rule.timeout_ms - 1;
                break;
            case 2:
                rule.repeat_every_ms = -1;
                break;
            default:
                rule.expires_after_ms = options_.engine.delay_max_ms + 1;
                break;
        }
    }
    QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    if (queue.name_space != name.name_space)
        queue = queue_name(options_, name.name_space == options_.name_spaces[1] ? 2 : 0);
    rule.queue = queue.queue;
    const std::uint64_t serial = oracle_.watchdog_puts().size() + 1;
    rule.content_hash = serial;
    PutWatchdogCommand command{
        .name_space = name.name_space, .name = name.queue, .rule = rule, .feeds = random_.chance(500'000)};
    const std::uint64_t bytes = random_.below(options_.body_bytes_max + 1) >> random_.below(4);
    command.body = Oracle::body_of(serial, static_cast<std::uint32_t>(bytes));
    if (random_.chance(100'000)) command.content_type = "text/plain";
    if (random_.chance(100'000)) command.headers = R"({"k":"v"})";
    if (random_.chance(50'000)) command.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    return command;
}

}  // namespace duewheel
