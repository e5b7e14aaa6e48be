#include "message/watchdog_state.h"

#include "message/fields.h"
#include "message/template_fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kTimeout = 2,
    kTimeoutMax = 3,
    kAgain = 4,
    kTemplate = 5,  // and the nine after it
    kCreated = 20,
    kFed = 21,
    kFirstFed = 22,
    kDue = 23,
    kFeeds = 24,
    kOwed = 25,
    kOwedFed = 26,
    kFired = 27,
    kMerged = 28,
    kLastId = 29,
    kLastDue = 30,
};

template <class Visitor, class Watchdog>
void watchdog_fields(Visitor& visit, Watchdog& state) {
    visit.number(kRevision, state.revision);
    visit.signed_number(kTimeout, state.rule.timeout_ms);
    visit.signed_number(kTimeoutMax, state.rule.max_ms);
    visit.signed_number(kAgain, state.rule.repeat_every_ms);
    message_template_fields(visit, kTemplate, state.rule);
    visit.signed_number(kCreated, state.created_ms);
    visit.signed_number(kFed, state.fed_ms);
    visit.signed_number(kFirstFed, state.first_fed_ms);
    visit.signed_number(kDue, state.due_ms);
    visit.number(kFeeds, state.feeds);
    visit.signed_number(kOwed, state.owed_ms);
    visit.signed_number(kOwedFed, state.owed_fed_ms);
    visit.number(kFired, state.fired);
    visit.number(kMerged, state.merged);
    visit.number(kLastId, state.last_id);
    visit.signed_number(kLastDue, state.last_due_ms);
}

}  // namespace

std::string encode_watchdog(const WatchdogState& state) {
    return encode_revised(state, [](auto& visit, const auto& of) { watchdog_fields(visit, of); });
}

Result<WatchdogState> decode_watchdog(std::string_view bytes) {
    Result<WatchdogState> state = decode_revised<WatchdogState>(
        bytes, "a watchdog holds", [](auto& visit, auto& of) { watchdog_fields(visit, of); });
    if (state && state->revision != 0 && (state->rule.queue.empty() || state->rule.timeout_ms <= 0)) {
        return Error{"damaged_record", "a watchdog has no queue or no timeout"};
    }
    return state;
}

}  // namespace duewheel
