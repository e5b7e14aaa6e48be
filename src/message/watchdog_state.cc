#include "message/watchdog_state.h"

#include "base/error_codes.h"
#include "message/records/fields.h"
#include "message/records/template_fields.h"

namespace duewheel {
namespace {

// Field numbers are in the log: never change or re-use one.
template <class Visitor, class Watchdog>
void watchdog_fields(Visitor& visit, Watchdog& state) {
    visit.number(1, state.revision);
    visit.signed_number(2, state.rule.timeout_ms);
    visit.signed_number(3, state.rule.max_ms);
    visit.signed_number(4, state.rule.repeat_every_ms);
    message_template_fields(visit, 5, state.rule);  // and the nine after it
    visit.signed_number(20, state.created_ms);
    visit.signed_number(21, state.fed_ms);
    visit.signed_number(22, state.first_fed_ms);
    visit.signed_number(23, state.due_ms);
    visit.number(24, state.feeds);
    visit.signed_number(25, state.owed_ms);
    visit.signed_number(26, state.owed_fed_ms);
    visit.number(27, state.fired);
    visit.number(28, state.merged);
    visit.number(29, state.last_id);
    visit.signed_number(30, state.last_due_ms);
    visit.text(31, state.rule.group);
}

}  // namespace

std::string encode_watchdog(const WatchdogState& state) {
    return encode_revised(state, [](auto& visit, const auto& of) { watchdog_fields(visit, of); });
}

Result<WatchdogState> decode_watchdog(std::string_view bytes) {
    Result<WatchdogState> state = decode_revised<WatchdogState>(
        bytes, "a watchdog holds", [](auto& visit, auto& of) { watchdog_fields(visit, of); });
    if (state && state->revision != 0 && (state->rule.queue.empty() || state->rule.timeout_ms <= 0)) {
        return Error{"damaged_record"_code, "a watchdog has no queue or no timeout"};
    }
    return state;
}

}  // namespace duewheel
