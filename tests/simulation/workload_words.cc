#include "simulation/workload_words.h"

namespace duewheel {

void add_words(Command& command, const Oracle& oracle, std::uint64_t number, bool may_wait) {
    constexpr std::int64_t kWaitsMs[] = {1, 100, 5'000, 60'000};
    if (auto* ack = std::get_if<AckCommand>(&command)) {
        if (oracle.is_lease_of_a_client(ack->lease)) ack->result = Oracle::result_of(ack->lease);
    } else if (auto* extend = std::get_if<ExtendCommand>(&command)) {
        if (number % 3 != 0) extend->checkpoint = std::to_string(number);
        if (number % 2 != 0) extend->progress = "0." + std::to_string(number % 10);
    } else if (auto* lease = std::get_if<LeaseCommand>(&command)) {
        if (number % 3 != 0) lease->worker = "worker " + std::to_string(number % 3);
    } else if (auto* get = std::get_if<GetCommand>(&command)) {
        if (may_wait && number % 3 == 0) get->wait_ms = kWaitsMs[number / 3 % 4];
    }
}

}  // namespace duewheel
