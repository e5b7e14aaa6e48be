#include "simulation/two_shards.h"

#include <array>
#include <set>

namespace duewheel {
namespace {

void count_waiting(const std::array<Simulation*, 2>& shards, RareStates& rare) {
    const bool first_waits = shards[0]->is_without_owner();
    const bool second_waits = shards[1]->is_without_owner();
    if (first_waits && second_waits) rare.met(Rare::both_shards_without_owner);
    if (first_waits != second_waits) rare.met(Rare::one_shard_without_owner);
}

void check_ids_differ(const std::array<Simulation*, 2>& shards) {
    std::set<MessageId> ids;
    for (const MessageModel& message : shards[0]->oracle().messages()) ids.insert(message.id);
    ids.erase(0);  // of a put without a response
    for (const MessageModel& message : shards[1]->oracle().messages()) {
        if (!ids.contains(message.id)) continue;
        return shards[1]->oracle().violate_delivery("C9", message.id, "the other shard has given out its id, too");
    }
}

SimResult result_of_both(const std::array<Simulation*, 2>& shards, const RareStates& rare) {
    SimResult result;
    EventHash hash;
    for (Simulation* shard : shards) {
        const SimResult one = shard->result();
        hash.add(one.hash);
        result.events += one.events;
        result.restarts += one.restarts;
        result.simulated_ms += one.simulated_ms;
        result.totals.messages += one.totals.messages;
        result.totals.deliveries += one.totals.deliveries;
        result.totals.replies += one.totals.replies;
        result.totals.requests_lost += one.totals.requests_lost;
        result.rare.add(one.rare);
        if (!one.violation || result.violation) continue;
        result.violation = one.violation;
        result.history = one.history;
        result.step = one.step;
    }
    result.rare.add(rare);
    result.hash = hash.value();
    result.restarts -= 1;  // each begins with one that is none
    return result;
}

SimResult simulate_both(const SimOptions& options, bool verbose) {
    SimLogTopic topic(options);
    Simulation first(options_of_shard(options, 0), verbose, &topic);
    Simulation second(options_of_shard(options, 1), verbose, &topic);
    const std::array<Simulation*, 2> shards{&first, &second};
    const auto is_wrong = [&] { return first.oracle().violated() || second.oracle().violated(); };
    RareStates rare;
    Random random(options.seed * 17 + 9);
    for (Simulation* shard : shards) {
        if (!is_wrong()) shard->begin();
    }
    while (!is_wrong() && (first.has_steps_left() || second.has_steps_left())) {
        Simulation* next = shards[random.below(2)];
        if (!next->has_steps_left()) continue;
        next->step();
        count_waiting(shards, rare);
    }
    topic.set_calm(true);
    for (Simulation* shard : shards) {
        if (!is_wrong()) shard->end();
    }
    if (!is_wrong()) check_ids_differ(shards);
    return result_of_both(shards, rare);
}

}  // namespace

SimResult simulate(const SimOptions& options, bool verbose) {
    return options.shards == 1 ? Simulation(options, verbose).run() : simulate_both(options, verbose);
}

}  // namespace duewheel
