#include "kafka/out/kafka_settled_messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <variant>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::int64_t kLookUpAgainMs = 60'000;
constexpr std::size_t kLookupsAtOnce = 100;

}  // namespace

void KafkaSettledMessages::look_up(std::vector<KafkaMessageName> names, DueMs now) {
    if (names.empty()) return;
    std::move(names.begin(), names.end(), std::back_inserter(to_look_up_));
    look_up_at_ms_ = now;
}

void KafkaSettledMessages::run_due(DueMs now) {
    if (!lookups_.empty() || look_up_at_ms_ > now) return;
    if (to_look_up_.empty()) {
        to_look_up_.assign(std::make_move_iterator(still_there_.begin()), std::make_move_iterator(still_there_.end()));
        still_there_.clear();
    }
    for (std::size_t left = kLookupsAtOnce; left > 0 && !to_look_up_.empty(); --left) {
        KafkaMessageName name = std::move(to_look_up_.front());
        to_look_up_.pop_front();
        const ReplyToken token = submit_(GetCommand{name.name_space, name.id});
        lookups_.emplace(token, std::move(name));
    }
    look_up_at_ms_ = to_look_up_.empty() ? now + kLookUpAgainMs : now;
}

DueMs KafkaSettledMessages::next_wakeup(DueMs never) const {
    const bool has_any = !to_look_up_.empty() || !still_there_.empty();
    return has_any && lookups_.empty() ? look_up_at_ms_ : never;
}

// A message that is unknown ended long ago. A dead letter may come back.
void KafkaSettledMessages::reply(ReplyToken token, const Reply& reply) {
    KafkaMessageName name = std::move(lookups_.extract(token).mapped());
    const auto* answer = std::get_if<MessageAnswer>(&reply);
    const auto* error = std::get_if<Error>(&reply);
    const bool has_ended = answer != nullptr
                               ? is_ended(answer->row.state.state) && answer->row.state.state != State::dead
                               : error != nullptr && (error->code == "unknown_id"_code || error->code == "gone"_code);
    if (has_ended) return settled_.push_back(name.id);
    still_there_.push_back(std::move(name));
}

}  // namespace duewheel
