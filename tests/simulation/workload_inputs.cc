// Readers of inputs. They take the records from the position on that the server has, pass those that are refused for
// good, and send everything again after a crash. Now and then two of them read one input, or one is at another
// position. The messages of records with keys are looked up, moved and cancelled by key.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "simulation/workload.h"

namespace duewheel {
namespace {

constexpr std::size_t kOpenTakesMax = 3;  // of one input: the oracle keeps each order of them

}  // namespace

void Workload::input() {
    if (random_.chance(200'000) && change_record()) return;
    const std::string name = "later/" + std::to_string(random_.below(options_.inputs));
    const auto known = oracle_.inputs().find(name);
    const InputModel input = known == oracle_.inputs().end() ? InputModel() : known->second;
    if (input.open.empty()) {
        // Positions of another reader, of which the server knows nothing.
        const std::int64_t off = random_.chance(950'000) ? 0 : random_.between(-1, 3);
        return surroundings_.submit(draw_take(name, input, std::max(input.position + off, kNoInputPosition)));
    }
    if (input.open.size() >= kOpenTakesMax || !random_.chance(350'000)) return;
    const TakeModel& newest = input.open.rbegin()->second;
    if (random_.chance(500'000)) return surroundings_.submit(draw_take(name, input, newest.next));
    TakeRecordsCommand again{
        .input = name, .position = newest.position, .offsets = newest.offsets, .next = newest.next};
    for (const std::uint64_t serial : newest.serials) again.puts.push_back(oracle_.messages()[serial - 1].put);
    surroundings_.submit(std::move(again));
}

// Records from the position on: first those that were sent before, then new ones. Offsets have gaps.
TakeRecordsCommand Workload::draw_take(const std::string& name, const InputModel& input, std::int64_t position) {
    TakeRecordsCommand take{.input = name, .position = position, .next = std::max<std::int64_t>(position, 0)};
    const std::uint64_t count = random_.below(options_.batch_max + 1);
    std::uint64_t serial = oracle_.messages().size();
    auto known = input.records.lower_bound(take.next);
    while (take.puts.size() < count) {
        if (known != input.records.end()) {
            take.next = known->first + 1;
            const bool is_refused = input.refused == known->first;
            const bool is_passed = is_refused && random_.chance(input.was_refused_for_good ? 700'000 : 100'000);
            if (!is_passed) {
                take.puts.push_back(oracle_.messages()[known->second - 1].put);
                take.offsets.push_back(known->first);
            }
            ++known;
            continue;
        }
        if (random_.chance(100'000)) take.next += random_.between(1, 3);
        const MessageModel* earlier = random_.chance(150'000) ? pick_record() : nullptr;
        if (earlier != nullptr) {
            take.puts.push_back(earlier->put);
        } else {
            const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
            take.puts.push_back(draw_record(queue, ++serial));
        }
        take.offsets.push_back(take.next++);
    }
    if (known == input.records.end() && random_.chance(150'000)) take.next += random_.between(1, 50);
    return take;
}

// Each time it is sent it means the same.
PutCommand Workload::draw_record(const QueueOf& queue, std::uint64_t serial) {
    PutCommand put = draw_put(queue, serial);
    if (!put.when.at_ms) put.when = When{.at_ms = surroundings_.clock() + put.when.delay_ms};
    if (put.expires && !put.expires->at_ms) put.expires.reset();
    put.repeat.reset();
    put.transaction.reset();
    if (options_.reuses_keys) put.key.clear(), put.request_hash = 0, put.is_held = false;
    return put;
}

// One of the last, with a key, whose id no client knows.
const MessageModel* Workload::pick_record() {
    const Oracle::Messages& messages = oracle_.messages();
    for (std::size_t back = 1; back <= std::min<std::size_t>(messages.size(), 60); ++back) {
        const MessageModel& message = messages[messages.size() - back];
        const bool fits = message.records > 0 && message.id == 0 && !message.put.key.empty();
        if (fits && random_.chance(300'000)) return &message;
    }
    return nullptr;
}

bool Workload::change_record() {
    const MessageModel* record = pick_record();
    if (record == nullptr) return false;
    const std::string& name_space = record->put.name_space;
    MessageKey key{record->put.queue, record->put.key};
    switch (random_.below(4)) {
        case 0:
            send(GetCommand{name_space, 0, std::move(key)});
            break;
        case 1:
            send(RescheduleCommand{name_space, 0, draw_when(), std::move(key)});
            break;
        default:
            send(CancelCommand{name_space, 0, std::move(key)});
            break;
    }
    return true;
}

}  // namespace duewheel
