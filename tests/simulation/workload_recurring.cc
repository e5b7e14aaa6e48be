// Clients that put recurring messages, and send commands at the exact time of the next occurrence.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {
void Workload::loop() {
    const MessageModel* known = random_.chance(400'000) ? pick_loop() : nullptr;
    if (known == nullptr) {
        const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
        PutCommand command = draw_put(queue, oracle_.messages().size() + 1);
        if (!command.repeat) make_recurring(command);
        return surroundings_.submit(std::move(command));
    }
    const std::string& name_space = known->put.name_space;
    Command command = GetCommand{name_space, known->id};
    switch (random_.below(8)) {
        case 0:
        case 1:
            command = CancelCommand{name_space, known->id};
            break;
        case 2:
            command = HoldCommand{name_space, known->id};
            break;
        case 3:
            command = KickCommand{name_space, known->id};
            break;
        case 4:
            command = draw_change(*known);
            break;
        default:
            break;
    }
    const std::optional<DueMs> due = oracle_.next_due(*known);
    if (!due || random_.chance(500'000)) return send(std::move(command));
    const bool first = random_.chance(300'000);
    if (first) surroundings_.submit(command);
    surroundings_.wait_until(*due + random_.between(-1, 1));
    if (!first) surroundings_.submit(std::move(command));
}

const MessageModel* Workload::pick_loop() {
    const Oracle::Messages& messages = oracle_.messages();
    for (std::size_t back = 1; back <= std::min<std::size_t>(messages.size(), 60); ++back) {
        const MessageModel& message = messages[messages.size() - back];
        const bool goes_on = message.may_be_unfinished() || random_.chance(100'000);
        if (message.is_recurring() && message.id != 0 && goes_on && random_.chance(600'000)) return &message;
    }
    return nullptr;
}

void Workload::make_recurring(PutCommand& command) {
    command.repeat = draw_repeat(command.when);
    const bool has_end = command.repeat->times || command.repeat->until_ms;
    if (command.expires) command.expires = When{std::nullopt, 1 + draw_delay()};
    // One that nobody can meet could never be ended.
    if (!has_end) command.expires.reset();
    if (random_.chance(40'000)) spoil(command);
    // Where the clock has gone far ahead of what the engine was told, the put may be executed at either time, and
    // an end that is far from the earlier one would allow occurrences without number.
    RepeatChoice& choice = *command.repeat;
    const bool is_far_ahead = surroundings_.clock() - oracle_.now() > kTimesMost * std::max<DueMs>(choice.every_ms, 1);
    if (is_far_ahead && choice.until_ms && !choice.times) choice.times = kTimesMost;
}

// Few occurrences, or far apart.
RepeatChoice Workload::draw_repeat(const When& first) {
    RepeatChoice choice;
    choice.every_ms = random_.chance(300'000) ? random_.between(1, 20)
                                              : std::max<DueMs>(options_.due_scale_ms >> random_.below(12), 1);
    if (random_.chance(300'000)) {
        choice.factor_permille = random_.chance(200'000) ? random_.between(1000, 1100) : random_.between(1100, 3000);
        if (*choice.factor_permille > 1000 && random_.chance(500'000))
            choice.max_ms = choice.every_ms + random_.between(0, 4 * choice.every_ms);
    }
    // Nobody can end one whose put was never answered: so its occurrences are far apart, and time does not jump.
    if (!options_.has(Fault::clock_jump) && random_.chance(100'000)) {
        choice.every_ms = kDayMs * random_.between(200, 3660);
        if (choice.max_ms) choice.max_ms = std::min(2 * choice.every_ms, kRepeatEveryMaxMs);
        return choice;
    }
    const bool has_until = random_.chance(300'000);
    if (!has_until || random_.chance(300'000))
        choice.times = random_.between(1, random_.chance(30'000) ? kTimesOfALongOne : kTimesMost);
    if (has_until) {
        const DueMs start = first.at_ms ? *first.at_ms : surroundings_.clock() + first.delay_ms;
        const DueMs last = start + choice.every_ms * random_.between(0, kTimesMost);
        choice.until_ms = last + random_.between(-1, 1);
    }
    return choice;
}

// It says what no recurring message can be, or what only just can.
void Workload::spoil(PutCommand& loop) {
    RepeatChoice& choice = *loop.repeat;
    switch (random_.below(8)) {
        case 0:
            choice.every_ms = random_.between(-1, 0);
            break;
        case 1:
            choice.every_ms = kRepeatEveryMaxMs + random_.between(0, 1);
            choice.max_ms.reset();
            break;
        case 2:
            choice.times = random_.between(-1, 1);
            break;
        case 3:
            choice.factor_permille = random_.chance(500'000) ? random_.between(998, 1000) : 100'001;
            break;
        case 4:
            choice.max_ms = choice.every_ms + random_.between(-1, 0);
            break;
        case 5:
            loop.expires = When{surroundings_.clock() + draw_delay(), 0};
            break;
        case 6:
            if (choice.times || choice.until_ms) loop.expires = When{std::nullopt, random_.between(-1, 1)};
            break;
        default:
            choice.until_ms =
                loop.when.at_ms.value_or(surroundings_.clock() + loop.when.delay_ms) - random_.between(0, 1);
            break;
    }
}

}  // namespace duewheel
