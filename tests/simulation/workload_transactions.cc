// Clients that put messages in transactions, and commit them or roll them back: early, twice, both, and at the exact
// time of a check.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {

void Workload::transact() {
    const MessageModel* known = random_.chance(650'000) ? pick_half() : nullptr;
    if (known == nullptr) {
        if (random_.chance(70'000)) return settle_another();
        const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
        PutCommand command = draw_put(queue, oracle_.messages().size() + 1);
        if (!command.repeat && !command.transaction) make_prepared(command);
        return surroundings_.submit(std::move(command));
    }
    if (random_.chance(100'000)) return disturb(*known);
    const std::string& name_space = known->put.name_space;
    std::vector<Command> commands;
    const std::uint64_t count = random_.chance(200'000) ? 2 + random_.below(2) : 1;
    while (commands.size() < count) {
        switch (random_.below(9)) {
            case 0:
            case 1:
            case 2:
                commands.emplace_back(SettleCommand{name_space, known->id, true});
                break;
            case 3:
            case 4:
                commands.emplace_back(SettleCommand{name_space, known->id, false});
                break;
            case 5:
                commands.push_back(draw_change(*known));
                break;
            default:
                commands.emplace_back(GetCommand{name_space, known->id});
                break;
        }
    }
    const PreparedModel& half = *known->half;
    DueMs asked = half.earliest_ms(1);
    while (asked < surroundings_.clock() && asked < half.default_ms()) asked += half.rule.check_after_ms;
    const bool collides = random_.chance(500'000);
    const bool first = collides && random_.chance(300'000);
    if (collides && !first) surroundings_.wait_until(asked + random_.between(-1, 1));
    for (Command& command : commands) send(std::move(command));
    if (first) surroundings_.wait_until(asked + random_.between(-1, 1));
}

// What is in no transaction, or has ended long ago, or never was.
void Workload::settle_another() {
    const MessageModel* any = pick_message();
    if (any == nullptr) return;
    SettleCommand command{any->put.name_space, any->id, random_.chance(500'000)};
    switch (random_.below(5)) {
        case 0:
            command.id += kShardsMax << 30;
            break;
        case 1:
            command.name_space = "nobody";
            break;
        default:
            break;
    }
    send(std::move(command));
}

// The queue of its checks stands still, is full or is emptied; or its own is emptied.
void Workload::disturb(const MessageModel& half) {
    using What = ConfigureQueueCommand::What;
    const std::string& check_queue = half.half->rule.check_queue;
    const bool of_checks = !check_queue.empty() && random_.chance(700'000);
    ConfigureQueueCommand command{half.put.name_space, of_checks ? check_queue : half.put.queue, What::purge, {}, {}};
    if (of_checks && random_.chance(800'000)) {
        command.what = random_.chance(400'000) ? What::pause : What::set;
        if (command.what == What::set) command.settings.pending_max = 1 + random_.below(3);
    }
    send(std::move(command));
}

// Mostly one that nobody has settled yet.
const MessageModel* Workload::pick_half() {
    const Oracle::Messages& messages = oracle_.messages();
    for (std::size_t back = 1; back <= std::min<std::size_t>(messages.size(), 60); ++back) {
        const MessageModel& message = messages[messages.size() - back];
        const bool is_open = message.may_be(World::Phase::prepared) || random_.chance(200'000);
        if (message.half && message.id != 0 && is_open && random_.chance(500'000)) return &message;
    }
    return nullptr;
}

void Workload::make_prepared(PutCommand& command) {
    TransactionRule rule;
    rule.check_after_ms = random_.chance(200'000) ? random_.between(1, 20)
                                                  : std::max<DueMs>(options_.due_scale_ms >> random_.below(8), 1);
    rule.otherwise_commit = random_.chance(500'000);
    if (random_.chance(750'000)) {
        QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
        if (queue.name_space != command.name_space) queue.queue = command.queue;
        rule.check_queue = queue.queue;
        rule.check_times = static_cast<std::uint32_t>(1 + random_.below(4));
    }
    if (random_.chance(40'000)) spoil(rule, command);
    command.transaction = std::move(rule);
    command.is_held = false;
}

// It says what no transaction can be.
void Workload::spoil(TransactionRule& rule, PutCommand& command) {
    switch (random_.below(4)) {
        case 0:
            rule.check_after_ms = random_.chance(500'000) ? 0 : options_.engine.delay_max_ms + 1;
            break;
        case 1:
            rule.check_queue.clear();
            rule.check_times = 1;
            break;
        case 2:
            rule.check_queue = command.queue;
            rule.check_times = random_.chance(500'000) ? 0 : options_.engine.check_times_max + 1;
            break;
        default:
            if (command.key.empty()) make_recurring(command);
            break;
    }
}

}  // namespace duewheel
