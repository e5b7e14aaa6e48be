#include "message/watchdog_state.h"

#include "message/fields.h"
#include "message/retry_fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kTimeout = 2,
    kTimeoutMax = 3,
    kAgain = 4,
    kQueue = 5,
    kOrderKey = 6,
    kPriority = 7,
    kExpiresAfter = 8,
    kRetry = 9,  // and the four after it
    kContentHash = 14,
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
    visit.text(kQueue, state.rule.queue);
    visit.text(kOrderKey, state.rule.order_key);
    visit.signed_number(kPriority, state.rule.priority);
    visit.signed_number(kExpiresAfter, state.rule.expires_after_ms);
    retry_choice_fields(visit, kRetry, state.rule.retry);
    visit.number(kContentHash, state.rule.content_hash);
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
    std::string out;
    FieldWriter to(out);
    if (state.revision != 0) watchdog_fields(to, state);
    return out;
}

Result<WatchdogState> decode_watchdog(std::string_view bytes) {
    WatchdogState state;
    FieldsReader from(bytes);
    watchdog_fields(from, state);
    if (Status known = from.end("a watchdog holds"); !known) return std::move(known).error();
    const bool is_whole = state.revision == 0 ? bytes.empty() : !state.rule.queue.empty() && state.rule.timeout_ms > 0;
    if (from.damaged() || !is_whole) return Error{"damaged_record", "a watchdog cannot be read"};
    return state;
}

}  // namespace duewheel
