#include "server/kafka_intake.h"

#include <utility>

namespace duewheel {
namespace {

// The queues that the command adds messages to, with their namespace.
struct FilledQueues {
    std::string name_space;
    std::set<std::string> names;
};

FilledQueues queues_of(const Command& command) {
    FilledQueues queues;
    const auto add = [&](const std::string& name_space, const std::string& queue) {
        queues.name_space = name_space;
        queues.names.insert(queue);
    };
    if (const auto* take = std::get_if<TakeRecordsCommand>(&command)) {
        for (const PutCommand& put : take->puts) add(put.name_space, put.queue);
    } else if (const auto* schedule = std::get_if<PutScheduleCommand>(&command)) {
        add(schedule->name_space, schedule->rule.queue);
    }
    return queues;
}

Status set_target(QueueSettings& settings, const std::string& topic) {
    if (!settings.webhook && !settings.kafka) settings.kafka = KafkaTarget{.topic = topic};
    return {};
}

}  // namespace

void KafkaIntake::accept(Command command, Done done) {
    FilledQueues queues = queues_of(command);
    std::erase_if(queues.names, [this](const std::string& name) { return ready_.contains(name); });
    if (queues.names.empty()) return submit(std::move(command), std::move(done));
    const auto held = std::make_shared<Held>(Held{std::move(command), std::move(done), queues.names.size()});
    for (const std::string& name : queues.names) {
        const ReplyToken token = tokens_.next();
        awaited_.emplace(token, Awaited{.done = {}, .held = held, .queue = name});
        const auto change = [name](QueueSettings& settings) { return set_target(settings, name); };
        submit_(PatchQueueCommand{queues.name_space, name, change, name.size()}, token);
    }
}

void KafkaIntake::target_removed(const QueueName& queue) {
    ready_.erase(queue.queue);  // if it is of another namespace, one lookup is repeated
}

void KafkaIntake::submit(Command command, Done done) {
    const ReplyToken token = tokens_.next();
    awaited_.emplace(token, Awaited{.done = std::move(done), .held = {}, .queue = {}});
    submit_(std::move(command), token);
}

void KafkaIntake::reply(ReplyToken token, Reply reply) {
    const auto found = awaited_.find(token);
    if (found == awaited_.end()) return;
    Awaited awaited = std::move(found->second);
    awaited_.erase(found);
    if (!awaited.held) return awaited.done(std::move(reply));
    Held& held = *awaited.held;
    if (!std::holds_alternative<Error>(reply)) {
        ready_.insert(awaited.queue);
        if (--held.targets_awaited == 0 && held.done) submit(std::move(held.command), std::move(held.done));
    } else if (held.done) {
        std::exchange(held.done, {})(std::move(reply));  // the replies for its other queues are ignored
    }
}

}  // namespace duewheel
