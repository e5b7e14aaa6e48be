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

bool read_rule_field(FieldReader& from, WatchdogRule& rule) {
    switch (from.tag()) {
        case kTimeout:
            return from.signed_number(rule.timeout_ms), true;
        case kTimeoutMax:
            return from.signed_number(rule.max_ms), true;
        case kAgain:
            return from.signed_number(rule.repeat_every_ms), true;
        case kQueue:
            return from.text(rule.queue), true;
        case kOrderKey:
            return from.text(rule.order_key), true;
        case kPriority:
            return from.signed_number(rule.priority), true;
        case kExpiresAfter:
            return from.signed_number(rule.expires_after_ms), true;
        case kContentHash:
            return from.number(rule.content_hash), true;
        default:
            return read_retry_choice(from, kRetry, rule.retry);
    }
}

bool read_progress_field(FieldReader& from, WatchdogState& state) {
    switch (from.tag()) {
        case kRevision:
            return from.number(state.revision), true;
        case kCreated:
            return from.signed_number(state.created_ms), true;
        case kFed:
            return from.signed_number(state.fed_ms), true;
        case kFirstFed:
            return from.signed_number(state.first_fed_ms), true;
        case kDue:
            return from.signed_number(state.due_ms), true;
        case kFeeds:
            return from.number(state.feeds), true;
        case kOwed:
            return from.signed_number(state.owed_ms), true;
        case kOwedFed:
            return from.signed_number(state.owed_fed_ms), true;
        case kFired:
            return from.number(state.fired), true;
        case kMerged:
            return from.number(state.merged), true;
        case kLastId:
            return from.number(state.last_id), true;
        case kLastDue:
            return from.signed_number(state.last_due_ms), true;
        default:
            return false;
    }
}

}  // namespace

std::string encode_watchdog(const WatchdogState& state) {
    std::string out;
    if (state.revision == 0) return out;
    FieldWriter to(out);
    to.number(kRevision, state.revision);
    to.signed_number(kTimeout, state.rule.timeout_ms);
    to.signed_number(kTimeoutMax, state.rule.max_ms);
    to.signed_number(kAgain, state.rule.repeat_every_ms);
    to.text(kQueue, state.rule.queue);
    to.text(kOrderKey, state.rule.order_key);
    to.signed_number(kPriority, state.rule.priority);
    to.signed_number(kExpiresAfter, state.rule.expires_after_ms);
    write_retry_choice(to, kRetry, state.rule.retry);
    to.number(kContentHash, state.rule.content_hash);
    to.signed_number(kCreated, state.created_ms);
    to.signed_number(kFed, state.fed_ms);
    to.signed_number(kFirstFed, state.first_fed_ms);
    to.signed_number(kDue, state.due_ms);
    to.number(kFeeds, state.feeds);
    to.signed_number(kOwed, state.owed_ms);
    to.signed_number(kOwedFed, state.owed_fed_ms);
    to.number(kFired, state.fired);
    to.number(kMerged, state.merged);
    to.number(kLastId, state.last_id);
    to.signed_number(kLastDue, state.last_due_ms);
    return out;
}

Result<WatchdogState> decode_watchdog(std::string_view bytes) {
    WatchdogState state;
    FieldReader from(bytes);
    while (from.next()) {
        if (read_rule_field(from, state.rule) || read_progress_field(from, state)) continue;
        return Error{"newer_format",
                     "a watchdog holds field " + std::to_string(from.tag()) +
                         ", which this version does not know: open the data with the version that wrote it"};
    }
    const bool is_whole = state.revision == 0 ? bytes.empty() : !state.rule.queue.empty() && state.rule.timeout_ms > 0;
    if (from.damaged() || !is_whole) return Error{"damaged_record", "a watchdog cannot be read"};
    return state;
}

}  // namespace duewheel
