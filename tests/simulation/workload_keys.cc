// Puts of a key that has a message: the same put again, and puts that keep or replace it.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "simulation/workload.h"

namespace duewheel {

// A put with a key once more, as a client sends it that heard nothing, or that asks twice; now and then with another
// request. Not while the first try is in progress; and not later than its key is kept for sure, unless keys are reused:
// then it may be another message.
std::optional<PutCommand> Workload::draw_put_again(bool is_unfinished) {
    const Oracle::Messages& messages = oracle_.messages();
    if (messages.empty()) return std::nullopt;
    const std::uint64_t newest = std::min<std::uint64_t>(messages.size(), 40);
    std::uint64_t back = 1 + random_.below(newest);
    if (is_unfinished) {
        for (std::uint64_t at = 1; at <= newest; ++at) {
            const MessageModel& message = messages[messages.size() - at];
            const bool fits = message.answered && !message.put.key.empty() && message.is_surely_unfinished();
            if (fits && random_.chance(500'000)) back = at;
        }
    } else if (random_.chance(600'000)) {  // mostly one whose answer was lost
        const auto is_lost = [&](std::uint64_t at) {
            const MessageModel& message = messages[messages.size() - at];
            return !message.answered && !message.put.key.empty() && message.open.empty();
        };
        for (std::uint64_t at = 1; at <= newest; ++at) {
            if (is_lost(at) && random_.chance(500'000)) back = at;
        }
    }
    const MessageModel& drawn = messages[messages.size() - back];
    const DueMs age = surroundings_.clock() - drawn.first_put_ms;
    const bool may_be_over = !options_.reuses_keys && (age < 0 || age >= options_.keep_ms);
    if (drawn.put.key.empty() || may_be_over || drawn.records > 0) return std::nullopt;
    // Nor while another is in progress that has its key.
    const bool is_under_way = std::any_of(messages.begin(), messages.end(), [&](const MessageModel& other) {
        return !other.open.empty() && (&other == &drawn || Oracle::share_key(other, drawn));
    });
    if (is_under_way) return std::nullopt;
    PutCommand command = drawn.put;
    if (drawn.answered && random_.chance(150'000)) ++command.request_hash;
    return command;
}

void Workload::put_again() {
    const bool says_on_key = random_.chance(400'000);
    std::optional<PutCommand> command = draw_put_again(says_on_key);
    if (!command) return;
    if (says_on_key) say_on_key(*command);
    surroundings_.submit(*std::move(command));
}

// Its message is to be kept or replaced. Not where a redrive could bring a second one with the key back.
void Workload::say_on_key(PutCommand& command) {
    const MessageModel* newest = nullptr;
    for (const MessageModel& message : oracle_.messages()) {
        const PutCommand& put = message.put;
        if (put.key != command.key || put.queue != command.queue || put.name_space != command.name_space) continue;
        if (newest != nullptr && (newest->may_be_unfinished() || newest->may_be(World::Phase::dead))) return;
        newest = &message;
    }
    if (random_.chance(400'000)) {
        command.on_key = OnKey::keep;
        return;
    }
    if (command.expires || command.repeat || command.transaction) return;
    command.on_key = OnKey::replace;
    command.request_hash = newest->put.request_hash;
    command.when.at_ms = surroundings_.clock() + draw_delay();
    if (random_.chance(500'000)) command.within_ms = 1 + draw_delay();
    const std::uint64_t serial = std::strtoull(command.body.c_str(), nullptr, 10);
    command.body = Oracle::body_of(serial, static_cast<std::uint32_t>(random_.below(options_.body_bytes_max + 1)));
}

}  // namespace duewheel
